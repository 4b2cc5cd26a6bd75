"""Comparisons prepared for simple annotations decide as E-cast does."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, INT64, VOID, dtype
from rlx.semantics.cast import CastFailed, check
from rlx.semantics.machine.signature import fast_check
from rlx.semantics.values import NULL, Scalar, ShapeValue, Tensor, Value

N, M = tir.Var("n"), tir.Var("m")
DIMS = st.lists(st.sampled_from([N, M, tir.IntImm(2), tir.IntImm(0)]), max_size=3).map(tuple)
KINDS = st.sampled_from([dtype("float32"), dtype("int64"), BOOL, dtype("bfloat16")])
SIZES = st.lists(st.sampled_from([0, 1, 2]), max_size=3).map(tuple)


def tensor(dims: tuple[tir.PrimExpr, ...], kind: Any) -> ast.StructInfo:
    return ast.TensorStructInfo(ast.ShapeExpr(dims), kind, len(dims))


INFOS = st.one_of(
    st.just(ast.ObjectStructInfo()),
    st.builds(ast.PrimStructInfo, KINDS),
    st.builds(ast.PrimStructInfo, st.just(INT64), st.sampled_from([N, M])),
    st.builds(lambda d: ast.ShapeStructInfo(d, len(d)), DIMS),
    st.builds(tensor, DIMS, KINDS | st.just(VOID)),
    st.builds(lambda n, k: ast.TensorStructInfo(None, k, n), st.integers(-1, 3), KINDS),
)
VALUES: st.SearchStrategy[Value] = st.one_of(
    st.just(NULL),
    st.builds(Scalar, st.integers(0, 2)),
    st.builds(Scalar, st.booleans(), st.just(BOOL)),
    st.builds(ShapeValue, SIZES),
    st.builds(
        lambda s, k: Tensor(np.zeros(s, k)), SIZES, st.sampled_from(["float32", "int64", "?"])
    ),
)


@given(st.lists(st.tuples(INFOS, VALUES), max_size=3))
def test_both_agree(pairs: list[tuple[ast.StructInfo, Value]]) -> None:
    infos, values = [i for i, _ in pairs], [v for _, v in pairs]
    try:
        wanted = check(values, infos, {})
    except CastFailed:
        wanted = None
    fits = fast_check(infos, (N, M))
    assert fits is not None
    numbers: list[Any] = [None, None]
    accepted = all(fit(value, numbers) for fit, value in zip(fits, values, strict=True))
    assert accepted == (wanted is not None)
    if wanted is not None:
        assert {v: k for v, k in zip((N, M), numbers, strict=True) if k is not None} == wanted


def test_what_is_not_simple() -> None:
    assert fast_check([tensor((tir.Add(N, M),), VOID)], (N, M)) is None
    assert fast_check([tensor((N,), VOID)], ()) is None
    assert fast_check([tensor((N,), dtype("float32x4"))], (N,)) is None
