"""Calls of operators without a PrimFunc, as functions of their operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64


class OperatorFunction(NamedTuple):
    """A function that applies an operator.

    Attributes
    ----------
    function
        The function, which has one parameter for each operand, then one for each shape variable.
    operands
        The arguments for the operands.
    shape_vars
        The variables in the operator's attributes and shapes.
    """

    function: ast.Function
    operands: tuple[ast.Expr, ...]
    shape_vars: tuple[tir.Var, ...]


def operator_function(value: ast.Expr) -> OperatorFunction:
    """The function that computes the value of a call from its operands; equal operands share a
    parameter.
    """
    params: dict[ast.Expr, ast.Var] = {}

    def parameter(expr: ast.Expr) -> ast.Expr:
        match expr:
            case ast.Tuple(fields=fields):
                return ast.Tuple(tuple(parameter(field) for field in fields))
            case ast.Var() | ast.Constant() | ast.GlobalVar() | ast.TupleGetItem():
                return params.setdefault(expr, ast.Var(f"x{len(params)}"))
        return expr

    symbols: tuple[tir.Var, ...] = ()
    if isinstance(value, ast.Call):
        attrs = {
            key: parameter(attr) if isinstance(attr, ast.Expr) else attr
            for key, attr in value.attrs.items()
        }
        args = tuple(parameter(arg) for arg in value.args)
        value = ast.Call(value.op, args, value.sinfo_args, attrs, spelled=value.spelled)
        symbols = tuple(dict.fromkeys((*_symbols(attrs), *_symbols(args))))
    scalars = (ast.Var(var.name, ast.PrimStructInfo(INT64), shape_var=var) for var in symbols)
    result = ast.Var("y")
    body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(result, value),)),), result)
    everything = (*params.values(), *scalars)
    function = ast.Function(everything, body, attrs={"global_symbol": "apply"}, is_pure=False)
    return OperatorFunction(function, tuple(params), symbols)


def _symbols(value: Any) -> Iterator[tir.Var]:
    match value:
        case tir.PrimExpr():
            yield from tir.free_vars(value)
        case ast.ShapeExpr(values=values):
            yield from _symbols(values)
        case tuple() | list():
            for item in value:
                yield from _symbols(item)
        case Mapping():
            for item in value.values():
                yield from _symbols(item)
