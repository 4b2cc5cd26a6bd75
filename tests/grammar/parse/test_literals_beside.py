"""Literals beside operands of PrimFuncs have the types that TVM's constructors give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes.tir import PrimFunc
from rlx.grammar.read.parser import parse
from rlx.semantics.native import compile
from rlx.semantics.tir import evaluate

HEAD = (
    "@T.prim_func(s_tir=True)\n"
    'def f(w: T.Buffer((4,), "uint8"), h: T.Buffer((4,), "float16"), q: T.Buffer((4,), "uint32"), '
    'b: T.Buffer((4,), "bool"), l: T.Buffer((4,), "int64"), o: T.Buffer((4,), "float32")):\n'
)

ALIKE = [
    ("w[0] - 1", 'T.Cast("int32", w[0]) - 1'),
    ("2 * w[0] + 1", '2 * T.Cast("int32", w[0]) + 1'),
    ("w[0] * 2 * w[1]", 'T.Cast("int32", w[0]) * 2 * T.Cast("int32", w[1])'),
    ("w[0] < 3", 'T.Cast("int32", w[0]) < 3'),
    ("b[0] + 1", 'T.Cast("int32", b[0]) + 1'),
    ("h[0] * 1.3", 'T.Cast("float32", h[0]) * T.float32(1.3)'),
    ("h[0] * 2", "h[0] * T.float16(2)"),
    ("q[0] + 1", "q[0] + T.uint32(1)"),
    ("l[0] + 1", "l[0] + T.int64(1)"),
    ("w[0] >> 2", "w[0] >> T.uint8(2)"),
    ("T.max(w[0], 300)", 'T.max(T.Cast("int32", w[0]), 300)'),
    ("T.uint8(2) * w[0]", "T.uint8(2) * w[0]"),
    ("T.int32(2) * w[0]", '2 * T.Cast("int32", w[0])'),
    ("T.if_then_else(b[0], w[0], 300)", 'T.if_then_else(b[0], T.Cast("int32", w[0]), 300)'),
]
"""What people write, and how TVM prints what it makes of it."""


def values(expression: str) -> list[list[float]]:
    """The values of an expression by the evaluator and by native code."""
    text = f'{HEAD}    o[0] = T.Cast("float32", {expression})\n'
    (func,) = parse(text).modules[0].functions.values()
    assert isinstance(func, PrimFunc)
    found = []
    for run in (evaluate, lambda f, args: compile(f)(args)):
        given: list[Any] = [
            np.array([200, 100, 3, 4], np.uint8),
            np.array([1.1, 2, 3, 4], np.float16),
            np.array([2**32 - 1, 2, 3, 4], np.uint32),
            np.array([True, False, True, False]),
            np.array([2**40, 2, 3, 4], np.int64),
            np.zeros(4, np.float32),
        ]
        run(func, given)
        found.append(given[-1].tolist())
    return found


@pytest.mark.parametrize(("written", "printed"), ALIKE)
def test_a_literal_has_a_type_of_its_own(written: str, printed: str) -> None:
    first, second = values(written)
    assert first == second and values(printed) == [first, first]


def test_narrow_types_do_not_wrap_beside_literals() -> None:
    text = '@T.prim_func\ndef f(w: T.Buffer((2,), "int8"), o: T.Buffer((2,), "int32")):\n    for i in range(2):\n'
    text += "        o[i] = w[i] * 2 - 300\n"
    assert check_text(text).diagnostics == ()
    (func,) = parse(text).modules[0].functions.values()
    assert isinstance(func, PrimFunc)
    for run in (evaluate, lambda f, args: compile(f)(args)):
        result = np.zeros(2, np.int32)
        run(func, [np.array([100, -100], np.int8), result])
        assert result.tolist() == [-100, -500]
