"""``rlx refines``: whether a program means the same as another one, for all sizes and inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlx.commands.outputs import add_format
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain, complain_line, json_text, say, write_data

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rlx.grammar.nodes.ast import IRModule
    from rlx.refine.answer import Refinement

EXIT_CODES = {"proved": 0, "refuted": 1, "unknown": 3}
EPILOG = """\
AFTER refines BEFORE if it returns the same value for all sizes of shape variables and all inputs on
which BEFORE returns one, with the same calls of packed functions. Sizes beyond the limits that BEFORE
promises (tir_var_lower_bound, tir_var_upper_bound) are not looked at.

exit status: 0 proved; 1 refuted, with inputs on which both were run; 2 wrong usage, or a program
that cannot be compared; 3 unknown."""


@roomy
def main(argv: Sequence[str] | None = None, prog: str = "rlx refines") -> int:
    """Compare two programs.

    Returns
    -------
    int
        0 proved, 1 refuted, 3 unknown, 2 if the programs cannot be compared.
    """
    parser = _parser(prog)
    options = parser.parse_args(argv)
    modules = loaded(options.before, options.after, prog)
    if modules is None:
        return UNABLE
    from rlx.refine.question import compare

    try:
        found = compare(
            *modules,
            options.entry,
            options.floats,
            options.faults,
            options.assume,
            options.contract,
        )
    except ValueError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    if options.format == "json":
        write_data(json_text(_record(options, found)) + "\n")
    else:
        say(f"{found}\n")
        if options.explain:
            say(f"{found.explanation}\n")
            if found.suggestion is not None:
                say(f"proved if {found.suggestion}: --assume '{found.suggestion}'\n")
    return EXIT_CODES[found.status]


def loaded(before: str, after: str, prog: str) -> tuple[IRModule, IRModule] | None:
    """The programs in files, in normal form; None if one cannot be compared, and that was said."""
    from pathlib import Path

    from rlx import api
    from rlx.grammar.read.parser import ParseError
    from rlx.subject import SubjectError, chosen, why_unreadable

    if before == after == "-":
        complain_line(f"{prog}: only one of the programs can be standard input")
        return None
    found = []
    for path in (before, after):
        try:
            report = api.check(_at_revision(path) or Path(path))
            if not report.ok:
                complain(f"{report}")
                complain_line(f"{prog}: only programs without errors are compared")
                return None
            found.append(chosen(report.modules, report.source))
        except (UnicodeDecodeError, OSError) as error:
            complain_line(f"{prog}: {why_unreadable(path, error)}")
            return None
        except (ParseError, SubjectError) as error:
            complain_line(f"{prog}: {error}")
            return None
    return found[0], found[1]


def _at_revision(path: str) -> str | None:
    """The text of REVISION:FILE, as git has it; None for the name of a file. Raises OSError if git
    has no such text.
    """
    import os
    import subprocess

    from rlx.grammar.processes import environment

    revision, colon, file = path.partition(":")
    if not colon or not revision or revision.startswith("-") or os.path.exists(path):
        return None
    folder, name = os.path.split(os.path.abspath(file))
    # the object alone: what the folder configures for `git show` would run its programs, and so
    # would a fetch of an object that its partial clone lacks
    command = ["git", "--no-pager", "-C", folder, "cat-file", "blob", f"{revision}:./{name}"]
    env = {k: v for k, v in environment().items() if not k.startswith("GIT_") or "CONFIG" in k}
    env |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=env
    )
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").splitlines()
        said = next((line for line in words if line.startswith("fatal: ")), "git has no such file")
        raise OSError(said.removeprefix("fatal: "))
    return done.stdout.decode("utf-8")


def _parser(prog: str) -> ArgumentParser:
    from rlx.grammar.command_line import CommandParser

    parser = CommandParser(
        prog=prog,
        description=(
            "Decide whether a program means the same as another one, for all sizes and inputs."
        ),
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "before",
        metavar="BEFORE",
        help="the program before a change: a file, or REVISION:FILE as git has it",
    )
    add("after", metavar="AFTER", help="the program after it")
    add(
        "--entry",
        metavar="NAME",
        help="the function to compare (default: every public function of BEFORE)",
    )
    add(
        "--faults",
        choices=("may vanish", "kept"),
        default="may vanish",
        help="whether AFTER may return a value where BEFORE fails (default: may vanish)",
    )
    add_options(parser, "BEFORE")
    add("--explain", action="store_true", help="show how the answer was found, step by step")
    return parser


def add_options(parser: ArgumentParser, before: str) -> None:
    """Add the options of commands that compare programs, of which the first has a name."""
    from rlx.refine.contracts import BY_PASS, CONTRACTS

    parser.add_argument(
        "--floats",
        choices=("bitwise", "real"),
        default="bitwise",
        help="floats have the same bits, or are equal as exact real numbers (default: bitwise)",
    )
    parser.add_argument(
        "--assume",
        action="append",
        default=[],
        metavar="CONDITION",
        help=f"a condition on the shape variables of {before}, such as 'n %% 4 == 0'; repeatable",
    )
    parser.add_argument(
        "--contract",
        choices=(*CONTRACTS, *BY_PASS),
        metavar="CONTRACT",
        help=f"how the interface changed: {', '.join(CONTRACTS)}, or the name of a pass of TVM",
    )
    add_format(parser)


def _record(options: Namespace, found: Refinement) -> dict[str, Any]:
    head = {"version": 1, "before": options.before, "after": options.after}
    record = head | answer_record(found)
    if options.explain:
        record["suggestion"] = found.suggestion
        record["steps"] = [
            {"depth": step.depth, "kind": step.kind, "text": step.text} for step in found.steps
        ]
    return record


def answer_record(found: Refinement) -> dict[str, Any]:
    """An answer for other programs."""
    example, unjoined = found.counterexample, found.unjoined
    return {
        "status": found.status,
        "level": found.level,
        "entries": list(found.entries),
        "reason": found.reason,
        "unjoined": None if unjoined is None else {"before": unjoined[0], "after": unjoined[1]},
        "counterexample": None
        if example is None
        else {
            "entry": example.entry,
            "sizes": dict(example.sizes),
            "inputs": {name: _listed(value) for name, value in example.inputs.items()},
            "before": _listed(example.before),
            "after": _listed(example.after),
            "difference": example.difference,
        },
    }


def _listed(value: Any, room: list[int] | None = None) -> Any:
    """A value for JSON: arrays are nested lists, and what JSON has no form for is a text. Tuples may
    share their fields: there is ``room`` for so many.
    """
    from rlx.semantics.run.value_text import VALUES

    room = [VALUES] if room is None else room
    if hasattr(value, "tolist"):
        return _listed(value.tolist(), room)
    if isinstance(value, tuple):
        room[0] -= 1
        return [_listed(each, room) if room[0] > 0 else "..." for each in value]
    if isinstance(value, list):
        return [_listed(each, room) for each in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):  # noqa: PLR0124
        return str(value)
    return value if isinstance(value, int | float | str | None) else str(value)
