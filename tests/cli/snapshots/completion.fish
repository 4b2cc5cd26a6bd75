# Completion of rlx and relax-check for fish; made by `rlx completion fish`.
function __rlx_no_command
    test (count (commandline -opc)) -eq 1
end
function __rlx_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end
complete -c rlx -f -n __rlx_no_command -a check -d 'Check '\''files'\'': [all] of them\them'
complete -c rlx -n '__rlx_command check' -s h -l help -d 'show this'
complete -c rlx -n '__rlx_command check' -l format -x -a 'a b' -d 'the form: of [what] is said'
complete -c rlx -n '__rlx_command check' -s o -l out -r -F -d 'where'
complete -c rlx -n '__rlx_command check' -s n -x -d 'how many'
complete -c rlx -n '__rlx_command check' -F -d 'what to check'
complete -c relax-check -s h -l help -d 'show this'
complete -c relax-check -l format -x -a 'a b' -d 'the form: of [what] is said'
complete -c relax-check -s o -l out -r -F -d 'where'
complete -c relax-check -s n -x -d 'how many'
complete -c relax-check -F -d 'what to check'
complete -c rlx -f -n __rlx_no_command -a explain -d 'Say more'
complete -c rlx -n '__rlx_command explain' -f -a 'WF01 WF02' -d 'a code'
complete -c rlx -f -n __rlx_no_command -a none -d 'Nothing'
complete -c rlx -n '__rlx_command none' -f -d 'a text'
