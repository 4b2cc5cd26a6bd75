"""The law of awkward operands for scalars: tensors of rank 0, and integers in the places of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import TensorStructInfo
from rlx.operators import lookup
from rlx.operators.evaluation import OperatorFault
from tests.operators.cases import Case
from tests.operators.context import Recorder
from tests.operators.evaluate.awkward import CASES
from tests.operators.evaluate.concrete import POINTS, Concrete, Unknown, fits

NAMES = sorted({name for name, *_ in CASES})


def variants(case: Case) -> Iterator[Case]:
    """The call with some of its tensors scalars, and with an integer for one of them; without axes, and with axis 0."""
    name, args, attrs = case
    at = [k for k, arg in enumerate(args) if isinstance(arg, TensorStructInfo)]
    without = {key: value for key, value in attrs.items() if not key.startswith("ax")}
    for count in range(1, len(at) + 1):
        for chosen in combinations(at, count):
            scalars = [_scalar(arg) if k in chosen else arg for k, arg in enumerate(args)]
            for others in (attrs, without, {**attrs, "axis": None}, {**attrs, "axis": 0}):
                yield name, tuple(scalars), others
            if count == 1:
                (only,) = chosen
                numbers = [tir.IntImm(1) if k == only else arg for k, arg in enumerate(args)]
                yield name, tuple(numbers), attrs
                yield name, tuple(map(_scalar, numbers)), attrs


def _scalar(arg: Any) -> Any:
    if isinstance(arg, TensorStructInfo):
        return TensorStructInfo(ast.ShapeExpr(()), arg.dtype, 0, arg.vdevice)
    return arg


def legal(case: Case) -> Concrete | None:
    """The call with values; None where there are none, or where the operator's rule has something against it."""
    operator = lookup(f"relax.{case[0]}")
    assert operator is not None
    try:
        call = Concrete(case, POINTS[0])
    except (Unknown, AssertionError, ValueError, IndexError):
        return None
    recorder = Recorder()
    operator.derive(call.call, recorder)
    return None if any(severity == "error" for _, severity, _ in recorder.reports) else call


@pytest.mark.parametrize("part", range(8))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scalars_have_values_of_the_type_that_is_derived(part: int) -> None:
    wrong, ran = [], 0
    for name, args, attrs in CASES:
        operator = lookup(f"relax.{name}")
        if NAMES.index(name) % 8 != part or operator is None or operator.compute is None:
            continue
        for case in variants((name, args, attrs)):
            call = legal(case)
            if call is None:
                continue
            ran += 1
            try:
                found = fits(call.evaluate(), call.derive(), dict(call.point))
            except OperatorFault:
                continue
            if found:
                wrong.append((case, found))
    assert ran > 50
    assert wrong == []
