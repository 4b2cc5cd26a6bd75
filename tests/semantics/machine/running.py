"""Programs in a few lines, run to their end."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import Configuration, MachineProgram, load
from rlx.semantics.outcome import Ended, Outcome, Returned
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value

HEADER = """
n = TypeVar("n")
m = TypeVar("m")

@I.ir_module
class M:
"""

DOUBLE = """
@T.prim_func(private=True)
def double(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    for i in range(n):
        with T.sblock("y"):
            v = T.axis.spatial(n, i)
            y[v] = x[v] * T.float32(2)
"""
"""A PrimFunc `double`, to be put behind a program."""


def module(text: str) -> ast.IRModule:
    """The module of a text: of functions, or of a whole class."""
    text = text.strip("\n")
    if "I.ir_module" not in text:
        text = HEADER + "\n".join("    " + line for line in text.splitlines())
    parsed = parse(text)
    assert not [d for d in parsed.diagnostics if d.is_error], parsed.diagnostics
    (found,) = parsed.modules
    return found


def program(text: str, **packed: Any) -> MachineProgram:
    """A text, ready to run; what it prints is collected in ``printed`` of the packed functions, if given."""
    lines = packed.pop("printed", [])
    names = {name.replace("__", "."): call for name, call in packed.items()}
    return load(module(text), packed=names, output=lines.append)


def value(plain: Any) -> Value:
    """A value for an argument: arrays and floats are tensors, integers scalars, lists shapes."""
    match plain:
        case Value():
            return plain
        case bool() | int():
            return Scalar(plain)
        case list():
            return ShapeValue(tuple(plain))
        case tuple():
            return TupleValue(tuple(value(item) for item in plain))
    return Tensor(np.asarray(plain))


def run(
    text: str, *args: Any, entry: str = "main", fuel: int | None = None, **packed: Any
) -> Outcome:
    """The outcome of a program."""
    return program(text, **packed).run(entry, [value(arg) for arg in args], fuel=fuel)


def returned(text: str, *args: Any, entry: str = "main", **packed: Any) -> Value:
    """The value that a program returns; stepping returns the same."""
    ready = program(text, **packed)
    result = ready.run(entry, [value(arg) for arg in args])
    assert isinstance(result, Returned), result
    return result.value


def ended(text: str, *args: Any, entry: str = "main", **packed: Any) -> Ended:
    """The outcome of a program that returns nothing."""
    result = run(text, *args, entry=entry, **packed)
    assert isinstance(result, Ended), result
    return result


def rules_of(text: str, *args: Any, entry: str = "main", **packed: Any) -> list[str]:
    """The rules that a run applies, in order."""
    steps = program(text, **packed).trace(entry, [value(arg) for arg in args])
    return [step.rule for step in steps if isinstance(step, Configuration)][1:]


def floats(*numbers: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A vector of float32."""
    return np.array(numbers, np.float32)


def double(x: Any) -> Any:
    """An external function that overwrites its argument."""
    x *= 2
    return x
