#compdef rlx relax-check
# Completion of rlx and relax-check for zsh; made by `rlx completion zsh`.
_rlx_check() {
  _arguments -S \
    '*-h[show this]' \
    '*--help[show this]' \
    '*--format=[the form\: of \[what\] is said]:value:(a b)' \
    '*-o[where]:value:_files' \
    '*--out=[where]:value:_files' \
    '*-n[how many]:value: ' \
    '*:what to check:_files' \
    && return 0
}
_rlx_explain() {
  _arguments -S \
    '*:a code:(WF01 WF02)' \
    && return 0
}
_rlx_none() {
  _arguments -S \
    '*:a text: ' \
    && return 0
}
_rlx() {
  if [[ $service == relax-check ]]; then
    _rlx_check
    return
  fi
  local -a commands
  commands=(
    'check:Check '\''files'\'': [all] of them\them'
    'explain:Say more'
    'none:Nothing'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT -= 1 ))
  (( $+functions[_rlx_$command] )) && _rlx_$command
}
if [[ $funcstack[1] == _rlx ]]; then
  _rlx "$@"
else
  compdef _rlx rlx relax-check
fi
