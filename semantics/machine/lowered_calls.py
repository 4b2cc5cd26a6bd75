"""Calls of run-time functions that stand for operators of the machine, in what TVM lowered.

Closures are made and called by E-make-closure and E-invoke-closure; E-print and E-assert print and
assert.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from rlx.grammar import ast
from rlx.grammar.node import replace

Given = Sequence[ast.Expr]


def _made(call: ast.Call, given: Given) -> ast.Call | None:
    if not given:
        return None
    args = (given[0], ast.Tuple(tuple(given[1:])))
    return replace(call, op=ast.op("relax.make_closure"), args=args, arg_spans=())


def _invoked(call: ast.Call, given: Given) -> ast.Call | None:
    if not given:
        return None
    args = (given[0], ast.Tuple(tuple(given[1:])))
    return replace(call, op=ast.op("relax.invoke_closure"), args=args, arg_spans=())


def _printed(call: ast.Call, given: Given) -> ast.Call | None:
    if not given:
        return None
    attrs = {"format": given[0]}
    return replace(call, op=ast.op("relax.print"), args=tuple(given[1:]), attrs=attrs, arg_spans=())


def _asserted(call: ast.Call, given: Given) -> ast.Call | None:
    if not given:
        return None
    attrs = {"format": given[1]} if len(given) > 1 else {}
    args = (given[0], *given[2:])
    return replace(call, op=ast.op("relax.assert_op"), args=args, attrs=attrs, arg_spans=())


OPERATORS: dict[str, Callable[[ast.Call, Given], ast.Call | None]] = {
    "vm.builtin.make_closure": _made,
    "vm.builtin.invoke_closure": _invoked,
    "relax.run.print": _printed,
    "relax.run.assert_op": _asserted,
}
"""The run-time functions that call functions, print or assert, and their operators."""


def as_operator(call: ast.Call, hidden: Collection[str]) -> ast.Call:
    """The call of an operator that a call of a run-time function stands for, or the call itself.

    Parameters
    ----------
    hidden
        The names under which the caller registered functions.
    """
    match call:
        case ast.Call(op=ast.ExternFunc(global_symbol=name), args=given):
            pass
        case ast.Call(
            op=ast.Op(op_name="relax.call_builtin_with_ctx"),
            args=(ast.ExternFunc(global_symbol=name), ast.Tuple(fields=given)),
        ):
            pass
        case _:
            return call
    found = OPERATORS.get(name)
    return (found is not None and name not in hidden and found(call, given)) or call
