"""Values of operators, computed by hand; and the operands for which there is none."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.operators import lookup
from rlx.operators.evaluation import OperatorFault, Plain, numpy_dtype

NAN, INF = float("nan"), float("inf")


class Run:
    """An evaluation with nothing around it."""

    info = None

    def prim(self, expr: tir.PrimExpr) -> int:
        assert isinstance(expr, tir.IntImm)
        return expr.value

    def value(self, expr: ast.Expr) -> Plain:
        raise AssertionError(expr)


def run(name: str, *args: Plain, **attrs: Any) -> Any:
    operator = lookup(f"relax.{name}")
    assert operator is not None and operator.compute is not None, name
    written = tuple(map(_written, args))
    return operator.evaluate(ast.Call(ast.op(operator.name), written, attrs), args, Run())


def _written(value: Plain) -> ast.Expr:
    """An expression with that value: shapes are written out."""
    if isinstance(value, tuple) and all(isinstance(n, int) for n in value):
        return ast.ShapeExpr(tuple(map(tir.IntImm, value)))
    return ast.Var("x")


def f32(*values: Any) -> Any:
    return np.array(values, np.float32)


def i8(*values: Any) -> Any:
    return np.array(values, np.int8)


def i64(*values: Any) -> Any:
    return np.array(values, np.int64)


BOOLEANS = np.array([True, False])
INT4 = np.dtype(ml_dtypes.int4)
GRID = np.arange(6, dtype=np.float32).reshape(2, 3)

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("divide", (i8(-7, 7, -8), i8(2, -2, 3)), {}, i8(-3, -3, -2)),
    ("divide", (i8(-128), i8(-1)), {}, i8(-128)),
    ("mod", (i8(-7, 7), i8(2, -2)), {}, i8(-1, 1)),
    ("floor_divide", (i8(-7, 7), i8(2, -2)), {}, i8(-4, -4)),
    ("floor_mod", (i8(-7, 7), i8(2, -2)), {}, i8(1, -1)),
    ("divide", (f32(1, -1, 0), f32(0, 0, 0)), {}, f32(INF, -INF, NAN)),
    ("add", (i8(127), i8(1)), {}, i8(-128)),
    ("add", (np.array([7], INT4), np.array([1], INT4)), {}, np.array([-8], INT4)),
    ("add", (f32(1, 2), 1.5), {}, f32(2.5, 3.5)),
    ("add", (2, 3), {}, 5),
    ("less", (2, 3), {}, True),
    ("power", (i8(2, 3), i8(3, 5)), {}, i8(8, 243 - 256)),
    ("left_shift", (i8(1, 64), i8(3, 1)), {}, i8(8, -128)),
    ("right_shift", (i8(-8), i8(1)), {}, i8(-4)),
    ("logical_and", (BOOLEANS, np.array([True])), {}, BOOLEANS),
    (
        "astype",
        (f32(1.9, -1.9, 300, -300, NAN, INF),),
        {"dtype": "int8"},
        i8(1, -1, 127, -128, 0, 127),
    ),
    ("astype", (f32(100, -100, 8, NAN),), {"dtype": "int4"}, np.array([7, -8, 7, 0], INT4)),
    ("astype", (f32(100, -100),), {"dtype": "uint4"}, np.array([15, 0], ml_dtypes.uint4)),
    ("astype", (i64(8, -9),), {"dtype": "int4"}, np.array([-8, 7], INT4)),
    ("astype", (i64(300, -129),), {"dtype": "int8"}, i8(44, 127)),
    ("astype", (f32(9.3e18, -9.3e18),), {"dtype": "int64"}, i64(2**63 - 1, -(2**63))),
    ("astype", (f32(0, 0.5, NAN),), {"dtype": "bool"}, np.array([False, True, True])),
    ("sign", (f32(-2, 0, 3),), {}, f32(-1, 0, 1)),
    ("round", (f32(0.5, 1.5, 2.5, -0.5),), {}, f32(0, 2, 2, -0.0)),
    ("sigmoid", (f32(0, -1000, 1000),), {}, f32(0.5, 0, 1)),
    ("erf", (f32(0, 1, -7, NAN),), {}, f32(0, 0.8427007929497149, -1, NAN)),
    ("nn.relu", (f32(-1, 2, NAN),), {}, f32(0, 2, NAN)),
    ("nn.leakyrelu", (f32(-2, 2),), {"alpha": 0.5}, f32(-1, 2)),
    ("clip", (i8(-5, 5, 100),), {"min": 0, "max": 1000}, i8(0, 5, 100)),
    ("tril", (GRID,), {"k": 0}, f32([0, 0, 0], [3, 4, 0])),
    ("isnan", (f32(NAN, INF),), {}, BOOLEANS),
    ("sum", (i8(100, 100),), {}, np.array(-56, np.int8)),
    ("sum", (np.zeros((0, 2), np.float32),), {"axis": (0,)}, f32(0, 0)),
    ("prod", (np.zeros((0,), np.float32),), {}, np.array(1, np.float32)),
    ("sum", (BOOLEANS,), {}, np.array(True)),
    ("mean", (GRID,), {"axis": (1,), "keepdims": True}, f32([1], [4])),
    ("mean", (i64(-3, 0),), {}, np.array(-1, np.int64)),
    ("mean", (i64(-(1 << 63), -2, 2),), {}, np.array(-((1 << 63) // 3), np.int64)),
    ("variance", (f32(1, 3),), {}, np.array(1, np.float32)),
    ("max", (np.zeros((0, 0), np.float32),), {"axis": (1,)}, np.zeros((0,), np.float32)),
    ("argmax", (f32(1, 3, 3),), {}, np.array(1, np.int64)),
    ("cumsum", (GRID,), {"axis": 1, "exclusive": True}, f32([0, 0, 1], [0, 3, 7])),
    ("cumsum", (GRID,), {}, f32(0, 1, 3, 6, 10, 15)),
    ("cumprod", (i8(100, 100),), {"dtype": "int64"}, i64(100, 10000)),
    ("median", (f32(3, 1, 2, 5),), {}, np.array(2, np.float32)),
    ("median", (f32(3, 1, 2),), {"axis": (0,)}, (np.array(2, np.float32), np.array(2, np.int64))),
    ("arange", (5,), {}, i64(0, 1, 2, 3, 4)),
    ("arange", (5, 0, -2), {}, i64(5, 3, 1)),
    ("arange", (0, 1, 0.5), {}, f32(0, 0.5)),
    ("full", ((2,), np.array(7, np.int8)), {}, i8(7, 7)),
    ("full", ((2,), np.array(7, np.int8)), {"dtype": "float32"}, f32(7, 7)),
    ("full", ((2,), np.array(-3, np.float32)), {"dtype": "uint8"}, np.array([0, 0], np.uint8)),
    ("full_like", (f32(1, 2), np.array(300, np.float32)), {"dtype": "int8"}, i8(127, 127)),
    ("eye", (2, 3), {"k": 1}, f32([0, 1, 0], [0, 0, 1])),
    ("hamming_window", (1, False, 0.5, 0.4, dtype("float32")), {}, f32(1)),
    ("hamming_window", (3, False, 0.5, 0.4, dtype("float32")), {}, f32(0.1, 0.9, 0.1)),
    ("zeros", ((0, 2),), {"dtype": "int8"}, np.zeros((0, 2), np.int8)),
    ("shape_of", (GRID,), {}, (2, 3)),
    ("size", (GRID,), {}, np.array(6, np.int64)),
    ("tensor_to_shape", (i64(2, 3),), {}, (2, 3)),
    ("shape_to_tensor", ((2, 3),), {}, i64(2, 3)),
    ("reshape", (GRID, (3, -1)), {}, f32([0, 1], [2, 3], [4, 5])),
    ("reshape", (GRID, (0, 3, 1)), {}, GRID.reshape(2, 3, 1)),
    ("permute_dims", (GRID,), {}, f32([0, 3], [1, 4], [2, 5])),
    ("squeeze", (np.zeros((1, 2, 1), np.int8),), {}, i8(0, 0)),
    ("flip", (i8(1, 2, 3), 0), {}, i8(3, 2, 1)),
    ("reverse_sequence", (GRID, i64(2, 3)), {"batch_axis": 0}, f32([1, 0, 2], [5, 4, 3])),
    ("tile", (i8(1, 2), (2, 2)), {}, i8([1, 2, 1, 2], [1, 2, 1, 2])),
    ("repeat", (i8(1, 2), 2), {}, i8(1, 1, 2, 2)),
    (
        "nn.pixel_shuffle",
        (np.arange(4, dtype=np.int8).reshape(1, 4, 1, 1), 2),
        {},
        i8([[[0, 1], [2, 3]]]),
    ),
    ("broadcast_to", (i8(1, 2), (2, 2)), {}, i8([1, 2], [1, 2])),
    ("collapse_sum_to", (GRID, (1, 3)), {}, f32([3, 5, 7])),
    ("concat", ((i8(1), i8(2, 3)),), {"axis": 0}, i8(1, 2, 3)),
    ("stack", ((i8(1, 2), i8(3, 4)),), {"axis": 1}, i8([1, 3], [2, 4])),
    ("split", (i8(1, 2, 3), 2), {}, (i8(1, 2), i8(3))),
    ("split", (i8(1, 2, 3), (1, 1)), {}, (i8(1), i8(), i8(2, 3))),
    ("meshgrid", ((i8(1, 2), i8(3)),), {}, (i8([1], [2]), i8([3], [3]))),
    ("strided_slice", (i8(0, 1, 2, 3), (0,), (-1,), (-100,), (-2,)), {}, i8(3, 1)),
    ("strided_slice", (i8(0, 1, 2, 3), (0,), (3,), (1,)), {}, i8()),
    ("dynamic_strided_slice", (GRID, i64(0, 1), i64(2, 3), i64(1, 1)), {}, f32([1, 2], [4, 5])),
    ("slice_scatter", (i8(0, 0, 0), i8(7), 1, 2, 1), {}, i8(0, 7, 0)),
    ("take", (i8(5, 6, 7), i64(2, 0)), {"axis": 0}, i8(7, 5)),
    ("take", (i8(5, 6, 7), 1), {"axis": 0}, np.array(6, np.int8)),
    ("take", (i8(5, 6, 7), i64(-1, 4)), {"axis": 0, "mode": "wrap"}, i8(7, 6)),
    ("take", (i8(5, 6, 7), i64(-1, 4)), {"axis": 0, "mode": "clip"}, i8(5, 7)),
    ("take", (f32(5, 6), i64(1, 2)), {"axis": 0, "mode": "nan"}, f32(6, NAN)),
    ("take", (f32(5, 6), i64(1, -1)), {"axis": 0, "mode": "nan"}, f32(6, NAN)),
    ("take", (i8(5, 6), i64(1, 0)), {"axis": 0, "mode": "nan"}, i8(6, 5)),
    ("gather_elements", (GRID, i64([2], [-3])), {"axis": 1}, f32([2], [3])),
    ("gather_nd", (GRID, i64([1, 2])), {}, f32(5)),
    ("gather_nd", (GRID, i64([1], [0])), {"batch_dims": 1}, f32(1, 3)),
    ("scatter_elements", (i8(0, 0, 0), i64(1, 1), i8(5, 6)), {}, i8(0, 6, 0)),
    ("scatter_elements", (i8(0, 0, 0), i64(1, 1), i8(5, 6)), {"reduction": "add"}, i8(0, 11, 0)),
    ("scatter_nd", (i8(0, 0, 0), i64([2], [0]), i8(5, 6)), {}, i8(6, 0, 5)),
    ("index_tensor", (GRID, (i64(1, 0), i64(2, 0))), {}, f32(5, 0)),
    ("index_put", (i8(0, 0, 0), (i64(1, 1),), i8(5, 6)), {}, i8(0, 6, 0)),
    ("index_put", (i8(0, 0, 0), (i64(1, 1),), i8(5, 6)), {"accumulate": True}, i8(0, 11, 0)),
    ("index_put", (i8(0, 0, 0), (i64(0, 1),), i8([5, 6])), {}, i8(5, 6, 0)),
    ("one_hot", (i64(1, 5), 1.0, 0.0, 2), {}, f32([0, 1], [0, 0])),
    ("where", (BOOLEANS, i8(1, 2), i8(3)), {}, i8(1, 3)),
    ("nonzero", (GRID,), {}, i64([0, 0, 1, 1, 1], [1, 2, 0, 1, 2])),
    ("bucketize", (f32(1, 2.5), f32(1, 2, 3)), {"right": True}, i64(1, 2)),
    (
        "unique",
        (i8(3, 1, 3),),
        {"return_inverse": True, "return_counts": True},
        (i8(1, 3), i64(1, 0, 1), i64(1, 2)),
    ),
    ("sort", (f32(2, NAN, 1),), {}, f32(1, 2, NAN)),
    ("argsort", (i8(1, 2, 1, 2),), {"descending": True}, np.array([1, 3, 0, 2], np.int32)),
    ("topk", (i8(1, 3, 2),), {"k": 2}, (i8(3, 2), np.array([1, 2], np.int32))),
    ("topk", (i8(1, 3, 2),), {"k": 1, "largest": False, "ret_type": "values"}, i8(1)),
    (
        "multinomial_from_uniform",
        (f32([0.25, 0.75]), f32([0.2], [0.3]), i64([0], [0])),
        {},
        i64([0], [1]),
    ),
    ("null_value", (), {}, None),
]


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple) and not all(isinstance(x, int) for x in expected):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, np.ndarray):
        floats = expected.dtype.kind == "f"
        close = (
            np.allclose(found, expected, 1e-6, 1e-7, True)
            if floats
            else np.array_equal(found, expected)
        )
        return bool(found.dtype == expected.dtype and found.shape == expected.shape and close)
    return type(found) is type(expected) and found == expected


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_value(case: Any) -> None:
    name, args, attrs, expected = case
    found = run(name, *args, **attrs)
    assert same(found, expected), (found, expected)


EXPECTED_ALONE = [name for name, *_ in CASES]
"""Operators whose results have sizes that only the values tell."""

FAULTS: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ("E-operator-arguments", "sum", (), {}),
    ("E-operator-arguments", "sum", (3,), {}),
    ("E-operator-dtype", "bitwise_and", (f32(1), f32(1)), {}),
    ("E-operator-dtype", "zeros", ((1,),), {"dtype": "float32x4"}),
    ("E-divide-zero", "divide", (i8(1), i8(0)), {}),
    ("E-divide-zero", "floor_mod", (i8(1, 2), i8(1, 0)), {}),
    ("E-shift-range", "left_shift", (i8(1), i8(8)), {}),
    ("E-shift-range", "right_shift", (i8(1), i8(-1)), {}),
    ("E-broadcast-dims", "add", (i8(1, 2), i8(1, 2, 3)), {}),
    ("E-broadcast-dims", "broadcast_to", (i8(1, 2), (1,)), {}),
    ("E-reshape-infer", "reshape", (GRID, (4, -1)), {}),
    ("E-reshape-infer", "reshape", (GRID, (-1, -1)), {}),
    ("E-join-dims", "concat", ((GRID, GRID[:, :2]),), {"axis": 0}),
    ("E-join-dims", "stack", ((GRID, GRID[:, :2]),), {"axis": 0}),
    ("E-split-sections", "split", (i8(1, 2, 3, 4, 5), 4), {}),
    ("E-split-sections", "split", (i8(1, 2, 3), (2, 1)), {}),
    ("E-index-range", "take", (i8(1, 2), i64(2)), {"axis": 0}),
    ("E-index-range", "take", (i8(1, 2), i64(-1)), {"axis": 0}),
    ("E-index-range", "take", (i8(1, 2), i64(2)), {"axis": 0, "mode": "nan"}),
    ("E-index-range", "take", (np.array([True]), i64(2)), {"axis": 0, "mode": "nan"}),
    ("E-index-range", "gather_nd", (GRID, i64([0, 3])), {}),
    ("E-index-range", "topk", (i8(1, 2),), {"k": 3}),
    ("E-empty-reduction", "max", (np.zeros((0, 2), np.int8),), {"axis": (0,)}),
    ("E-empty-reduction", "mean", (np.zeros((0, 2), np.int8),), {"axis": (0,)}),
    ("E-bucketize-ascending", "bucketize", (f32(1), f32(2, 1)), {}),
    ("E-bucketize-ascending", "bucketize", (f32(1), f32(np.nan)), {}),
    (
        "E-draw-distribution",
        "multinomial_from_uniform",
        (np.ones((1, 2), np.float32), f32([0.5]), i64([0])),
        {},
    ),
    (
        "E-draw-distribution",
        "multinomial_from_uniform",
        (np.zeros((1, 0), np.float32), f32([0.5]), i64([0])),
        {},
    ),
    ("E-empty-reduction", "argmin", (np.zeros((0,), np.int8),), {}),
]


@pytest.mark.parametrize("name", ["mean", "variance", "std"])
def test_means_of_no_floats(name: str) -> None:
    for kind in (np.float16, np.float64, ml_dtypes.bfloat16):
        found = run(name, np.zeros((0, 2), kind), axis=(0,))
        assert (
            found.dtype == kind and found.shape == (2,) and np.isnan(found.astype(np.float64)).all()
        )
        assert run(name, np.zeros((0, 2), kind), axis=(1,)).shape == (0,)


@pytest.mark.parametrize("case", FAULTS, ids=lambda c: f"{c[0]}-{c[1]}")
def test_no_value(case: Any) -> None:
    code, name, args, attrs = case
    with pytest.raises(OperatorFault) as found:
        run(name, *args, **attrs)
    assert found.value.code == code


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_are_summed_in_float32(kind: str) -> None:
    ones = np.ones(300).astype(numpy_dtype(dtype(kind)))
    assert float(run("sum", ones)) == float(np.float32(300).astype(ones.dtype))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("float8_e5m2", (INF, -INF, NAN)),
        ("float8_e4m3fn", (NAN, NAN, NAN)),
        ("float8_e4m3fnuz", (NAN, NAN, NAN)),
        ("float6_e2m3fn", (7.5, -7.5, -0.0)),
    ],
)
def test_floats_beyond_the_largest(kind: str, values: tuple[float, ...]) -> None:
    made = run("astype", f32(1e9, -1e9, NAN), dtype=kind)
    assert made.dtype == getattr(ml_dtypes, kind)
    assert str(made.astype(np.float64).tolist()) == str(list(values))


def test_a_norm_of_nothing_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scale = np.zeros(0, np.float32)
        made = run("nn.layer_norm", np.zeros((2, 0), np.float32), scale, scale, axes=(1,))
        assert made.shape == (2, 0)
        assert np.isnan(run("mean", np.zeros((0,), np.float32))).all()
