"""Corners that random calls seldom meet: axes beside ranks, conversions of special numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.dtype import dtype
from rlx.operators.element_types import numpy_type
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Returned
from rlx.transform import legalized


def both(params: str, call: str, *given: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """What a call gives by the operator, and by the PrimFunc that it becomes."""
    module = rlx.parse(f"@R.function\ndef main({params}):\n    y = {call}\n    return y\n")
    assert rlx.check(module).ok
    made = legalized(module)
    assert not made.left, made
    found = []
    for each in (module, made.module):
        ended = load(each).run("main", [to_value(value) for value in given], fuel=10**6)
        assert isinstance(ended, Returned), ended
        found.append(ended.value.data)  # type: ignore[attr-defined]
    return found[0], found[1]


@pytest.mark.parametrize("rank", range(4))
@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("mode", ["fast", "wrap", "clip", "nan"])
def test_take_along_each_axis_with_indices_of_each_rank(rank: int, axis: int, mode: str) -> None:
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    low, high = (0, 2) if mode == "fast" else (-7, 7)
    given = np.random.default_rng(rank).integers(low, high, (2, 1, 3)[:rank]).astype(np.int64)
    params = f'x: R.Tensor((2, 3, 4, 5), "float32"), i: R.Tensor({given.shape}, "int64")'
    one, other = both(params, f'R.take(x, i, axis={axis}, mode="{mode}")', x, given)
    assert one.shape == other.shape and one.tobytes() == other.tobytes()


TYPES = ("float16", "float32", "float64", "bfloat16", "int8", "int32", "int64", "uint8", "bool")


@pytest.mark.parametrize("kind", TYPES)
def test_any_number_but_zero_is_true(kind: str) -> None:
    numbers = [0, 1, 3] if kind[0] in "ub" else [0, 1, -1, -3, 3]
    x = np.array(numbers).astype(numpy_type(dtype(kind)))
    one, other = both(f'x: R.Tensor(({len(x)},), "{kind}")', 'R.astype(x, "bool")', x)
    assert one.tolist() == other.tolist() == [number != 0 for number in numbers]
