"""One cast, one answer: of the checker, of the list of checks, of elimination and of the machine."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import analyse, comparisons
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, VOID, dtype
from rlx.semantics import cast
from rlx.semantics.machine import load
from rlx.semantics.outcome import CheckFailed, Returned
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import (
    Packed,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.solver.order.demands import Premise
from rlx.solver.prover import Prover
from rlx.transform.dynamic_checks import eliminate

HEAD = """
@I.ir_module
class M:
    @R.function
    def f(a: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        return a
    @R.function(pure=False)
    def g(a: R.Object) -> R.Object:
        return a
"""
ANSWERS = {
    ("cls.f", "R.Callable"): "redundant",
    ("cls.g", "R.Callable"): "redundant",
    ("cls.f", "R.Object"): "redundant",
    ("cls.f", 'R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32"))'): "needed",
    ("cls.f", 'R.Callable((R.Tensor((k,), "float32"),), R.Tensor((k,), "float32"))'): "redundant",
    ("cls.f", "R.Callable((R.Object, R.Object), R.Object)"): "impossible",
    ("cls.f", 'R.Callable((R.Tensor((4,), "float32"),), R.Shape)'): "impossible",
    ("cls.f", "R.Callable(ret=R.Shape)"): "impossible",
    ("cls.f", "R.Tensor"): "impossible",
    ('R.ExternFunc("h")', "R.Callable"): "redundant",
    ('R.ExternFunc("h")', "R.Shape"): "impossible",
    ("(cls.f, x)", "R.Tuple(R.Callable, R.Tensor)"): "redundant",
    ("(cls.f, x)", "R.Tuple(R.Callable)"): "impossible",
    ("R.prim_value(3)", "T.int64"): "redundant",
    ("R.prim_value(3)", "T.int32"): "impossible",
    ("R.prim_value(3)", "R.Prim(value=4)"): "impossible",
    ("R.shape([1, 2])", "R.Shape(ndim=2)"): "redundant",
    ("R.shape([1, 2])", "R.Shape([2, 2])"): "impossible",
    ("x", "R.Tensor(ndim=1)"): "redundant",
    ("x", 'R.Tensor((0,), "float32")'): "impossible",
    ('R.str("a")', "R.Tensor"): "needed",
}
FAILS = {
    ("cls.f", "R.Callable(purity=True, ret=R.Shape)"),
    ("cls.g", "R.Callable(purity=True, ret=R.Object)"),
    ('R.ExternFunc("h")', "R.Callable((R.Object,), R.Object, False)"),
    ('R.str("a")', "R.Tensor"),
}
"""Casts that fail though what is known of the value may not say so."""


@pytest.mark.parametrize(("value", "target"), [*ANSWERS, *sorted(FAILS - set(ANSWERS))])
def test_all_agree(value: str, target: str) -> None:
    text = f"""{HEAD}
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Object:
        cls = M
        v = {value}
        y = R.match_cast(v, {target})
        return y
"""
    report = check_text(text)
    codes = [d.code for d in report.diagnostics]
    (module,) = report.modules
    (check,) = [c for c in analyse(module) if c.kind == "cast"]
    if (value, target) in ANSWERS:
        assert check.status == ANSWERS[value, target]
    assert codes == (["D11-cast"] if check.status == "impossible" else [])
    removed = eliminate(module) is not module
    assert removed == (check.status == "redundant")
    outcome = load(module, packed={"h": lambda *_: None}).run(
        "main", [Tensor(np.zeros(4, "float32"))]
    )
    fails = check.status == "impossible" or (value, target) in FAILS
    assert isinstance(outcome, CheckFailed if fails else Returned)


N, M = tir.Var("n"), tir.Var("m")
DIMS = st.lists(
    st.sampled_from([N, M, tir.Add(N, M), tir.IntImm(0), tir.IntImm(2), tir.IntImm(-1)]), max_size=3
).map(tuple)
KINDS = st.sampled_from([VOID, dtype("float32"), INT64])
DEVICES = st.sampled_from([None, ast.VDevice("cuda", 0), ast.VDevice("llvm", 0)])
INFOS: st.SearchStrategy[ast.StructInfo] = st.recursive(
    st.one_of(
        st.just(ast.ObjectStructInfo()),
        st.builds(ast.FuncStructInfo, st.none(), st.just(ast.ObjectStructInfo()), st.booleans()),
        st.builds(ast.PrimStructInfo, st.just(INT64), st.sampled_from([None, N, tir.IntImm(2)])),
        st.builds(lambda d: ast.ShapeStructInfo(d, len(d)), DIMS),
        st.builds(ast.ShapeStructInfo, st.none(), st.integers(-1, 3)),
        st.builds(
            lambda d, k, v: ast.TensorStructInfo(ast.ShapeExpr(d), k, len(d), v),
            DIMS,
            KINDS,
            DEVICES,
        ),
        st.builds(lambda n, k: ast.TensorStructInfo(None, k, n), st.integers(-1, 3), KINDS),
    ),
    lambda inner: st.lists(inner, max_size=2).map(lambda fs: ast.TupleStructInfo(tuple(fs))),
    max_leaves=4,
)
SIZES = st.lists(st.sampled_from([0, 1, 2]), max_size=3).map(tuple)
VALUES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(
        st.just(Packed(lambda *_: ShapeValue(()))),
        st.builds(Scalar, st.integers(0, 2)),
        st.builds(ShapeValue, SIZES),
        st.builds(
            lambda s, k, v: Tensor(np.zeros(s, k), v),
            SIZES,
            st.sampled_from(["float32", "int64"]),
            st.sampled_from([("cuda", 0), ("llvm", 0)]),
        ),
    ),
    lambda inner: st.lists(inner, max_size=2).map(lambda fs: TupleValue(tuple(fs))),
    max_leaves=4,
)


@given(INFOS, VALUES)
def test_of_a_known_value_the_judgement_says_what_the_machine_does(
    info: ast.StructInfo, value: Value
) -> None:
    (said,) = comparisons.PartJudge(Prover(), (N, M), {}).judge([struct_info_of(value)], [info])
    try:
        cast.check([value], [info], {})
        passed = True
    except cast.CastFailed as failed:
        passed = failed.code == "E-cast-undefined"
    statuses = {part.status for part in said}
    if not passed:
        assert statuses & {"impossible", "needed"}
    else:
        assert "impossible" not in statuses


def test_every_premise_has_its_reader() -> None:
    assert set(get_args(Premise)) == set(cast.COMPARED) == set(comparisons.JUDGED)


def test_a_shape_value_may_hold_negative_numbers() -> None:
    """Dimensions of a tensor are not negative; those of a shape value may be."""
    wanted = ast.ShapeStructInfo((tir.IntImm(-1),), 1)
    for found in (None, ast.ObjectStructInfo()):
        (said,) = comparisons.PartJudge(Prover(), (), {}).judge([found], [wanted])
        assert all(part.status == "needed" for part in said)
    assert cast.check([ShapeValue((-1,))], [wanted], {}) == {}
