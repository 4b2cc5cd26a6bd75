"""``rlx diff``: the differences between two programs, and whether they change the meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlx.commands.refines import add_options, loaded
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import json_text, say, visible, write_data

if TYPE_CHECKING:
    from rlx.refine.differences import FunctionDifference

STATUSES = {"proved": 0, "unknown": 3, "refuted": 1, "differs": 1}
"""The exit status; of several functions, the last one here counts."""
EPILOG = """\
Functions are compared up to the names of variables and the order of independent bindings. What differs is then compared
by its meaning: for all sizes of shape variables and all inputs, as rlx refines does.

exit status: 0 the programs mean the same; 1 they do not, or have other functions; 2 wrong usage, or a program that cannot
be read or has errors; 3 unknown."""


@roomy
def main(argv: Sequence[str] | None = None, prog: str = "rlx diff") -> int:
    """Compare two programs, and return the exit status."""
    from rlx.grammar.command_line import CommandParser

    parser = CommandParser(
        prog=prog,
        description="Show what differs between two programs, and decide whether it means the same.",
        epilog=EPILOG,
    )
    parser.add_argument("a", metavar="A", help="a program")
    parser.add_argument("b", metavar="B", help="another one")
    add_options(parser, "A")
    options = parser.parse_args(argv)
    modules = loaded(options.a, options.b, prog)
    if modules is None:
        return UNABLE
    from rlx.refine.differences import differences

    try:
        found = differences(*modules, options.floats, options.assume, options.contract)
    except ValueError as error:
        parser.error(str(error))
    verdicts = [f.verdict for f in found if f.public]
    verdict = max(verdicts, key=list(STATUSES).index, default="proved")
    if options.format == "json":
        record = {
            "version": 1,
            "a": options.a,
            "b": options.b,
            "status": verdict,
            "functions": [_record(function) for function in found],
        }
        write_data(json_text(record) + "\n")
    else:
        say("".join(f"{visible(line)}\n" for function in found for line in _lines(function)))
    return STATUSES[verdict]


def _lines(found: FunctionDifference) -> list[str]:
    """A function for a person."""
    words = {
        "same": "the same",
        "calls": "the same, but functions that it calls changed",
        "changed": "changed",
    }.get(found.status, found.status)
    lines = [f"{found.name}: {words}"]
    known = {theirs: ours for ours, theirs in found.equal}
    lines += [f"  - {line}" for line in found.removed]
    for line in found.added:
        name = line.partition(" = ")[0].partition(":")[0].strip()
        lines.append(f"  + {line}" + (f"  # equals {known[name]} of A" if name in known else ""))
    if found.answer is not None:
        lines += [f"  {line}" for line in _own_names(str(found.answer)).splitlines()]
    elif found.why:
        lines.append(f"  not compared: {_own_names(found.why)}")
    return lines


def _own_names(text: str) -> str:
    """Rewrite a sentence about BEFORE and AFTER for A and B."""
    return text.replace("BEFORE", "A").replace("AFTER: ", "AFTER:").replace("AFTER", "B")


def _record(found: FunctionDifference) -> dict[str, Any]:
    from rlx.commands.refines import answer_record

    return {
        "name": found.name,
        "status": found.status,
        "public": found.public,
        "removed": list(found.removed),
        "added": list(found.added),
        "equal": [{"a": ours, "b": theirs} for ours, theirs in found.equal],
        "answer": None if found.answer is None else answer_record(found.answer),
        "why": found.why,
    }
