"""`rlx run`: run a program, and print what it returns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.checker.check import IllFormedError
from rlx.commands.os_errors import words_of
from rlx.grammar.command_line import natural
from rlx.semantics.run.json_values import json_value
from rlx.semantics.run.options import (
    ENDED,
    FUEL,
    UNABLE,
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
    from rlx.semantics.outcome import Ended, Outcome
    from rlx.semantics.values import Value

VERSION = 1


def main(argv: Sequence[str], prog: str = "rlx run") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
    options = _parser(prog).parse_args(argv)
    from rlx.vm.saving import is_executable

    if options.backend == "vm" or is_executable(options.file):
        from rlx.commands.run_vm import run

        return run(options, prog)
    if options.profile:
        sys.stderr.write(f"{prog}: --profile needs --backend vm\n")
        return UNABLE
    try:
        prepared = prepare(options)
        printed: list[str] = []
        running = program(prepared, options, printed.append if options.format == "json" else print)
        if options.format == "human":  # before the run: PrimFuncs may overwrite what they are given
            sys.stdout.write("\n".join([*_inputs(prepared), "", ""]))
        with interruptible():
            result = running.run(prepared.entry, prepared.inputs.values, fuel=options.fuel)
        written = write_out(result, options.out)
    except UsageError as error:
        sys.stderr.write(f"{prog}: {error}\n")
        return UNABLE
    except IllFormedError as error:
        show_errors(error.report)
        return ENDED
    for note in running.notes:
        sys.stderr.write(f"{prog}: {note}\n")
    if options.format == "json":
        sys.stdout.write(_json(prepared, result, printed))
    else:
        sys.stdout.write("\n".join(_human(prepared, result)) + "\n")
    for path in written:
        sys.stderr.write(f"written: {path}\n")
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
    return arguments


MOST_FILES = 10_000
"""The maximum number of files that `--out` writes: tuples may share their fields."""


def write_out(result: Outcome, folder: str | None) -> list[Path]:
    from rlx.semantics.outcome import Returned

    if folder is None or not isinstance(result, Returned):
        return []
    from rlx.semantics.run.files import save

    written: list[Path] = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, array in _tensors(result.value, "result"):
            if len(written) == MOST_FILES:
                raise UsageError(f"--out writes at most {MOST_FILES} tensors; the value has more")
            written.append(Path(folder) / f"{name}.npy")
            save(written[-1], array)
    except OSError as error:
        raise UsageError(f"--out {words_of(error)}") from None
    return written


def _tensors(value: Value, name: str) -> Iterator[tuple[str, Any]]:
    from rlx.semantics.values import Tensor, TupleValue

    if isinstance(value, Tensor):
        yield name, value.data
    elif isinstance(value, TupleValue):
        for at, field in enumerate(value.fields):
            yield from _tensors(field, f"{name}.{at}")


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
        yield f"{prepared.entry} returned"
        yield block(result.value)
    else:
        assert isinstance(result, Ended)
        yield from _ending(prepared, result)


def _ending(prepared: Prepared, result: Ended) -> Iterator[str]:
    """What went wrong, where, with which values."""
    from rlx.semantics.outcome import KINDS
    from rlx.semantics.run.value_text import line

    yield f"{KINDS[type(result)]}[{result.code}]: {result.message}"
    yield from _place(prepared, result.span, "-->")
    for at, value in enumerate(result.values):
        yield f"  = operand {at}: {line(value)}"
    if result.origin is not None:
        yield "  = this value was created here:"
        yield from _place(prepared, result.origin, "-->")
    for rule, why in result.considered:
        yield f"  = {rule} does not apply: {why}"
    if result.code in _MORE:
        yield f"  = raise the limit with {_MORE[result.code]} N"
    yield f"  = by rule {result.rule}; `rlx explain {result.code}` explains it"


_MORE = {"E-fuel-left": "--fuel", "E-tir-fuel": "--iterations"}
"""The option that raises each limit."""


def _place(prepared: Prepared, span: tuple[int, int] | None, arrow: str) -> Iterator[str]:
    if span is None:
        return
    row, column = prepared.source.position(span[0])
    text = prepared.source.text.splitlines()[row - 1]
    width = max(1, min(span[1] - span[0], len(text) - column + 1))
    gutter = " " * len(str(row))
    yield f"{gutter}{arrow} {prepared.source.path}:{row}:{column}"
    yield f"{gutter} |"
    yield f"{row} | {text}"
    yield f"{gutter} | {' ' * (column - 1)}{'^' * width}"


def _json(prepared: Prepared, result: Outcome, printed: Sequence[str]) -> str:
    import json

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
    return json.dumps(record) + "\n"
