"""`rlx step`: a run step by step, as text or as a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rlx.checker.check import IllFormedError
from rlx.semantics.machine import MachineProgram
from rlx.semantics.run.options import (
    ENDED,
    UNABLE,
    UNDECIDED,
    Prepared,
    UsageError,
    interruptible,
    parser,
    prepare,
    program,
    show_errors,
    status,
)
from rlx.semantics.run.trace import LIMIT, Trace, TraceRecorder, page


def main(argv: Sequence[str], prog: str = "rlx step") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
    arguments = parser(
        prog,
        "Run a program step by step, and show what each step did and by which rule.",
        "--limit limits the number of steps that are recorded.",
    )
    add = arguments.add_argument
    add(
        "--limit",
        type=int,
        default=LIMIT,
        metavar="N",
        help=f"record at most N steps (default: {LIMIT})",
    )
    add("--rule", metavar="RULE", help="show only the steps of this rule; not with --html")
    add("--html", metavar="PATH", help="write a page that plays the run, instead of the text")
    options = arguments.parse_args(argv)
    if not 0 < options.limit <= LIMIT:
        arguments.error(f"--limit is from 1 to {LIMIT}, found {options.limit}")
    try:
        rule = None if options.rule is None else _rule(options)
        prepared = prepare(options)
        with interruptible():
            trace = follow(prepared, program(prepared, options, _printer(options)), options.limit)
        if options.html:
            Path(options.html).write_text(page(trace), encoding="utf-8")
    except UsageError as error:
        sys.stderr.write(f"{prog}: {error}\n")
        return UNABLE
    except IllFormedError as error:
        show_errors(error.report)
        return ENDED
    if options.html:
        more = "" if trace.outcome is not None else ", where recording ended and the run did not"
        sys.stderr.write(f"{options.html}: {trace.recorder.count}{more}\n")
    elif options.format == "json":
        import json

        sys.stdout.write(json.dumps(trace.record(), ensure_ascii=False) + "\n")
    else:
        for text in lines(trace, rule):
            sys.stdout.write(f"{text}\n")
    return UNDECIDED if trace.outcome is None else status(trace.outcome)


def _rule(options: argparse.Namespace) -> str:
    """The rule that is asked for.

    Raises
    ------
    UsageError
        If programs are evaluated by no rule of that name, or what is asked for is not the text.
    """
    from difflib import get_close_matches

    from rlx.spec import premise_rule
    from rlx.spec.reader import rules

    if options.html or options.format == "json":
        raise UsageError("--rule chooses lines of the text; a page and JSON hold all steps")
    name: str = options.rule
    known = {rule.lower(): rule for rule in rules() if rule.startswith("E-")}
    if name.lower() in known:
        return known[name.lower()]
    above = premise_rule(name)
    if above is not None and above.identifier in known.values():
        raise UsageError(f"--rule {name}: that is a premise of the rule {above.identifier}")
    near = [known[found] for found in get_close_matches(name.lower(), known, n=3)]
    hint = f"did you mean {', '.join(near)}?" if near else "`rlx explain` lists the rules"
    raise UsageError(f"--rule {name}: programs are evaluated by no such rule; {hint}")


def follow(prepared: Prepared, running: MachineProgram, limit: int = LIMIT) -> Trace:
    """Record a run."""
    from rlx.semantics.machine.configuration import Configuration

    recorder = TraceRecorder()
    at = running.start(prepared.entry, prepared.inputs.values)
    if not isinstance(at, Configuration):
        return Trace(prepared.source, prepared.entry, recorder, at)
    recorder.start(at)
    for _ in range(limit):
        following = running.step(at)
        recorder.step(at, following)
        if not isinstance(following, Configuration):
            return Trace(prepared.source, prepared.entry, recorder, following)
        at = following
    return Trace(prepared.source, prepared.entry, recorder, None)


def _printer(options: argparse.Namespace) -> Callable[[str], None]:
    """Where lines go that the program prints: not into JSON."""
    stream = sys.stderr if options.format == "json" else sys.stdout
    return lambda text: print(text, file=stream)


def lines(trace: Trace, rule: str | None = None) -> Iterator[str]:
    """The trace as text, a line for each step."""
    recorder = trace.recorder
    rules = list(recorder.rules)
    width = max((len(name) for name in rules), default=0)
    if rule is None:
        yield f"{0:>5}  {'':<{width}}  {'':>7}  {_did([0, -1, -1, recorder.beginning])}"
    for number, step in enumerate(recorder.steps, 1):
        name = rules[step[0]]
        if rule is not None and name != rule:
            continue
        where = ""
        if step[1] >= 0:
            row, column = trace.source.position(step[1])
            where = f"{row}:{column}"
        indent = "  " * min(recorder.depths[number - 1], 20)
        yield f"{number:>5}  {name:<{width}}  {where:>7}  {indent}{_did(step)}".rstrip()
    yield str(trace.record()["outcome"]["text"])  # type: ignore[index]


_SAID: dict[str, Callable[[list[object]], str]] = {
    "=": lambda c: f"{c[1]} = {c[2]}",
    ">": lambda c: f"enters {c[1]}",
    "<": lambda c: "leaves",
    "~": lambda c: f"#{c[1]} becomes {c[2]}",
    "-": lambda c: f"{c[1]} ends",
}


def _did(step: list[object]) -> str:
    changes: list[list[object]] = step[3] if len(step) > 3 else []  # type: ignore[assignment]
    said = [_SAID[str(c[0])](c) for c in changes if c[0] in _SAID]
    if not any(c[0] == "=" for c in changes):
        said += [f"⇒ {c[1]}" for c in changes if c[0] == "."]
    return "; ".join(said)
