"""Dimensions of a program under construction, interned so that comparisons are cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.struct_infos import OBJECT, children, numbers, with_children, with_numbers
from rlx.grammar.nodes.tir import IntImm, PrimExpr
from rlx.operators import dim_arithmetic as arithmetic

Dims = tuple[PrimExpr, ...]
Placement = Mapping[PrimExpr, PrimExpr]
"""The dimensions in place of the letters of a template, or of the shape variables of a signature.
"""

_FOLDED: dict[type[PrimExpr], Callable[[PrimExpr, PrimExpr], PrimExpr]] = {
    tir.Add: arithmetic.add,
    tir.Sub: arithmetic.sub,
    tir.Mul: arithmetic.mul,
}

const = arithmetic.const


def place(dim: PrimExpr, chosen: Placement) -> PrimExpr:
    """A dimension with its letters replaced, interned."""
    if type(dim) is IntImm and dim.dtype.bits == 64:
        return const(dim.value)
    return tir.interned(tir.fold(dim, _placed, dict(chosen)))


def _placed(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
    fold = _FOLDED.get(type(node))
    return tir.with_operands(node, operands) if fold is None else fold(*operands)


def place_info(info: ast.StructInfo, chosen: Placement) -> ast.StructInfo:
    """Struct info with the letters of its dimensions replaced."""
    inside = with_children(info, lambda part: place_info(part, chosen))
    return with_numbers(inside, lambda dim: place(dim, chosen))


def variables(dim: PrimExpr) -> tuple[tir.Var, ...]:
    """The variables of a dimension, each once."""
    kind = type(dim)
    return () if kind is IntImm else (dim,) if kind is tir.Var else _variables(dim)  # type: ignore[return-value]


_variables = lru_cache(4096)(tir.free_vars)


def known_dims(info: ast.StructInfo) -> Dims | None:
    """The dimensions of a tensor or shape, None where they are unknown."""
    shape = info.shape if isinstance(info, ast.TensorStructInfo) else info
    return shape.values if isinstance(shape, ast.ShapeExpr | ast.ShapeStructInfo) else None


def free(info: ast.StructInfo) -> set[tir.Var]:
    """The shape variables that struct info mentions."""
    own = {v for d in numbers(info) for v in variables(d)}
    inner = {v for part in children(info) for v in free(part)}
    return own | (inner - set(info.binders) if isinstance(info, ast.FuncStructInfo) else inner)


def tensor(dims: Dims, kind: DataType) -> ast.TensorStructInfo:
    """A tensor of these dimensions."""
    return ast.TensorStructInfo(ast.ShapeExpr(dims), kind, len(dims))


def visible(info: ast.StructInfo, variables: set[tir.Var]) -> ast.StructInfo:
    """The struct info as far as it is visible where only these shape variables are."""
    if free(info) <= variables:
        return info
    match info:
        case ast.TensorStructInfo():
            return ast.TensorStructInfo(None, info.dtype, info.ndim, info.vdevice)
        case ast.ShapeStructInfo():
            return ast.ShapeStructInfo(None, info.ndim)
        case ast.PrimStructInfo():
            return ast.PrimStructInfo(info.dtype)
        case ast.FuncStructInfo():
            return OBJECT
    return with_children(info, lambda part: visible(part, variables))
