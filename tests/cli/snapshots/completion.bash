# Completion of rlx and relax-check for bash; made by `rlx completion bash`.
_rlx() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local command=${COMP_WORDS[1]} words=''
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  if [[ ${COMP_WORDS[0]##*/} == relax-check ]]; then
    command=check
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'check explain none' -- "$word")
    return
  fi
  case "$command $before" in
    'check --format') words='a b' ;;
    'check -o' | 'check --out') words='' ;;
    'check -n') words='' ;;
    *) case $word in
    -*) case $command in
      check) words='-h --help --format -o --out -n' ;;
      explain) words='' ;;
      none) words='' ;;
      esac ;;
    *) case $command in
      explain) words='WF01 WF02' ;;
      esac ;;
    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _rlx rlx relax-check
