"""The numbers that values give to shape variables."""

from __future__ import annotations

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.semantics.struct_info_of import bound_by
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue

N, M, K = (tir.Var(name, dtype("int64")) for name in "nmk")


def _tensor(*dims: tir.PrimExpr) -> ast.TensorStructInfo:
    return ast.TensorStructInfo(ast.ShapeExpr(dims), dtype("float32"))


def test_each_kind_of_value_binds_the_variables_of_its_annotation() -> None:
    infos = [
        _tensor(N, tir.IntImm(4)),
        ast.ShapeStructInfo((M,)),
        ast.TupleStructInfo((ast.PrimStructInfo(dtype("int64"), K), _tensor(N))),
    ]
    values = [
        Tensor(np.zeros((3, 4), "float32")),
        ShapeValue((5,)),
        TupleValue((Scalar(7, dtype("int64")), Tensor(np.zeros(9, "float32")))),
    ]
    assert bound_by(values, infos) == {N: 3, M: 5, K: 7}


def test_what_does_not_fit_binds_nothing() -> None:
    infos = [_tensor(N, M), ast.ShapeStructInfo((M, K)), _tensor(tir.Add(N, N))]
    values = [Tensor(np.zeros(3, "float32")), Tensor(np.zeros(3, "float32")), ShapeValue((2,))]
    assert bound_by(values, infos) == {N: 3}
