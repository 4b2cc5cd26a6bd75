"""D16: what a PrimFunc looks like to Relax code."""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.dtype import HANDLE, INT64
from rlx.grammar.struct_infos import OBJECT
from rlx.solver.prim_exprs import transform
from rlx.spec.registry import rule

_NOTHING = TupleStructInfo(())


@rule("D16", "24d92d8b", "derivation")
def prim_func(function: tir.PrimFunc) -> FuncStructInfo:
    """Its parameters are mutated, so a direct call has effects; `call_tir` is the pure way (ledger
    33).
    """
    buffers = function.buffer_map
    mentioned = {v for b in buffers.values() for extent in b.shape for v in tir.free_vars(extent)}
    wide = {v: tir.Var(v.name) for v in mentioned if v.dtype != INT64}
    binders: dict[tir.Var, None] = {}
    params = tuple(
        [_parameter(p, buffers.get(p), mentioned, binders, wide) for p in function.params]
    )
    ret = _NOTHING if function.ret_type is None else PrimStructInfo(function.ret_type)
    return FuncStructInfo(params, ret, False, None, tuple(binders))


def _parameter(
    param: tir.Var,
    buffer: tir.Buffer | None,
    mentioned: set[tir.Var],
    binders: dict[tir.Var, None],
    wide: dict[tir.Var, tir.Var],
) -> StructInfo:
    """A buffer is a tensor; a scalar a Prim, whose value counts if a shape mentions it; a bare
    handle anything.
    """
    if buffer is not None:
        shape = tuple([_widened(extent, wide) for extent in buffer.shape])
        binders.update(dict.fromkeys(e for e in shape if isinstance(e, tir.Var)))
        return TensorStructInfo(ShapeExpr(shape), buffer.dtype, len(shape))
    if param.dtype == HANDLE:
        return OBJECT
    if param in mentioned:
        value = wide.get(param, param)
        binders[value] = None
        return PrimStructInfo(param.dtype, value)
    return PrimStructInfo(param.dtype)


def _widened(extent: tir.PrimExpr, wide: dict[tir.Var, tir.Var]) -> tir.PrimExpr:
    """An extent as a dimension of a tensor, which is int64 whatever the kernel counts with."""

    def widen(node: tir.PrimExpr) -> tir.PrimExpr | None:
        match node:
            case tir.IntImm(value=value, dtype=dtype) if dtype != INT64:
                return tir.IntImm(value)
            case tir.Var():
                return wide.get(node)
        return None

    leaf = type(extent) is tir.IntImm or type(extent) is tir.Var
    return widen(extent) or extent if leaf else transform((extent,), widen)[0]
