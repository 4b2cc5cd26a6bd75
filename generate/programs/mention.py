"""Which shape variables the body of a function mentions."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.generate.programs.builder import Body
from rlx.generate.programs.dims import free, variables
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.visit import expressions


def mentioned(body: Body) -> set[tir.Var]:
    """The shape variables of all expressions and annotations of a body."""
    found: set[tir.Var] = set()
    for _, bindings in body.blocks:
        for binding in bindings:
            for value in expressions(binding.value):  # type: ignore[attr-defined]
                _expression(value, found)
            found |= _of_binding(binding)
    return found


def _of_binding(binding: ast.Binding) -> set[tir.Var]:
    found: set[tir.Var] = set()
    if isinstance(binding, ast.MatchCast):
        found |= free(binding.struct_info) - set(binding.shape_vars)
    var = getattr(binding, "var", None)
    if var is not None and var.struct_info_annotation is not None:
        found |= free(var.struct_info_annotation)
    return found


def _expression(value: Expr, found: set[tir.Var]) -> None:
    for prim in _prims(value):
        found.update(variables(prim))
    match value:
        case ast.Call(sinfo_args=infos) if infos:
            for info in infos:
                found |= free(info)
        case ast.SeqExpr(blocks=blocks):
            for block in blocks:
                for binding in block.bindings:
                    found |= _of_binding(binding)
        case ast.Function(params=params, shape_vars=own):
            for param in params:
                if param.struct_info_annotation is not None:
                    found |= free(param.struct_info_annotation) - set(own)


def _prims(value: Expr) -> Iterator[tir.PrimExpr]:
    match value:
        case ast.ShapeExpr(values=values):
            yield from values
        case ast.PrimValue(value=prim):
            yield prim
