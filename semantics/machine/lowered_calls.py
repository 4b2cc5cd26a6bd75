"""Run-time functions in modules lowered by TVM that correspond to operators of the machine.

E-make-closure and E-invoke-closure make and call closures; E-print and E-assert print and
assert. Memory is allocated and reshaped by the rules of the operators.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace

Given = Sequence[ast.Expr]


def _applied(operator: str, call: ast.Call, given: Given) -> ast.Call | None:
    """The operator on a function and a tuple of what it gets."""
    if not given:
        return None
    args = (given[0], ast.Tuple(tuple(given[1:])))
    return replace(call, op=ast.op(operator), args=args, arg_spans=())


def _printed(call: ast.Call, given: Given) -> ast.Call | None:
    if not given:
        return None
    attrs, op = {"format": given[0]}, ast.op("relax.print")
    return replace(call, op=op, args=tuple(given[1:]), attrs=attrs, arg_spans=())


def _asserted(call: ast.Call, given: Given) -> ast.Call | None:
    match given:
        case (condition, text, *rest):
            attrs, args = {"format": text}, (condition, *rest)
        case (_,):
            attrs, args = {}, tuple(given)
        case _:
            return None
    return replace(call, op=ast.op("relax.assert_op"), args=args, attrs=attrs, arg_spans=())


def _same_arguments(operator: str, *counts: int) -> Callable[[ast.Call, Given], ast.Call | None]:
    """The operator with the arguments of the function, of which there may be so many."""

    def made(call: ast.Call, given: Given) -> ast.Call | None:
        if len(given) not in counts:
            return None
        return replace(call, op=ast.op(operator), args=tuple(given), arg_spans=())

    return made


OPERATORS: dict[str, Callable[[ast.Call, Given], ast.Call | None]] = {
    "runtime.TVMTensorCreateView": _same_arguments("relax.memory.view", 4),
    "vm.builtin.alloc_storage": _same_arguments("relax.vm.alloc_storage", 3, 4),
    "vm.builtin.alloc_tensor": _same_arguments("relax.vm.alloc_tensor", 4, 5),
    "vm.builtin.make_closure": partial(_applied, "relax.make_closure"),
    "vm.builtin.invoke_closure": partial(_applied, "relax.invoke_closure"),
    "relax.run.print": _printed,
    "relax.run.assert_op": _asserted,
}
"""The run-time functions that call functions, print, assert or make memory, and their operators."""


def as_operator(call: ast.Call, hidden: Collection[str]) -> ast.Call:
    """The call of an operator that a call of a run-time function stands for, or the call itself.
    `hidden`: the names under which the caller registered functions.
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
