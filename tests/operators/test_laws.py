"""Laws that hold for all shapes: of broadcasting, and of the arithmetic that results are written with."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import ShapeExpr, TensorStructInfo
from rlx.operators import dim_arithmetic
from rlx.solver.evaluate import evaluate
from tests.operators.context import constant, derive, k, m, n, prim, tensor

POINT = {n: 5, m: 3, k: 8}

lengths = st.sampled_from([1, 2, 3, n, m, k])
shapes = st.lists(lengths, max_size=4).map(tuple)


def concrete(info: Any) -> object:
    """A derived shape at one point; only the rank where the shape is not known."""
    assert isinstance(info, TensorStructInfo)
    if isinstance(info.shape, ShapeExpr):
        return tuple(int(evaluate(dim, POINT)) for dim in info.shape.values)
    return info.ndim


@given(shapes, shapes)
def test_broadcast_is_commutative(a: Any, b: Any) -> None:
    left, right = derive("add", tensor(a), tensor(b)), derive("add", tensor(b), tensor(a))
    assert concrete(left.info) == concrete(right.info)
    assert [r[:2] for r in left.reports] == [r[:2] for r in right.reports]


@given(shapes, shapes, shapes)
def test_broadcast_is_associative(a: Any, b: Any, c: Any) -> None:
    first, last = derive("add", tensor(a), tensor(b)), derive("add", tensor(b), tensor(c))
    left, right = derive("add", first.info, tensor(c)), derive("add", tensor(a), last.info)
    if not any((first.reports, last.reports, left.reports, right.reports)):
        assert concrete(left.info) == concrete(right.info)


@given(shapes)
def test_broadcast_is_idempotent_and_keeps_the_annotation(a: Any) -> None:
    info = tensor(a)
    assert derive("add", info, info).info is info
    assert derive("add", info, tensor(())).info is info


@given(shapes, shapes)
def test_what_broadcasts_to_a_shape_broadcasts_with_it(a: Any, b: Any) -> None:
    if not derive("broadcast_to", tensor(a), b).reports:
        found = derive("add", tensor(a), tensor(b))
        assert found.reports == []
        assert concrete(found.info) == concrete(tensor(b))


@given(shapes, st.randoms(use_true_random=False))
def test_permuting_back_gives_the_shape_back(a: Any, random: Any) -> None:
    order = list(range(len(a)))
    random.shuffle(order)
    there = derive("permute_dims", tensor(a), axes=order).info
    back = derive("permute_dims", there, axes=[order.index(axis) for axis in range(len(a))]).info
    assert concrete(back) == concrete(tensor(a))


@given(shapes)
def test_reshaping_to_one_axis_and_back_proves_itself(a: Any) -> None:
    flat = derive("reshape", tensor(a), (-1,))
    assert flat.reports == []
    back = derive("reshape", flat.info, a)
    assert back.reports == []
    assert concrete(back.info) == concrete(tensor(a))


@given(shapes, st.data())
def test_splitting_and_joining_gives_the_shape_back(a: Any, data: Any) -> None:
    if not a:
        return
    axis = data.draw(st.integers(0, len(a) - 1))
    cuts = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3).map(sorted))
    parts = derive("split", tensor(a), cuts, axis=axis)
    assert parts.reports == []
    joined = derive("concat", tuple(parts.info.fields), axis=axis)  # type: ignore[attr-defined]
    assert concrete(joined.info) == concrete(tensor(a))


@given(st.integers(0, 12), st.integers(-13, 13), st.integers(-13, 13), st.integers(-4, 4))
def test_slices_have_the_length_python_gives_them(
    size: int, low: int, high: int, step: int
) -> None:
    if step == 0:
        return
    found = derive(
        "strided_slice", tensor((size,)), axes=[0], begin=[low], end=[high], strides=[step]
    )
    expected = range(size)[low:high:step]
    if found.reports:
        assert found.codes == ["OBL-slice-order"]
        assert len(expected) == 0
    else:
        assert concrete(found.info) == (len(expected),)


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5))
def test_ranges_have_the_length_python_gives_them(start: int, end: int, step: int) -> None:
    found = derive("arange", start, end, step)
    if found.reports:
        assert found.codes == ["OBL-arange-step" if step == 0 else "OBL-arange-length"]
        assert step == 0 or len(range(start, end, step)) == 0
    else:
        assert concrete(found.info) == (len(range(start, end, step)),)


@given(st.integers(0, 4), st.lists(st.integers(-6, 5), min_size=1, max_size=3))
def test_indices_are_out_of_bounds_where_numpy_says_so(size: int, indices: list[int]) -> None:
    """Negative indices count from the end; only `take` has none."""
    data, places = np.zeros(size), np.array(indices)
    try:
        np.take_along_axis(data, places, 0)
        wrong = []
    except IndexError:
        wrong = ["OBL-bounds-index"]
    literal = constant(tuple(indices), "int64")
    found = [
        derive("gather_elements", tensor((size,)), literal, axis=0),
        derive(
            "scatter_elements", tensor((size,)), literal, tensor((len(indices),)), reduction="add"
        ),
    ]
    negative = derive("take", tensor((size,)), literal, axis=0)
    assert [sorted(set(one.codes)) for one in found] == [wrong, wrong]
    assert bool(negative.codes) == (bool(wrong) or min(indices) < 0)


OPERATIONS: dict[str, Any] = {
    "add": (dim_arithmetic.add, lambda a, b: a + b),
    "sub": (dim_arithmetic.sub, lambda a, b: a - b),
    "mul": (dim_arithmetic.mul, lambda a, b: a * b),
    "floordiv": (dim_arithmetic.floordiv, lambda a, b: a // b),
    "ceildiv": (dim_arithmetic.ceildiv, lambda a, b: -(-a // b)),
    "minimum": (dim_arithmetic.minimum, min),
    "maximum": (dim_arithmetic.maximum, max),
}

terms = st.recursive(
    st.one_of(st.sampled_from([n, m, k]), st.integers(-6, 6).map(prim)),
    lambda inner: st.builds(
        lambda name, a, b: OPERATIONS[name][0](a, b),
        st.sampled_from(["add", "sub", "mul", "minimum", "maximum"]),
        inner,
        inner,
    ),
    max_leaves=8,
)


@given(terms, terms, st.sampled_from(sorted(OPERATIONS)))
def test_arithmetic_of_dimensions_keeps_values(a: tir.PrimExpr, b: tir.PrimExpr, name: str) -> None:
    build, meaning = OPERATIONS[name]
    x, y = int(evaluate(a, POINT)), int(evaluate(b, POINT))
    if (name == "floordiv" and y == 0) or (name == "ceildiv" and y <= 0):
        return
    assert evaluate(build(a, b), POINT) == meaning(x, y)


@given(st.lists(terms, max_size=4))
def test_products_and_sums_keep_values(factors: list[tir.PrimExpr]) -> None:
    values = [int(evaluate(f, POINT)) for f in factors]
    whole = 1
    for number in values:
        whole *= number
    assert evaluate(dim_arithmetic.product(factors), POINT) == whole
    assert evaluate(dim_arithmetic.total(factors), POINT) == sum(values)
