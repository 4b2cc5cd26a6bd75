"""D16: what a PrimFunc looks like to Relax code."""

from __future__ import annotations

from rlx.checker.derive.state import OBJECT
from rlx.grammar import tir
from rlx.grammar.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.dtype import HANDLE
from rlx.spec.registry import rule

_NOTHING = TupleStructInfo(())


@rule("D16", "93814d20")
def prim_func(function: tir.PrimFunc) -> FuncStructInfo:
    """Its parameters are mutated, so a direct call has effects; `call_tir` is the pure way (ledger 33)."""
    buffers = function.buffer_map
    mentioned = {v for b in buffers.values() for extent in b.shape for v in tir.free_vars(extent)}
    binders: dict[tir.Var, None] = {}
    params = tuple([_parameter(p, buffers.get(p), mentioned, binders) for p in function.params])
    ret = _NOTHING if function.ret_type is None else PrimStructInfo(function.ret_type)
    return FuncStructInfo(params, ret, False, None, tuple(binders))


def _parameter(
    param: tir.Var,
    buffer: tir.Buffer | None,
    mentioned: set[tir.Var],
    binders: dict[tir.Var, None],
) -> StructInfo:
    """A buffer is a tensor; a scalar a Prim, whose value counts if a shape mentions it; a bare handle anything."""
    if buffer is not None:
        binders.update(dict.fromkeys(e for e in buffer.shape if isinstance(e, tir.Var)))
        return TensorStructInfo(ShapeExpr(buffer.shape), buffer.dtype, len(buffer.shape))
    if param.dtype == HANDLE:
        return OBJECT
    if param in mentioned:
        binders[param] = None
        return PrimStructInfo(param.dtype, param)
    return PrimStructInfo(param.dtype)
