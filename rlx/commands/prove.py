"""``rlx prove``: a question about integers on the command line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.commands.outputs import add_format
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, json_text, say, write_data
from rlx.grammar.wording import shortened

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rlx.solver.verdict import Verdict

EXIT_CODES = {"proved": 0, "refuted": 1, "unknown": 3}
EPILOG = """\
Variables are integers. They are at least 0 unless --lower sets another bound.

operators: + - * // % << >> & | ^ ~ == != < <= > >= and or not (also && || !)
calls: {calls}, and casts
such as int32(n); each may have the prefix T.

if_then_else(c, a, b) evaluates only the branch it takes. For select(c, a, b) the answer holds
even if both branches are evaluated.

exit status: 0 proved; 1 refuted; 2 wrong usage; 3 unknown."""


@roomy
def main(argv: Sequence[str] | None = None, prog: str = "rlx prove") -> int:
    """Answer one question.

    Returns
    -------
    int
        0 proved, 1 refuted, 3 unknown, 2 where the question cannot be read.
    """
    parser = _parser(prog)
    options = parser.parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            return _answer(options)
    except (ValueError, TypeError, UserWarning) as error:
        complain_line(f"{prog}: {error}")
        return UNABLE


def _parser(prog: str) -> ArgumentParser:
    from rlx.grammar.command_line import CommandParser
    from rlx.solver.calls import COMMON

    parser = CommandParser(
        prog=prog,
        description=(
            "Decide whether a condition over integers holds for all values of its variables."
        ),
        epilog=EPILOG.format(calls=" ".join(COMMON)),
    )
    add = parser.add_argument
    add("goal", help="the condition, for instance '(n + 3)//4*4 >= n'")
    add(
        "--assume",
        action="append",
        default=[],
        metavar="CONDITION",
        help="a condition that holds; repeatable",
    )
    add(
        "--lower",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the smallest value of a variable, or none; repeatable",
    )
    add_format(parser)
    add(
        "--int64",
        action="store_true",
        help="a value that does not fit into 64 bits refutes the condition",
    )
    add(
        "--explain",
        action="store_true",
        help="show the tactics that were tried, and why the answer holds",
    )
    add("--proof", action="store_true", help="show the steps of the proof")
    add(
        "--certificate",
        metavar="FILE",
        help="write the proof to a file, which rlx verify-proof checks",
    )
    add(
        "--smtlib",
        action="store_true",
        help="print the question as SMT-LIB 2 instead of answering it",
    )
    return parser


def _answer(options: Namespace) -> int:

    from rlx.solver import api
    from rlx.solver.verdict import Proved

    lower = dict(_lower(text) for text in options.lower)
    asked = (options.goal, options.assume, lower)
    if options.smtlib:
        for name in ("explain", "proof", "certificate"):
            if getattr(options, name):
                raise ValueError(
                    f"--smtlib only prints the question; it cannot be combined with --{name}"
                )
        script = api.to_smtlib(*asked, int64=options.int64)
        record = {"version": 1, "goal": options.goal, "smtlib": script}
        if options.format == "json":
            write_data(json_text(record) + "\n")
        else:
            say(script.rstrip("\n") + "\n")
        return 0
    verdict = api.prove(*asked, int64=options.int64)
    explanation = api.explain(*asked, int64=options.int64) if options.explain else None
    record = _record(options.goal, verdict, explanation)
    shown = explanation or _sentence(verdict)
    if isinstance(verdict, Proved) and (options.proof or options.certificate):
        certificate = verdict.certificate
        if options.proof:
            from rlx.solver.proofs.text import proof_text

            record["certificate"] = certificate
            shown += f"\n{proof_text(certificate)}"
        if options.certificate:
            from rlx.writing import write

            write(options.certificate, json_text(certificate) + "\n")
    if options.format == "json":
        write_data(json_text(record) + "\n")
    else:
        say(f"{shown}\n")
    return EXIT_CODES[verdict.status]


def _lower(text: str) -> tuple[str, int | None]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise ValueError(f"--lower: expected NAME=VALUE, found {text!r}")
    value = value.strip()
    if value.lower() == "none":
        return name.strip(), None
    try:
        return name.strip(), int(value)
    except ValueError:
        if value.lstrip("+-").isdecimal():
            raise ValueError(f"--lower {name.strip()}: the number has too many digits") from None
        raise ValueError(
            f"--lower {name.strip()}: expected an integer or none, found {shortened(value, 80)!r}"
        ) from None


def _sentence(verdict: Verdict) -> str:
    from rlx.solver.question_parser import show
    from rlx.solver.verdict import CONTRADICTORY, NEVER_DEFINED, Proved, Refuted, Unknown

    match verdict:
        case Proved(means=means, divisors=divisors):
            needed = ", ".join(f"{show(d)} != 0" for d in divisors)
            if means == NEVER_DEFINED:
                return f"proved ({means}): {_division([show(d) for d in divisors])}"
            told = needed and means != CONTRADICTORY
            return f"proved ({means})" + (f", wherever {needed}" if told else "")
        case Refuted(example=example, overflow=overflow):
            shown = ", ".join(f"{name} = {value}" for name, value in example.items())
            where = f" for {shown}" if shown else ""
            if overflow is not None:
                return f"refuted: {show(overflow)} does not fit into int64{where}"
            return f"refuted: false{where}"
        case Unknown(reason=reason):
            return f"unknown: {reason}"
    raise AssertionError(verdict)


def _division(divisors: list[str]) -> str:
    """Why a condition has no value anywhere: a divisor, or what is shifted by."""
    if not divisors:
        return "it shifts by a negative number, or by one that is too large"
    if divisors == ["0"]:
        return "it divides by zero"
    if len(divisors) == 1:
        return f"it divides by {divisors[0]}, which is always zero"
    return f"for all values one of its divisors is zero: {', '.join(divisors)}"


def _record(goal: str, verdict: Verdict, explanation: str | None) -> dict[str, object]:
    from rlx.solver.question_parser import show
    from rlx.solver.verdict import Proved, Refuted, Unknown

    record: dict[str, object] = {"version": 1, "goal": goal, "status": verdict.status}
    match verdict:
        case Proved(means=means, divisors=divisors):
            record |= {"means": means, "divisors": [show(d) for d in divisors]}
        case Refuted(example=example, means=means, overflow=overflow):
            record |= {"means": means, "counterexample": dict(example)}
            if overflow is not None:
                record["overflow"] = show(overflow)
        case Unknown(reason=reason):
            record["reason"] = reason
    if explanation is not None:
        record["explanation"] = explanation.splitlines()
    return record


if __name__ == "__main__":
    sys.exit(main())
