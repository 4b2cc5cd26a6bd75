"""Output files of commands: early checks that they can be written, and returned tensors."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.commands.os_errors import words_of
from rlx.grammar.streams import json_text, write_data
from rlx.writing import hindrance, make_folder, output

if TYPE_CHECKING:
    from rlx.semantics.values import Value

STDIN = "-"


def add_format(parser: argparse.ArgumentParser, of: str = "the answer") -> None:
    """Add the option `--format`; ``of`` is what it is the format of."""
    parser.add_argument(
        "--format",
        choices=("human", "json"),
        default="human",
        help=f"the format of {of} (default: human)",
    )


def print_record(**record: Any) -> None:
    """Print the answer of a command with `--format json`: one object, with its version."""
    write_data(json_text({"version": 1, **record}) + "\n")


def refused(out: str, file: str) -> str | None:
    """Why a command must not, or cannot, write a file.

    Parameters
    ----------
    out
        The file to write.
    file
        The program, which stays as it is; `-` for standard input.

    Returns
    -------
    str or None
        The file and the reason; None if there is none.
    """
    if (
        file != STDIN
        and os.path.exists(out)
        and os.path.exists(file)
        and os.path.samefile(out, file)
    ):
        return f"{out}: this would overwrite the program"
    why = hindrance(out)
    return why and f"{out}: {why}"


MOST_FILES = 10_000
"""The maximum number of files that `--out` writes: tuples may share their fields."""


def write_tensors(value: Value, folder: str | None) -> list[Path]:
    """Write the tensors of a value into a folder, as `.npy` files. Raises UsageError if one cannot
    be written, or there are more than :data:`MOST_FILES`.

    Returns
    -------
    list of Path
        The files; none if no folder is given.
    """
    from rlx.semantics.run.files import save
    from rlx.semantics.run.options import UsageError

    written: list[Path] = []
    if folder is None:
        return written
    tensors = list(islice(_tensors(value, "result"), MOST_FILES + 1))
    if len(tensors) > MOST_FILES:
        raise UsageError(f"--out writes at most {MOST_FILES} tensors; the value has more")
    try:
        make_folder(folder)
        for name, array in tensors:
            path = Path(folder) / f"{name}.npy"
            with output(path, within=[folder]) as file:
                save(file, array)
            written.append(path)
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
