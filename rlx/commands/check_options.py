"""The options of `relax-check`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from rlx.commands.project import add_options
from rlx.grammar.command_line import CommandParser
from rlx.grammar.dialects import VERSIONS
from rlx.grammar.streams import say_line

DESCRIPTION = "Check Relax programs: well-formedness, structural information, purity, shapes."

EPILOG = """\
PATH is a .rlx or .py file, a directory, or - for standard input. In a .py file only decorated classes
and functions are read. In a directory the command checks every .rlx file, and every .py file that
contains Relax. CODES are codes (D14-arity), rules (D14) or families (WF), separated by commas.

exit status: 0 no error; 1 errors, or warnings under --strict; 2 wrong usage or an unreadable
file; 101 a bug in the tool."""


def parser_of(prog: str, formats: Iterable[str]) -> argparse.ArgumentParser:
    """The parser of the command; ``formats`` are those of its report."""
    parser = CommandParser(
        prog=prog,
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("path", nargs="*", metavar="PATH", help="a file or directory to check")
    add(
        "--format",
        choices=list(formats),
        default="human",
        help="the format of the report (default: human)",
    )
    add("--strict", action="store_true", help="exit with 1 if there are warnings")
    add("--select", action="append", default=[], metavar="CODES", help="report only these codes")
    add("--ignore", action="append", default=[], metavar="CODES", help="do not report these codes")
    add("--extend-select", action="append", default=[], metavar="CODES", help=_MORE)
    add("--extend-ignore", action="append", default=[], metavar="CODES", help=_FEWER)
    add("--extend-exclude", action="append", default=[], metavar="PATTERN", help=_EXCLUDE)
    add("--per-file-ignores", action="append", default=[], metavar="PATTERN:CODES", help=_PER_FILE)
    add("--exit-zero", action="store_true", help="exit with 0 even if something was found")
    add("--output-file", metavar="FILE", help="write the report into this file")
    add("--show-files", action="store_true", help="list the files that would be checked, and exit")
    add("--color", choices=("auto", "always", "never"), default="auto", help=_COLOR)
    add("--allow-operator", action="append", default=[], metavar="NAME", help=_ALLOW)
    add("--operators", action="append", default=[], metavar="MODULE", help=_OPERATORS)
    add_options(parser)
    add("--fix", action="store_true", help="apply the edits that diagnostics propose, then check")
    add("--unsafe-fixes", action="store_true", help=_UNSAFE)
    add("--add-ignores", action="store_true", help=_ADD)
    add("--diff", action="store_true", help="print what --fix would change, without changing it")
    add("--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C")
    add(
        "--stdin-filename",
        metavar="NAME",
        help="the name of standard input in reports; NAME.py makes it Python",
    )
    add(
        "--statistics",
        action="store_true",
        help="print how often each code occurred, and what the prover was asked",
    )
    add("--target", choices=VERSIONS, metavar="VERSION", help=_TARGET)
    add("--for", dest="builder", choices=("tvm",), help=_FOR)
    add("--spec", choices=("2022",), metavar="YEAR", help=_SPEC)
    add("--types", action="store_true", help=_TYPES)
    add("--dynamic-checks", action="store_true", help="list the checks that a run performs")
    add("--derivations", action="store_true", help=_DERIVATIONS)
    add("--explain", metavar="CODE", help="explain a code or a rule, and exit")
    add("--version", action=_Version, help="print the version, and exit")
    return parser


_MORE = "report these codes, too, although the project ignores them"
_FEWER = "do not report these codes either"
_EXCLUDE = "do not check these paths either"
_PER_FILE = "do not report these codes in the files that match a pattern"
_COLOR = "colours: at a terminal (auto, the default), always or never"
_UNSAFE = "with --fix or --diff: also edits that add a run-time check, guess a type or rename"
_ADD = "add a comment `# rlx: ignore[CODES]` to each line of which something is reported"
_ALLOW = (
    "accept calls of an operator that Relax does not have; NAME may be a pattern such as 'my.*'"
)
_DERIVATIONS = "with --format json: add the derivation of each expression, as `rlx why` shows it"
_TYPES = (
    "print the struct info of each binding beside the source, and its `checked_type_` and `shape_` by"
    " the rules of 2022; with --format json as one object"
)
_SPEC = "check by the rules of an older specification: 2022 (types, `shape_` and match_shape)"
_TARGET = (
    f"the version of TVM that is to read the programs, {VERSIONS[1]} to {VERSIONS[-1]} or"
    f" {VERSIONS[0]}: what it does not read is an error (default: inferred from each text)"
)
_FOR = (
    "tvm: also whether TVM 0.27 builds the programs for a processor, each place that it does not build,"
    " and the functions that must be registered"
)
_OPERATORS = "import the operators that a module or a .py file declares with @rlx.operator"


class _Version(argparse.Action):
    """`--version`; looking it up costs as much as a small check, so only when asked."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        say_line(f"rlx {version()}")
        parser.exit()


def version() -> str:
    """The version of the installed package."""
    from importlib.metadata import version

    return version("rlx")
