"""Values of operators, beside those of TVM's compiled code for the same operands."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from rlx.grammar.nodes import ast
from rlx.operators.evaluation import OperatorFault, Plain
from tests.operators.evaluate.awkward import STYLES, redrawn
from tests.operators.evaluate.concrete import POINTS, Concrete, concrete
from tests.tvm.target import QUICK

from .test_operators import Caller

LISTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("evaluation.toml").read_text("utf-8")
)
DIFFERENT = LISTS["different"]
"""Calls of which TVM's code returns something else, and why."""

DIFFERENT_REDRAWN = LISTS["different_redrawn"]
"""The same, for other values of the operands than the first."""

NOT_COMPILED = LISTS["not_compiled"]
"""Calls that TVM's default build does not compile for the processor, and why."""

ENTRIES = {"different": 7, "different_redrawn": 1, "not_compiled": 34}
"""How many entries there are: a number may only be made smaller."""

TOLERANCE = {"float64": 1e-10, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
GROUPS = 3


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
    """The names of a call in the lists: its operator, alone, with an element type, a keyword or the shapes of its tensors."""
    name, _, attrs = call.case
    kinds = {str(array.dtype) for array in call.values.values()}
    shapes = ["x".join(map(str, array.shape)) for array in call.values.values()]
    return {
        name,
        " ".join((name, *shapes)),
        *(f"{name} {kind}" for kind in kinds),
        *(f"{name} {key}" for key in attrs),
        *(f"{name} {key}={value}" for key, value in attrs.items()),
    }


@cache
def settled() -> list[Concrete]:
    """One call for each way an operator is called, with the first of the points, of those that have values."""
    found = []
    for call in concrete(lambda _: True):
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


EVERY = 1 if os.environ.get("RLX_ALL_CALLS") else 4
"""One call of so many is compiled by TVM."""


@cache
def compiled() -> list[Concrete]:
    """The calls that TVM compiles, of those that are settled."""
    return [call for call in settled() if names(call).isdisjoint(NOT_COMPILED)][::EVERY]


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
    executable = relax.build(builder.finalize(), target=QUICK)
    return relax.VirtualMachine(executable, tvm.cpu()), made


def as_numpy(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else tuple(as_numpy(part) for part in value)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def difference(ours: Plain, theirs: Any) -> str:
    """The difference between two results; empty if they agree."""
    for a, b in zip(_leaves(ours), _leaves(theirs), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
        bound = TOLERANCE.get(str(a.dtype))
        if bound is None:
            same = np.array_equal(a, b)
        else:
            x, y = a.astype(np.float64), b.astype(np.float64)
            # What sums of large terms leave is rounded as these are.
            largest = float(np.max(np.abs(y), initial=1, where=np.isfinite(y)))
            same = np.allclose(x, y, bound, bound * largest, True)
        if not same:
            return f"{a!r} and {b!r}"
    return ""


@pytest.mark.parametrize("group", range(GROUPS))
def test_the_values_are_those_of_tvm(group: int) -> None:
    calls = compiled()[group::GROUPS]
    machine, made = build(calls)
    wrong, agreed = {}, set()
    for at, (call, caller) in enumerate(zip(calls, made, strict=True)):
        found = difference(call.evaluate(), _returned(machine, at, caller))
        listed = names(call) & set(DIFFERENT)
        if found and not listed:
            wrong[f"{call.case[0]} {call.case[2]}"] = found
        if not found:
            agreed |= listed
        if not listed:
            found = _redrawn_difference(machine, at, call, caller)
            if found and names(call).isdisjoint(DIFFERENT_REDRAWN):
                wrong[f"{call.case[0]} {call.case[2]} redrawn"] = found
    assert wrong == {}
    assert agreed == set(), "these entries of evaluation.toml name calls on which both agree"


def _redrawn_difference(machine: Any, at: int, call: Concrete, caller: Calls) -> str:
    """The differences between results for negative numbers, zeros and extremes; calls with a fault have none."""
    parts = (_styled_difference(machine, at, call, caller, style) for style in STYLES)
    return next((f"{style}: {part}" for style, part in zip(STYLES, parts, strict=True) if part), "")


def _styled_difference(machine: Any, at: int, call: Concrete, caller: Calls, style: str) -> str:
    variables = {id(array): var for var, array in call.values.items()}
    before, after = call.values, redrawn(call, style)
    call.values = after
    try:
        ours = call.evaluate()
    except OperatorFault:
        return ""
    finally:
        call.values = before
    arrays = [tvm.runtime.tensor(after[variables[id(array)]]) for array in caller.arrays]
    return difference(ours, as_numpy(machine[f"f{at}"](*arrays)))


def _returned(machine: Any, at: int, caller: Calls) -> Any:
    return as_numpy(machine[f"f{at}"](*[tvm.runtime.tensor(a) for a in caller.arrays]))


@pytest.mark.parametrize("entry", NOT_COMPILED)
def test_what_is_not_compiled_still_is_not(entry: str) -> None:
    """An entry goes as soon as TVM compiles a call that it names."""
    calls = [call for call in settled() if entry in names(call)]
    assert calls, "the entry names no call"
    for call in calls:
        with pytest.raises(Exception):  # noqa: B017 - TVM raises whatever it likes
            _compiled_and_run(call)


def _compiled_and_run(call: Concrete) -> None:
    machine, (caller,) = build([call])
    _returned(machine, 0, caller)


def test_the_lists_name_calls_and_only_shrink() -> None:
    known = {name for call in settled() for name in names(call)}
    assert {*DIFFERENT, *DIFFERENT_REDRAWN, *NOT_COMPILED} <= known
    assert {name: len(entries) for name, entries in LISTS.items()} == ENTRIES
