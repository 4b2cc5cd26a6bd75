"""Struct info of Relax as a type of Relay."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from rlx.grammar.print.info import fields_text


def relay_type(info: StructInfo) -> str:
    """The text of a type as Relay writes it. ``?`` is a dimension that is neither a number nor a
    name; ``_`` is an unknown part.

    Raises
    ------
    rlx.grammar.print.info.TooLongError
        If it is longer than any type may be.
    """
    match info:
        case TensorStructInfo(dtype=kind) if kind.is_void:
            return "_"
        case TensorStructInfo(shape=ast.ShapeExpr(values=()), dtype=kind):
            return str(kind)
        case TensorStructInfo(shape=ast.ShapeExpr(values=values), dtype=kind):
            return f"Tensor[({_dims([_dim(value) for value in values])}), {kind}]"
        case TensorStructInfo(ndim=ndim, dtype=kind) if ndim >= 0:
            return f"Tensor[({_dims(['?'] * ndim)}), {kind}]" if ndim else str(kind)
        case TupleStructInfo(fields=fields):
            return f"({_dims([relay_type(field) for field in fields])})"
        case FuncStructInfo(params=params, ret=ret) if params is not None:
            return f"fn ({', '.join(map(relay_type, params))}) -> {relay_type(ret)}"
    return "_"


def _dims(dims: list[str]) -> str:
    return f"{dims[0]}," if len(dims) == 1 else fields_text(dims)


def _dim(value: tir.PrimExpr) -> str:
    match value:
        case tir.IntImm(value=number):
            return str(number)
        case tir.Var(name=name):
            return name
    return "?"
