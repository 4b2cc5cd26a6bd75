"""`rlx completion SHELL`: what a shell needs to complete the commands, as a script that stands
alone.

The scripts are written from the commands' own parsers, so they know every option; a shell that
completes with one runs no Python.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from unittest.mock import patch

from rlx.cli import COMMANDS
from rlx.grammar.command_line import PATHS, CommandParser
from rlx.grammar.node import Record

CODES = ("CODE", "CODES")
"""What they call a code of a diagnostic."""

EPILOG = """\
bash:  rlx completion bash >> ~/.bash_completion
zsh:   rlx completion zsh > DIR/_rlx, where DIR is a folder of $fpath
fish:  rlx completion fish > ~/.config/fish/conf.d/rlx.fish

exit status: 0 printed; 2 wrong usage."""


class Option(Record):
    """An option, or a positional argument.

    Attributes
    ----------
    flags
        Its spellings; none of a positional argument.
    what
        Its help.
    takes
        Whether a value follows.
    values
        The values, where they can be listed.
    file
        Whether the value is a file.
    """

    flags: tuple[str, ...]
    what: str
    takes: bool
    values: tuple[str, ...]
    file: bool


class Command(Record):
    """A command of `rlx`: its name, what it does, its options."""

    name: str
    what: str
    options: tuple[Option, ...]


def main(argv: Sequence[str], prog: str = "rlx completion") -> int:
    """Print the script for a shell.

    Returns
    -------
    int
        The exit status.
    """
    parser = CommandParser(
        prog=prog,
        description="Print a script that lets a shell complete rlx and relax-check.",
        epilog=EPILOG,
    )
    parser.add_argument("shell", choices=tuple(SHELLS), metavar="SHELL", help="bash, zsh or fish")
    shell = parser.parse_args(argv).shell
    sys.stdout.write(SHELLS[shell](commands()))
    return 0


def commands() -> tuple[Command, ...]:
    """All commands, as their parsers describe them."""
    return tuple(
        Command(name, what, tuple(map(_option, parser_of(name)._actions)))
        for name, (_, what) in COMMANDS.items()
    )


class _Parsed(Exception):
    """Carries a parser out of its command."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a command: every command makes one before it does anything else."""

    def give(self: argparse.ArgumentParser, *_: object) -> None:
        raise _Parsed(self)

    run = import_module(COMMANDS[name][0]).main
    with patch.object(argparse.ArgumentParser, "parse_args", give):
        try:
            run([], f"rlx {name}")
        except _Parsed as parsed:
            return parsed.parser
    raise AssertionError(f"{name} parses no arguments")


def _option(action: argparse.Action) -> Option:
    named = action.metavar if isinstance(action.metavar, str) else ""
    values = tuple(map(str, action.choices or ()))
    if named in CODES:
        from rlx.checker.explain import codes

        values = tuple(codes())
    what = " ".join((action.help or "").split()).replace("%(default)s", str(action.default))
    return Option(tuple(action.option_strings), what, action.nargs != 0, values, named in PATHS)


def _bash(commands: Sequence[Command]) -> str:
    values, words, free = [], [], []
    for command in commands:
        words.append(f"      {command.name}) words='{' '.join(_flags(command))}' ;;")
        for option in command.options:
            if option.flags and option.takes:
                heads = " | ".join(f"'{command.name} {flag}'" for flag in option.flags)
                values.append(f"    {heads}) words='{' '.join(option.values)}' ;;")
            elif option.values:
                free.append(f"      {command.name}) words='{' '.join(option.values)}' ;;")
    names = " ".join(command.name for command in commands)
    return _BASH.format(
        names=names, values="\n".join(values), words="\n".join(words), free="\n".join(free)
    )


_BASH = """\
# Completion of rlx and relax-check for bash; made by `rlx completion bash`.
_rlx() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=${{COMP_WORDS[1]}} words=''
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  COMPREPLY=()
  if [[ ${{COMP_WORDS[0]##*/}} == relax-check ]]; then
    command=check
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{names}' -- "$word")
    return
  fi
  case "$command $before" in
{values}
    *) case $word in
    -*) case $command in
{words}
      esac ;;
    *) case $command in
{free}
      esac ;;
    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o bashdefault -o default -F _rlx rlx relax-check
"""


def _zsh(commands: Sequence[Command]) -> str:
    functions = []
    for command in commands:
        lines = [f"_rlx_{command.name}() {{", "  _arguments -S \\"]
        lines += [f"    {_quoted(spec)} \\" for o in command.options for spec in _zsh_specs(o)]
        functions.append("\n".join([*lines, "    && return 0", "}"]))
    listed = "\n".join(f"    {_quoted(f'{each.name}:{each.what}')}" for each in commands)
    return _ZSH.format(functions="\n".join(functions), listed=listed)


def _zsh_specs(option: Option) -> list[str]:
    """One specification for `_arguments` for each spelling."""
    values = f"({' '.join(option.values)})" if option.values else "_files" if option.file else " "
    what = option.what
    for character in "\\[]:":
        what = what.replace(character, f"\\{character}")
    if not option.flags:
        return [f"*:{what}:{values}"]
    return [
        f"*{flag}{'=' if option.takes and flag.startswith('--') else ''}[{what}]"
        + (f":value:{values}" if option.takes else "")
        for flag in option.flags
    ]


_ZSH = """\
#compdef rlx relax-check
# Completion of rlx and relax-check for zsh; made by `rlx completion zsh`.
{functions}
_rlx() {{
  if [[ $service == relax-check ]]; then
    _rlx_check
    return
  fi
  local -a commands
  commands=(
{listed}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT -= 1 ))
  (( $+functions[_rlx_$command] )) && _rlx_$command
}}
if [[ $funcstack[1] == _rlx ]]; then
  _rlx "$@"
else
  compdef _rlx rlx relax-check
fi
"""


def _fish(commands: Sequence[Command]) -> str:
    lines = [_FISH]
    for command in commands:
        said = _quoted(command.what)
        lines.append(f"complete -c rlx -f -n __rlx_no_command -a {command.name} -d {said}")
        heads = [f"complete -c rlx -n '__rlx_command {command.name}'"]
        if command.name == "check":
            heads.append("complete -c relax-check")
        lines += [f"{head} {_fish_option(option)}" for head in heads for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    parts = [f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in option.flags]
    if option.values:
        parts.append(
            f"-x -a '{' '.join(option.values)}'" if parts else f"-f -a '{' '.join(option.values)}'"
        )
    elif option.file:
        parts.append("-r -F" if parts else "-F")
    elif option.takes:
        parts.append("-x" if parts else "-f")
    return " ".join([*parts, "-d", _quoted(option.what)])


_FISH = """\
# Completion of rlx and relax-check for fish; made by `rlx completion fish`.
function __rlx_no_command
    test (count (commandline -opc)) -eq 1
end
function __rlx_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end"""


def _flags(command: Command) -> list[str]:
    return [flag for option in command.options for flag in option.flags]


def _quoted(text: str) -> str:
    """As one word: all three shells read this alike."""
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS: Mapping[str, Callable[[Sequence[Command]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
"""The shells, and what writes the script of each."""
