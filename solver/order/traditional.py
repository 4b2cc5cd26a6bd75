"""Traditional types: StructInfo without expressions."""

from __future__ import annotations

from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.solver.order.substitute import rank
from rlx.spec.registry import rule


@rule("TYPE-erase", "type")
def to_type(info: StructInfo) -> StructInfo:
    """The traditional type of a StructInfo, as a StructInfo without further information.

    ``DynTensorType(ndim, dtype)`` is ``TensorStructInfo(dtype=dtype, ndim=ndim)`` and so on;
    ``PackedFuncType`` is the opaque function that derives Object. Purity is kept (ledger 50).
    """
    match info:
        case TensorStructInfo(dtype=dtype):
            return TensorStructInfo(None, dtype, rank(info))
        case ShapeStructInfo():
            return ShapeStructInfo(None, rank(info))
        case PrimStructInfo(dtype=dtype):
            return PrimStructInfo(dtype)
        case TupleStructInfo(fields=fields):
            return TupleStructInfo(tuple(to_type(f) for f in fields))
        case FuncStructInfo(params=None, purity=purity):
            return FuncStructInfo(None, OBJECT, purity, "empty")
        case FuncStructInfo(params=tuple() as params, ret=ret, purity=purity):
            return FuncStructInfo(tuple(to_type(p) for p in params), to_type(ret), purity)
    return OBJECT
