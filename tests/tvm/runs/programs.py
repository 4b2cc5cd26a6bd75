"""The programs of this folder, with their arguments.

In `operators.txt`, `kernels.txt` and `programs.txt` each program has a line `=== NAME`, then its arguments as JSON, then its
text. A tensor is `[element type, shape, elements]`; the text of an operator is one call on `x`, `y`, `z`, ….
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import tvm

HERE = Path(__file__).parent
TEXTS = ("operators", "kernels", "programs")
CALL = """
@I.ir_module
class Module:
    @R.function
    def main({params}):
        with R.dataflow():
            gv = {call}
            R.output(gv)
        return gv
"""


class Sizes(tuple[int, ...]):
    """A shape as an argument."""


class Program(NamedTuple):
    """A program: its text, or what builds it."""

    name: str
    entry: str
    args: tuple[Any, ...]
    text: str | None
    build: Callable[[], Any]


def element_type(name: str) -> np.dtype[Any]:
    """NumPy's type of that name, or that of ml_dtypes."""
    return np.dtype(getattr(ml_dtypes, name, name))


def decoded(value: Any) -> Any:
    """An argument from JSON."""
    match value:
        case {"shape": sizes}:
            return Sizes(sizes)
        case {"tuple": fields}:
            return tuple(map(decoded, fields))
        case [str(kind), shape, elements]:
            numbers = np.array([float(e) if isinstance(e, str) else e for e in elements])
            return numbers.astype(element_type(kind)).reshape(shape)
    return value


def annotation(value: Any) -> str:
    """The type of a parameter for an argument."""
    match value:
        case Sizes():
            return f"R.Shape([{', '.join(map(str, value))}])"
        case tuple():
            return f"R.Tuple({', '.join(map(annotation, value))})"
    return f'R.Tensor({value.shape}, dtype="{value.dtype}")'


def _of_block(kind: str, block: str) -> Program:
    head, given, text = block.split("\n", 2)
    name, _, entry = head.partition(" ")
    args = tuple(map(decoded, json.loads(given)))
    if kind == "operators":
        pairs = zip("xyzuvwst", args, strict=False)
        params = ", ".join(f"{name}: {annotation(arg)}" for name, arg in pairs)
        text = CALL.format(params=params, call=text.strip())
    return Program(
        f"{kind}/{name}", entry or "main", args, text, lambda: tvm.script.from_source(text)
    )


def of_texts(kind: str) -> Mapping[str, Program]:
    """The programs of a file by name."""
    _, *blocks = ("\n" + (HERE / f"{kind}.txt").read_text("utf-8")).split("\n=== ")
    found = [_of_block(kind, block) for block in blocks]
    return {program.name: program for program in found}
