"""Equality of calls, and whether equal calls may be merged."""

from __future__ import annotations

from rlx.checker.memory import IN_PLACE
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.grammar.nodes.python_places import here, module_of
from rlx.grammar.nodes.visit import evaluated
from rlx.operators.registry import lookup

Key = tuple[object, ...]

_CALLS_OUT = ("relax.call_", "relax.invoke_", "relax.vm.", "relax.memory.", "relax.builtin.")
_ONLY_SHOWS = frozenset(["relax.print", "relax.assert_op"])


def key(value: Expr) -> Key | None:
    """A key that calls of equal value share; None for values that must not be merged."""
    if not isinstance(value, ast.Call) or not isinstance(value.op, ast.Op):
        return None
    operator = lookup(value.op_name)
    if operator is None or not operator.pure or value.op_name.startswith(_CALLS_OUT):
        return None
    args = tuple(map(_leaf, value.args))
    attrs = tuple((name, _leaf(given)) for name, given in sorted(value.attrs.items()))
    return (value.op_name, args, attrs, tuple(map(str, value.sinfo_args)))


def _leaf(given: object) -> object:
    """A variable itself; a shape by its variables and its text; all else by its text, with its
    kind.
    """
    match given:
        case ast.Var():
            return given
        case ast.Tuple(fields=parts):
            return (ast.Tuple, *map(_leaf, parts))
        case ast.Constant():
            return given  # its data may be large, and texts leave data out
        case ast.ShapeExpr(values=parts):
            return (ast.ShapeExpr, *map(_scalar, parts))
        case ast.PrimValue(value=part):
            return (ast.PrimValue, _scalar(part))
    return (type(given), str(given))


def _scalar(part: object) -> object:
    """Variables are told apart by what they are, not by their names."""
    from rlx.grammar.nodes import tir

    if isinstance(part, tir.IntImm):
        return (part.value, part.dtype)
    return part  # compound expressions are equal only to themselves


def writes(module: IRModule) -> bool:
    """Whether some call may overwrite an existing value."""
    return any(map(_may_write, evaluated(module_of(module, here()), ast.Call)))


def _may_write(call: ast.Call) -> bool:
    if isinstance(call.op, ast.ExternFunc):
        return True
    if call.op_name in IN_PLACE or call.op_name.startswith(_CALLS_OUT[1:]):
        return True
    operator = lookup(call.op_name) if call.op_name else None
    return operator is not None and not operator.pure and call.op_name not in _ONLY_SHOWS
