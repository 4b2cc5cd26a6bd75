"""The checks of a signature as expressions: `check_annotation` of the document."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.spec.registry import rule

COMPARE_SHAPES = "dynamically_check_shapes"
"""The packed function that compares the shape of a value with a computed one."""


def fresh_var() -> ast.Var:
    """A variable that nothing else is."""
    return ast.Var("tmp")


def shape_of(value: Expr) -> ast.Call:
    """`shape_of(value)`"""
    return ast.Call(ast.op("relax.shape_of"), (value,))


@rule("OCHECK", "procedure")
def check_annotation(e: Expr, s: Expr) -> Expr:
    """An expression with the value of ``e``; it fails at run time if the shape is not ``s``.

    Parameters
    ----------
    e
        The value to be checked.
    s
        A shape computation.
    """
    match s:
        case ast.ShapeExpr():
            tmp = fresh_var()
            info = ast.TensorStructInfo(s, ndim=len(s.values))
            return _sequence([ast.MatchCast(tmp, e, info, by_shape=True)], tmp)
        case ast.Tuple(fields=shapes):
            tmp = fresh_var()
            parts = (
                check_annotation(ast.TupleGetItem(tmp, at), shape)
                for at, shape in enumerate(shapes)
            )
            inner = [ast.VarBinding(fresh_var(), part) for part in parts]
            return _sequence([ast.VarBinding(tmp, e), *inner], tmp)
        case ast.TupleGetItem(tuple_value=ast.Tuple(fields=fields), index=index):
            return check_annotation(e, fields[index])
        case ast.Call() | ast.TupleGetItem():
            tmp = fresh_var()
            compared = ast.Call(ast.ExternFunc(COMPARE_SHAPES), (shape_of(tmp), s))
            bindings = [ast.VarBinding(tmp, e), ast.VarBinding(fresh_var(), compared)]
            return _sequence(bindings, tmp)
    assert isinstance(s, RuntimeDepShape)
    return e


def _sequence(bindings: Sequence[ast.Binding], body: Expr) -> ast.SeqExpr:
    return ast.SeqExpr((ast.BindingBlock(tuple(bindings)),), body)


def expanded(function: ast.Function, shapes: tuple[Expr, ...], result: Expr) -> ast.Function:
    """A function whose checks stand in its body: the document's macro for signatures.

    Parameters
    ----------
    shapes, result
        The shape annotations of the parameters and of the result.
    """
    checks: list[ast.Binding] = [
        ast.VarBinding(fresh_var(), check_annotation(param, shape))
        for param, shape in zip(function.params, shapes, strict=True)
    ]
    ret_var = fresh_var()
    checks.append(ast.VarBinding(ret_var, function.body))
    checks.append(ast.VarBinding(fresh_var(), check_annotation(ret_var, result)))
    return ast.Function(
        function.params,
        _sequence(checks, ret_var),
        function.ret_struct_info,
        function.is_pure,
        function.attrs,
        function.shape_vars,
    )
