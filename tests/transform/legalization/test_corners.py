"""Corners that random calls seldom meet: axes beside ranks, conversions of special numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes.dtype import dtype, numpy_type
from rlx.operators.layout import pieces
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Returned
from rlx.transform import legalize, legalized


def both(params: str, call: str, *given: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The result of a call by the operator, and by the PrimFunc that it becomes."""
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
    """The pieces of each axis: a split axis has only full blocks."""
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


@pytest.mark.parametrize("layout", ["NCHW2c2c", "NCHW2c3c", "NCHW2c3c2c"])
def test_an_axis_in_blocks_of_blocks_counts_from_the_outermost(layout: str) -> None:
    sizes = [factor for _, factor in pieces(layout) if factor]
    shape = (1, 2, 4, 4, *sizes)
    x = np.arange(np.prod(shape), dtype=np.float32)[::-1].reshape(shape)
    call = f'R.nn.max_pool2d(x, (2, 2), layout="{layout}", out_layout="NCHW")'
    one, other = both(f'x: R.Tensor({shape}, "float32")', call, x)
    plain = np.moveaxis(x, (2, 3), (-2, -1)).reshape(1, -1, 4, 4)
    windows = np.lib.stride_tricks.sliding_window_view(plain, (2, 2), axis=(2, 3))
    wanted = windows.max(axis=(-2, -1))
    assert one.tolist() == other.tolist() == wanted.tolist()


NUMPY = [
    ("R.maximum(x, y)", ["bool", "bool"], lambda x, y: x | y),
    ("R.minimum(x, y)", ["bool", "bool"], lambda x, y: x & y),
    ("R.less(x, y)", ["bool", "bool"], lambda x, y: x < y),
    ("R.less(x, y)", ["float32", "int32"], lambda x, y: x < y),
    ("R.less(R.prim_value(2), x)", ["float32"], lambda x: x > 2),
    ("R.subtract(2.5, x)", ["float32"], lambda x: np.float32(2.5) - x),
    ("R.matmul(x, R.permute_dims(y))", ["bool", "bool"], lambda x, y: x @ y.T),
    ("R.repeat(x, 0, axis=1)", ["float32"], lambda x: x.repeat(0, axis=1)),
    ("R.repeat(x, 0)", ["float32"], lambda x: x.repeat(0)),
    ("R.split(x, 1, axis=1)", ["float32"], lambda x: x),
    (
        'R.nn.pad(x, (1, 2, 5, 4), pad_mode="replicate")',
        ["int32"],
        lambda x: np.pad(x, ((1, 2), (5, 4)), mode="edge"),
    ),
    (
        'R.nn.pad(x, (2, 1, 4, 3), pad_mode="circular")',
        ["int32"],
        lambda x: np.pad(x, ((2, 1), (4, 3)), mode="wrap"),
    ),
    (
        "R.strided_slice(x, (1,), (1,), (3,), (1,), assume_inbound=True)",
        ["float32"],
        lambda x: x[:, 1:3],
    ),
    (
        'R.topk(x, k=2, axis=1, ret_type="indices", dtype="int64")',
        ["float32"],
        lambda x: np.argsort(-x, axis=1, kind="stable")[:, :2],
    ),
    ("R.argmax(R.sum(x))", ["float32"], lambda x: np.int64(0)),
    ("R.nn.max_pool1d(R.expand_dims(x, 0))", ["int32"], lambda x: x[None]),
    ("R.collapse_sum_to(x, R.shape([1]))", ["float32"], lambda x: x.sum().reshape(1)),
    (
        'R.quantize(x, R.const(0.5, "float32"), R.const(0, "int8"), out_dtype="float8_e4m3fn")',
        ["float32"],
        lambda x: (np.clip(x / np.float32(0.5), -448, 448)).astype(
            numpy_type(dtype("float8_e4m3fn"))
        ),
    ),
]


@pytest.mark.parametrize(("call", "kinds", "wanted"), NUMPY)
def test_what_numpy_gives_too(call: str, kinds: list[str], wanted: Any) -> None:
    rng = np.random.default_rng(len(call))
    given = [rng.integers(-9, 10, (3, 4)) * 40 for _ in kinds]
    values = [each.astype(numpy_type(dtype(kind))) for each, kind in zip(given, kinds, strict=True)]
    params = ", ".join(
        f'{name}: R.Tensor((3, 4), "{kind}")' for name, kind in zip("xy", kinds, strict=False)
    )
    one, other = both(params, call, *values)
    assert one.tolist() == other.tolist() == wanted(*values).tolist()
    assert one.shape == wanted(*values).shape


@pytest.mark.parametrize(
    ("mode", "widths"), [("circular", (4, 0)), ("circular", (0, 4)), ("reflect", (3, 0))]
)
def test_padding_that_may_be_wider_than_the_axis_stays_an_operator(
    mode: str, widths: tuple[int, int]
) -> None:
    text = f"""@R.function
def main(x: R.Tensor(("n",), "int32")):
    y = R.nn.pad(x, {widths}, pad_mode="{mode}")
    return y
"""
    module = rlx.parse(text)
    ended = load(module).run("main", [to_value(np.arange(3, dtype=np.int32))], fuel=10**6)
    assert not isinstance(ended, Returned)
    (left,) = legalized(module).left
    assert left.reason.startswith("x is read outside")


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("begin", [-2, -1, 0, 2, 5])
def test_a_slice_that_begins_at_a_scalar(length: int, begin: int) -> None:
    """A scalar may be negative: then it counts from the end."""
    module = rlx.parse("""
@R.function
def main(x: R.Tensor(("n",), "float32"), k: R.Prim(value="k")):
    n = T.int64()
    k = T.int64()
    return R.strided_slice(x, [0], [k], [n])
""")
    x = np.arange(length, dtype="float32")
    for each in (module, legalize(module)):
        found = rlx.run(each, inputs={"x": x, "k": begin}).numpy()
        assert found.tolist() == x[begin:].tolist()
