"""LAW: arithmetic of tensor expressions that is folded gives what evaluation gives."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlx import te
from rlx.semantics.tir import evaluate

FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: getattr(operator, name)
        for name in ("add", "sub", "mul", "floordiv", "mod", "lt", "le", "gt", "ge", "eq", "ne")
    },
    **{f"te.{name}": getattr(te, name) for name in ("truncdiv", "truncmod", "minimum", "maximum")},
}
DIVISIONS = ("floordiv", "mod", "te.truncdiv", "te.truncmod")


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64"])
def test_what_is_folded_is_what_evaluation_gives(kind: str) -> None:
    """A constant on either side, or on both, changes no value; the ends of a type wrap as they do in a run."""
    ends = np.iinfo(kind)
    numbers = np.array([ends.min, ends.min + 1, 0, 1, 2, 3, ends.max - 1, ends.max], kind)
    if ends.min < 0:
        numbers = np.append(numbers, np.array([-1, -2, -3], kind))
    a, b = (te.placeholder((len(numbers) ** 2,), kind, name) for name in "AB")
    left, right = (side.ravel() for side in np.meshgrid(numbers, numbers, indexing="ij"))
    for name in FOLDED:
        divides = name in DIVISIONS
        wanted = _values(name, a, b, left, right)
        for at, number in enumerate(map(int, numbers)):
            if divides and not number:
                continue
            constant = te.const(number, kind)
            first, second = left == numbers[at], right == numbers[at]
            got = _values(name, constant, b, left, right)
            assert (got[first] == wanted[first]).all(), (name, number, "left")
            got = _values(name, a, constant, left, right)
            assert (got[second] == wanted[second]).all(), (name, number, "right")


def _values(name: str, one: Any, other: Any, left: Any, right: Any) -> Any:
    """The results of an operator, one or both operands of which are tensors; nothing is divided by zero."""
    tensors = [each for each in (one, other) if isinstance(each, te.Tensor)]

    def body(i: Any) -> Any:
        a, b = (each[i] if isinstance(each, te.Tensor) else each for each in (one, other))
        if name in DIVISIONS and isinstance(other, te.Tensor):
            b = te.if_then_else(b == 0, te.const(1, str(b.dtype)), b)
        return FOLDED[name](a, b)

    out = te.compute(tensors[0].shape, body, name="C")
    result = np.zeros(left.shape, str(out.dtype))
    pairs = ((one, left), (other, right))
    arrays = [array for each, array in pairs if isinstance(each, te.Tensor)]
    evaluate(te.create_prim_func([*tensors, out], "int64"), [*arrays, result])
    return result
