"""Copies of the arguments of a repeated run, so that no run reads the writes of an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import evaluated
from rlx.semantics.values import Tensor, Value, copied, rebuilt


def own(module: ast.IRModule, args: Sequence[Value]) -> list[Value]:
    """The arguments for one run: copies if the program may write to them, and otherwise the same
    memory, since weights are large.
    """
    if may_write(module):
        return [copied(arg) for arg in args]
    return [rebuilt(arg, _read_only) for arg in args]


def _read_only(value: Value) -> Value:
    if not isinstance(value, Tensor):
        return value
    data = value.data.view()
    data.flags.writeable = False
    return replace(value, data=data)


def may_write(module: ast.IRModule) -> bool:
    """Whether a function may write to a tensor that it is given."""
    kernels = module.prim_funcs
    return any(
        isinstance(call.op, ast.ExternFunc)
        or call.op in kernels
        or (isinstance(call.op, ast.Op) and "inplace" in call.op.op_name)
        for function in module.relax_functions.values()
        for call in evaluated(function, ast.Call)
    )
