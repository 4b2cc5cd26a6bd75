"""`rlx step`: a run step by step, as text or as a page."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence

from rlx.checker.driver.time_limit import lift
from rlx.commands.compiling import made_or_status
from rlx.commands.outputs import refused
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import integer
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, json_text, say_line, write_data
from rlx.grammar.wording import shortened
from rlx.semantics.live_memory import limited
from rlx.semantics.machine import MachineProgram
from rlx.semantics.run.options import (
    UNDECIDED,
    Prepared,
    UsageError,
    interruptible,
    parser,
    prepare,
    program,
    status,
)
from rlx.semantics.run.trace import LIMIT, Trace, TraceRecorder, page
from rlx.writing import write


@roomy
def main(argv: Sequence[str], prog: str = "rlx step") -> int:
    """Run the command, and return the exit status."""
    arguments = parser(
        prog,
        "Run a program step by step, and show what each step did and by which rule.",
        "--limit limits the number of recorded steps.",
        ("steps", "native", "vm"),
    )
    add = arguments.add_argument
    add(
        "--limit",
        type=integer,
        default=LIMIT,
        metavar="N",
        help=f"record at most N steps (default: {LIMIT})",
    )
    add("--rule", metavar="RULE", help="show only the steps of this rule; not with --html")
    add("--html", metavar="PATH", help="write an HTML page that replays the run, instead of text")
    add_options(arguments)
    options = arguments.parse_args(argv)
    if not 0 < options.limit <= LIMIT:
        arguments.error(f"--limit: expected a number from 1 to {LIMIT}, found {options.limit}")
    if not loaded(options, prog):
        return UNABLE
    made = made_or_status(prog, lambda: _recorded(options))
    if isinstance(made, int):
        return made
    trace, rule = made
    if options.html:
        more = "" if trace.outcome is not None else "; the run did not end within --limit"
        complain_line(f"{options.html}: {trace.recorder.count}{more}")
    if options.format == "json":
        letters = (sys.stdout.encoding or "utf-8").lower() == "utf-8"
        write_data(json_text(trace.record(), letters=letters) + "\n")
    elif not options.html:
        for text in lines(trace, rule):
            say_line(f"{text}")
    return UNDECIDED if trace.outcome is None else status(trace.outcome)


def _recorded(options: argparse.Namespace) -> tuple[Trace, str | None]:
    """The run, and the rule that is asked for; the page is written."""
    from rlx.vm.file_kind import is_executable

    if options.html and (said := refused(options.html, options.file)) is not None:
        raise UsageError(f"--html {said}")
    on_vm = options.backend == "vm" or is_executable(options.file)
    rule = None if options.rule is None else _rule(options, "EV" if on_vm else "E")
    with limited(options.memory), interruptible():
        trace = _on_vm(options) if on_vm else _on_machine(options)
    if options.html:
        write(options.html, page(trace))
    return trace, rule


def _on_machine(options: argparse.Namespace) -> Trace:
    prepared = prepare(options)
    lift()  # the run has its own limits
    return follow(prepared, program(prepared, options, _printer(options)), options.limit)


def _on_vm(options: argparse.Namespace) -> Trace:
    from rlx.commands.run_vm import prepared
    from rlx.vm import VirtualMachine
    from rlx.vm.trace import followed

    executable, entry, inputs = prepared(options)
    lift()
    machine = VirtualMachine(executable, backend="steps", output=_printer(options))
    return followed(machine, options.file, entry, inputs.values, options.limit)


def _rule(options: argparse.Namespace, families: str) -> str:
    """The rule that is asked for. Raises UsageError if programs are evaluated by no rule of that
    name, or what is asked for is not the text.
    """
    from difflib import get_close_matches

    from rlx.spec import premise_rule
    from rlx.spec.reader import rules

    if options.html or options.format == "json":
        raise UsageError("--rule works with text output only; a page and JSON contain all steps")
    name: str = options.rule
    known = {rule.lower(): rule for rule in rules() if re.match(f"[{families}]-", rule)}
    if name.lower() in known:
        return known[name.lower()]
    above = premise_rule(name)
    if above is not None and above.identifier in known.values():
        rule = above.identifier
        raise UsageError(f"--rule {name}: expected a rule, found a premise of rule {rule}")
    near = [known[found] for found in get_close_matches(name.lower(), known, n=3)]
    hint = f"did you mean {', '.join(near)}?" if near else "`rlx explain` lists the rules"
    raise UsageError(f"--rule {name}: no evaluation rule has this name; {hint}")


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
    """The function that gets the lines that the program prints: they are not part of the JSON."""
    return complain_line if options.format == "json" else say_line


def lines(trace: Trace, rule: str | None = None) -> Iterator[str]:
    """The trace as text, a line for each step."""
    recorder = trace.recorder
    rules = list(recorder.rules)
    width = max((len(name) for name in rules), default=0)
    wide = max((len(_where(trace, step)) for step in recorder.steps), default=0)
    wide = wide if recorder.listed else 7
    if rule is None:
        yield f"{0:>5}  {'':<{width}}  {'':>{wide}}  {_did([0, -1, -1, recorder.beginning])}"
    for number, step in enumerate(recorder.steps, 1):
        name = rules[step[0]]
        if rule is not None and name != rule:
            continue
        where = _where(trace, step)
        shown = where.ljust(wide) if recorder.listed else where.rjust(wide)
        indent = "  " * min(recorder.depths[number - 1], 20)
        yield f"{number:>5}  {name:<{width}}  {shown}  {indent}{_did(step)}".rstrip()
    yield str(trace.record()["outcome"]["text"])  # type: ignore[index]


def _where(trace: Trace, step: list[object]) -> str:
    """The place of a step in the source, or the instruction that it is."""
    start, end = int(step[1]), int(step[2])  # type: ignore[call-overload]
    if start < 0:
        return ""
    if trace.recorder.listed:
        return shortened(" ".join(trace.source.text[start:end].split()), _WIDEST)
    row, column = trace.source.position(start)
    return f"{row}:{column}"


_WIDEST = 64
"""Characters of an instruction that are shown."""
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
