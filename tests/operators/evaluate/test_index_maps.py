"""`layout_transform`: random splits, paddings and permutations of axes, against NumPy's."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from rlx.grammar.read.parser import parse
from rlx.operators.evaluation import OperatorFault
from rlx.operators.index_map import layout_transform_value
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor

NAMES = "abc"


def _drawn(draw: random.Random) -> tuple[tuple[int, ...], str, Any]:
    """A shape, a map, and the function of NumPy that does the same."""
    shape = tuple(draw.randint(1, 5) for _ in range(draw.randint(1, 3)))
    by = [draw.choice([0, 2, 3]) for _ in shape]
    parts = []
    for name, factor in zip(NAMES, by, strict=False):
        parts += [f"{name} // {factor}", f"{name} % {factor}"] if factor else [name]
    order = draw.sample(range(len(parts)), len(parts))
    padding = [(0, -size % factor if factor else 0) for size, factor in zip(shape, by, strict=True)]

    def moved(x: Any, pad: int) -> Any:
        padded = np.pad(x, padding, constant_values=pad)
        pieces: list[int] = []
        for size, factor in zip(padded.shape, by, strict=True):
            pieces += [size // factor, factor] if factor else [size]
        return padded.reshape(pieces).transpose(order)

    results = "".join(f"{parts[k]}, " for k in order)
    return shape, f"lambda {', '.join(NAMES[: len(shape)])}: ({results.strip()})", moved


@pytest.mark.parametrize("seed", range(60))
def test_elements_move_as_numpy_moves_them(seed: int) -> None:
    draw = random.Random(seed)
    shape, index_map, moved = _drawn(draw)
    x = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)
    pad = draw.choice([None, 7])
    expected = moved(x, pad or 0)
    given = f"{index_map}" if draw.random() < 0.5 else f"index_map=T.index_map({index_map})"
    text = f"""
@R.function
def main(x: R.Tensor({shape}, "int32")):
    y = R.layout_transform(x, {given if "index_map=" in given else f"index_map={given}"}, pad_value={pad})
    return y
"""
    end = load(parse(text).modules[0]).run("main", [Tensor(x)])
    assert isinstance(end, Returned) and isinstance(end.value, Tensor), end
    assert end.value.shape == expected.shape and end.value.data.tolist() == expected.tolist()
    assert layout_transform_value(x, index_map, pad).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "code,text",
    [
        ("E-layout-map", "lambda i: i"),
        ("E-layout-map", "lambda i, j: (i, j * j)"),
        ("E-layout-map", "lambda i, j: (i, f(j))"),
        ("E-layout-place", "lambda i, j: (i, j // 2)"),
        ("E-layout-place", "lambda i, j: (j,)"),
    ],
)
def test_maps_without_a_result(code: str, text: str) -> None:
    with pytest.raises(OperatorFault) as fault:
        layout_transform_value(np.zeros((2, 3)), text, None)
    assert fault.value.code == code


def test_an_index_map_by_position() -> None:
    text = """
@R.function
def main(x: R.Tensor((2, 3), "int32")):
    y = R.layout_transform(x, lambda i, j: (j, i))
    return y
"""
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    end = load(parse(text).modules[0]).run("main", [Tensor(x)])
    assert isinstance(end, Returned) and isinstance(end.value, Tensor), end
    assert end.value.data.tolist() == x.T.tolist()
