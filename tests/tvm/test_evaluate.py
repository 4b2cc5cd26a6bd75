"""What operators compute, beside what TVM's compiled code returns for the same operands."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from rlx.grammar import ast
from rlx.operators.evaluation import OperatorFault, Plain
from tests.operators.evaluate.concrete import POINTS, Concrete, concrete

from .test_operators import Caller

DIFFERENT: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("evaluation.toml").read_text("utf-8")
)["different"]
"""Operators of which TVM's code returns something else, and why; the list may only shrink."""

NOT_COMPILED: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("evaluation.toml").read_text("utf-8")
)["not_compiled"]
"""Operators that TVM's default build does not compile for the processor, and why."""

TOLERANCE = {"float64": 1e-10, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
GROUP = 60


class Calls(Caller):
    """Makes a call of TVM's out of one with values; its parameters are in the order of the values."""

    def __init__(self, call: Concrete) -> None:
        super().__init__()
        self.concrete = call
        self.params: list[Any] = []
        self.arrays: list[Any] = []

    def argument(self, value: Any) -> Any:
        if isinstance(value, ast.Var):
            assert value.struct_info_annotation is not None
            var = self.variable(value.struct_info_annotation)
            self.params.append(var)
            self.arrays.append(self.concrete.values[value])
            return var
        if isinstance(value, tuple) and value and isinstance(value[0], ast.Var):
            return relax.Tuple([self.argument(item) for item in value])
        return super().argument(value)


def names(call: Concrete) -> set[str]:
    """What the lists may call it by: its operator, alone, with an element type, or with a keyword."""
    name, _, attrs = call.case
    kinds = {str(array.dtype) for array in call.values.values()}
    return {
        name,
        *(f"{name} {kind}" for kind in kinds),
        *(f"{name} {key}" for key in attrs),
        *(f"{name} {key}=None" for key, v in attrs.items() if v is None),
    }


def chosen() -> list[Concrete]:
    """One call for each way an operator is called, with the first of the points."""
    found = []
    for call in concrete(lambda _: True):
        if not names(call).isdisjoint(NOT_COMPILED):
            continue
        try:
            value = call.evaluate()
        except OperatorFault:
            continue
        if call.point == POINTS[0] and _is_data(value):
            found.append(call)
    return found


def _is_data(value: Plain) -> bool:
    if isinstance(value, tuple):
        return all(_is_data(part) for part in value)
    return isinstance(value, np.ndarray)


CALLS = chosen()


def build(calls: list[Concrete]) -> tuple[Any, list[Calls]]:
    """A virtual machine with a function for each call."""
    builder = relax.BlockBuilder()
    made = []
    for at, call in enumerate(calls):
        caller = Calls(call)
        expr = caller.call(*call.case)
        with builder.function(f"f{at}", caller.params):
            builder.emit_func_output(builder.emit(expr))
        made.append(caller)
    executable = relax.build(builder.finalize(), target="llvm")
    return relax.VirtualMachine(executable, tvm.cpu()), made


def _numpy(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else tuple(_numpy(part) for part in value)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def difference(ours: Plain, theirs: Any) -> str:
    """How two results differ; empty if they agree."""
    for a, b in zip(_leaves(ours), _leaves(theirs), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
        bound = TOLERANCE.get(str(a.dtype))
        if bound is None:
            same = np.array_equal(a, b)
        else:
            same = np.allclose(a.astype(np.float64), b.astype(np.float64), bound, bound, True)
        if not same:
            return f"{a!r} and {b!r}"
    return ""


@pytest.mark.parametrize("start", range(0, len(CALLS), GROUP))
def test_the_values_are_those_of_tvm(start: int) -> None:
    calls = CALLS[start : start + GROUP]
    machine, made = build(calls)
    wrong = {}
    for at, (call, caller) in enumerate(zip(calls, made, strict=True)):
        theirs = _numpy(machine[f"f{at}"](*[tvm.runtime.tensor(a) for a in caller.arrays]))
        found = difference(call.evaluate(), theirs)
        if found and names(call).isdisjoint(DIFFERENT):
            wrong[f"{call.case[0]} {call.case[2]}"] = found
    assert wrong == {}


def test_the_lists_name_operators() -> None:
    known = {name for call in concrete(lambda _: True) for name in names(call)}
    assert {*DIFFERENT, *NOT_COMPILED} <= known
