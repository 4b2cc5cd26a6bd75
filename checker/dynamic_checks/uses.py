"""Who uses what: shape variables, and functions otherwise than by calling them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rlx.grammar import ast, tir
from rlx.grammar.ast import Expr, StructInfo
from rlx.grammar.node import Node
from rlx.grammar.struct_infos import numbers, whole
from rlx.grammar.tir import PrimExpr
from rlx.grammar.visit import struct_infos, walk
from rlx.solver.prim_exprs import variables


def prim_exprs(expr: Expr) -> Iterator[PrimExpr]:
    """Every integer expression written below an expression, those of annotations included."""
    for info in struct_infos(expr):
        yield from prim_exprs_of(info)
    for node in walk(expr):
        match node:
            case ast.ShapeExpr(values=values):
                yield from values
            case ast.PrimValue(value=value):
                yield value
            case ast.Call(attrs=attrs):
                yield from _in_data(tuple(attrs.values()))


def prim_exprs_of(info: StructInfo) -> Iterator[PrimExpr]:
    """Every dimension and value that an annotation writes."""
    for part in whole(info):
        yield from numbers(part)


def _in_data(value: object) -> Iterator[PrimExpr]:
    """Integer expressions among attributes, which may be lists of lists."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, PrimExpr):
            yield one
        elif isinstance(one, StructInfo):
            yield from prim_exprs_of(one)
        elif isinstance(one, tuple | list):
            stack.extend(one)
        elif isinstance(one, dict):
            stack.extend(one.values())


def uses_of_shape_vars(expr: Expr) -> Counter[tir.Var]:
    """In how many integer expressions below an expression each shape variable stands."""
    return Counter(v for e in prim_exprs(expr) for v in variables((e,)))


def values_used(module: ast.IRModule) -> set[Node]:
    """The variables of a module that stand somewhere else than as what is called."""
    used: set[Node] = set()
    for function in module.functions.values():
        if isinstance(function, ast.Function):
            for node in walk(function):
                used.update(_values_in(node))
    return used


def _values_in(node: Expr) -> Iterator[Node]:
    """Variables that stand directly inside an expression, as values."""
    match node:
        case ast.Call(args=args, attrs=attrs):
            yield from (a for a in args if _is_name(a))
            yield from (v for v in attrs.values() if isinstance(v, Node) and _is_name(v))
        case ast.SeqExpr(blocks=blocks, body=body):
            yield from (
                b.value  # type: ignore[attr-defined]
                for block in blocks
                for b in block.bindings
                if _is_name(b.value)  # type: ignore[attr-defined]
            )
            if _is_name(body):
                yield body
        case ast.Tuple(fields=fields):
            yield from (f for f in fields if _is_name(f))
        case ast.If(cond=cond):
            yield cond
        case ast.TupleGetItem(tuple_value=inner):
            yield inner


def _is_name(value: object) -> bool:
    return isinstance(value, ast.Var | ast.GlobalVar)
