"""E-compare: operands of two element types are compared in one of them, as TVM 0.27's compiled code does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.operators.elementwise import alike, binary_value


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        (
            "equal",
            np.array([16777217, -1], np.int64),
            np.array([16777216, -1], np.float32),
            [True, True],
        ),
        (
            "greater",
            np.array([16777217, -1], np.int64),
            np.array([16777216, -1], np.float32),
            [False, False],
        ),
        ("equal", np.array([2049, 1], np.int32), np.array([2048, 1], np.float16), [True, True]),
        ("greater", np.array([0.1, 1], np.float32), np.array([0.1, 1], np.float64), [True, False]),
        ("less", np.array([2.5, 1], np.float64), np.array([2.5, 1.1], np.float16), [False, True]),
        ("equal", np.array([-1, 1], np.int32), np.array([4294967295, 1], np.uint32), [True, True]),
        ("less", np.array([-1, 1], np.int8), np.array([255, 1], np.uint8), [False, False]),
        ("greater", np.array([-1, 300], np.int32), np.array([255, 44], np.uint8), [False, True]),
        ("less", np.array([255, 1], np.uint8), np.array([-1, 1], np.int64), [False, False]),
        ("not_equal", np.array([True, False], np.bool_), np.array([1, 5], np.int32), [False, True]),
        (
            "less_equal",
            np.array([True, False], np.bool_),
            np.array([1, 0.5], np.float32),
            [True, True],
        ),
    ],
)
def test_what_compiled_code_says(name: str, a: Any, b: Any, expected: list[bool]) -> None:
    assert binary_value(name)(np.asarray(a), np.asarray(b)).tolist() == expected


def test_the_order_of_operands_does_not_choose_the_type() -> None:
    kinds = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32"]
    for one in kinds:
        for other in kinds:
            a, b = np.ones(1, one), np.ones(1, other)
            assert {x.dtype for x in alike(a, b)} == {x.dtype for x in alike(b, a)}
            assert len({x.dtype for x in alike(a, b)}) == 1
