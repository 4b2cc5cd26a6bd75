"""Corners that random calls seldom meet: axes beside ranks, conversions of special numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.dtype import dtype
from rlx.operators.element_types import numpy_type
from rlx.operators.layout import pieces
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


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("layout", ["NCHW2c", "NCHW2h", "NHWC2w2c", "NCHW2h2c2w", "N2nCHW3h2h"])
def test_the_gradient_of_a_pool_in_blocks(kind: str, layout: str) -> None:
    """What each axis is in pieces: an axis that is split has all its blocks full."""
    rng = np.random.default_rng(len(layout))
    split = pieces(layout)
    whole = {"N": 2, "C": 4, "H": 6, "W": 4}
    for name, factor in split:
        whole[name] //= factor or 1
    shape = tuple(factor or whole[name] for name, factor in split)
    x = rng.integers(0, 9, shape).astype(np.float32)
    g = rng.integers(0, 9, (2, 4, 3, 2)).astype(np.float32)
    params = f'g: R.Tensor({g.shape}, "float32"), x: R.Tensor({shape}, "float32")'
    more = f'(2, 2), (2, 2), layout="{layout}", out_layout="NCHW"'
    one, other = both(params, f"R.grad.{kind}_pool2d_backward(g, x, {more})", g, x)
    assert one.shape == shape and one.any() and one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("start", "end", "step", "left"),
    [
        ("0", "n", "2", ""),
        ("n", "n + 4", "3", ""),
        ("n + 4", "n", "-1", ""),
        ("n", "n", "0.5", "its bounds are floats, and not all are constants"),
    ],
)
def test_a_range_of_numbers_from_a_size_on(start: str, end: str, step: str, left: str) -> None:
    kind = "float32" if left else "int64"
    given = f'R.arange({start}, {end}, {step}, dtype="{kind}")'
    sizes = 'x: R.Tensor(("n",), "float32")'
    module = rlx.parse(
        f"@R.function\ndef main({sizes}):\n    n = T.int64()\n    y = {given}\n    return y\n"
    )
    made = legalized(module)
    assert [each.reason for each in made.left] == ([left] if left else [])
    if not left:
        wanted = np.arange(*(eval(each, {"n": 3}) for each in (start, end, step)))
        ended = load(made.module).run("main", [to_value(np.zeros(3, np.float32))], fuel=10**6)
        assert isinstance(ended, Returned), ended
        assert ended.value.data.tolist() == wanted.tolist()  # type: ignore[attr-defined]
