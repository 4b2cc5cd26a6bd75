"""`rlx run`: run a program, and print what it returns."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlx.checker.check import IllFormedError
from rlx.checker.driver.time_limit import lift
from rlx.commands.outputs import write_tensors
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import natural
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, json_text, say, say_line, visible, write_data
from rlx.semantics.run.json_values import json_value
from rlx.semantics.run.options import (
    ENDED,
    FUEL,
    Prepared,
    UsageError,
    interruptible,
    parser,
    prepare,
    program,
    show_errors,
    status,
)

if TYPE_CHECKING:
    from rlx.grammar.nodes.node import Span
    from rlx.semantics.outcome import Ended, Outcome

VERSION = 1


@roomy
def main(argv: Sequence[str], prog: str = "rlx run") -> int:
    """Run the command, and return the exit status."""
    options = _parser(prog).parse_args(argv)
    if not loaded(options, prog):
        return UNABLE
    from rlx.semantics.live_memory import limited

    with limited(options.memory):
        return _run(options, prog)


def _run(options: argparse.Namespace, prog: str) -> int:
    from rlx.semantics.outcome import Returned
    from rlx.vm.file_kind import is_executable

    if options.backend == "vm" or is_executable(options.file):
        from rlx.commands.run_vm import run

        return run(options, prog)
    if options.profile:
        complain_line(f"{prog}: --profile needs --backend vm")
        return UNABLE
    try:
        prepared = prepare(options)
        lift()  # the run has its own limits
        printed: list[str] = []
        running = program(
            prepared, options, printed.append if options.format == "json" else say_line
        )
        if options.format == "human":  # before the run: PrimFuncs may overwrite their arguments
            say("\n".join([*_inputs(prepared), "", ""]))
        with interruptible():
            result = running.run(prepared.entry, prepared.inputs.values, fuel=options.fuel)
        written = write_tensors(result.value, options.out) if isinstance(result, Returned) else []
    except UsageError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    except IllFormedError as error:
        show_errors(error.report)
        return ENDED
    for note in running.notes:
        complain_line(f"{prog}: {note}")
    if options.format == "json":
        write_data(_json(prepared, result, printed))
    else:
        say("\n".join(_human(prepared, result)) + "\n")
    for path in written:
        complain_line(f"written: {path}")
    return status(result)


def _parser(prog: str) -> argparse.ArgumentParser:
    arguments = parser(
        prog,
        "Run a program, or an executable that `rlx build` made, and print what it returns.",
        "--fuel limits the number of steps.",
        ("steps", "native", "vm"),
    )
    arguments.add_argument(
        "--fuel",
        type=natural,
        default=FUEL,
        metavar="N",
        help=f"the largest number of steps (default: {FUEL})",
    )
    arguments.add_argument(
        "--out", metavar="DIR", help="write the returned tensors to this folder, as .npy files"
    )
    arguments.add_argument(
        "--profile", action="store_true", help="with --backend vm: print how long each call took"
    )
    add_options(arguments)
    return arguments


def _inputs(prepared: Prepared) -> list[str]:
    """The inputs, a line for each."""
    from rlx.semantics.run.value_text import line

    made = prepared.inputs
    lines = []
    if made.made_up:
        sizes = [f"{name} = {size}" for name, size in made.sizes.items() if name in made.made_up]
        rest = [name for name in made.made_up if name not in made.sizes]
        words = [*sizes, *([f"random {', '.join(rest)}"] if rest else [])]
        lines.append(f"generated: {', '.join(words)}")
    for param, value in zip(prepared.function.params, made.values, strict=True):
        lines.append(f"{param.name_hint} = {line(value)}")
    return lines


def _human(prepared: Prepared, result: Outcome) -> Iterator[str]:
    from rlx.semantics.outcome import Ended, Returned
    from rlx.semantics.run.value_text import block

    if isinstance(result, Returned):
        yield f"{visible(prepared.entry)} returned"
        yield block(result.value)
    else:
        assert isinstance(result, Ended)
        yield from _ending(prepared, result)


def _ending(prepared: Prepared, result: Ended) -> Iterator[str]:
    """The failure of a run: its message, place and values."""
    from rlx.semantics.outcome import KINDS
    from rlx.semantics.run.value_text import line

    yield f"{KINDS[type(result)]}[{result.code}]: {visible(result.message)}"
    yield from _place(prepared, result.span)
    for at, value in enumerate(result.values):
        yield f"  = operand {at}: {line(value)}"
    if result.origin is not None:
        yield "  = this value was created here:"
        yield from _place(prepared, result.origin)
    for rule, why in result.considered:
        yield f"  = {rule} does not apply: {visible(why)}"
    if result.code in _MORE:
        yield f"  = raise the limit with {_MORE[result.code]}"
    yield f"  = by rule {result.rule}; `rlx explain {result.code}` explains it"


_MORE = {
    "E-fuel-left": "--fuel N",
    "E-tir-fuel": "--iterations N",
    "E-alloc-size": "--memory SIZE, if the system has more",
    "E-result-memory-there": "--memory SIZE, if the system has more",
}
"""The option that raises each limit."""


def _place(prepared: Prepared, span: Span | None) -> Iterator[str]:
    """The line of the program that a span is in, with carets below it."""
    if span is None:
        return
    from rlx.checker.render.human import show

    row, column = prepared.source.position(span[0])
    text = prepared.source.line(row)
    shown = show(text, column - 1, column - 1 + span[1] - span[0], len(text))
    start, end = shown.column(column - 1), shown.column(column - 1 + span[1] - span[0])
    gutter = " " * len(str(row))
    yield f"{gutter}--> {visible(prepared.source.path)}:{row}:{column}"
    yield f"{gutter} |"
    yield f"{row} | {shown.text}"
    yield f"{gutter} | {' ' * start}{'^' * max(1, end - start)}"


def _json(prepared: Prepared, result: Outcome, printed: Sequence[str]) -> str:
    from rlx.semantics.outcome import KINDS, Ended, Returned

    record: dict[str, object] = {
        "version": VERSION,
        "path": prepared.source.path,
        "entry": prepared.entry,
        "sizes": prepared.inputs.sizes,
        "outcome": KINDS[type(result)],
        "printed": printed,
    }
    if isinstance(result, Returned):
        record["value"] = json_value(result.value)
    else:
        assert isinstance(result, Ended)
        record |= {"rule": result.rule, "code": result.code, "message": result.message}
        if result.span is not None:
            record["line"], record["column"] = prepared.source.position(result.span[0])
    return json_text(record) + "\n"
