"""What a call does with the memory of its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rlx.grammar import ast, tir
from rlx.operators.prim_call import stored

LOOKING = frozenset(
    f"vm.builtin.{name}"
    for name in (
        *("match_shape", "match_prim_value", "check_tensor_info", "check_shape_info"),
        *("check_tuple_info", "check_prim_value_info", "check_func_info", "shape_of"),
    )
)
"""Functions of the run time that look at the shape of a tensor, not at its elements."""


class Effect(NamedTuple):
    """An argument of a call, and what the call does with its memory.

    Attributes
    ----------
    value
        The argument.
    reads, writes
        Whether the call does so: True and False are certain, None is neither.
    """

    value: ast.Expr
    reads: bool | None
    writes: bool | None


def effects(call: ast.Call, module: ast.IRModule) -> Iterator[Effect]:
    """What a call does with each of its arguments, those in tuples one by one."""
    match call.op:
        case ast.GlobalVar():
            yield from _of_function(module.functions.get(call.op), call.args)
        case ast.Op(op_name="relax.vm.call_tir_dyn") if len(call.args) == 2:
            callee = call.args[0]
            found = module.functions.get(callee) if isinstance(callee, ast.GlobalVar) else None
            yield from _of_function(found, tuple(_flat(call.args[1:])))
        case ast.Op():
            for value in _flat((*call.args, *_written(call))):
                yield Effect(value, True, False)
        case ast.ExternFunc(global_symbol=name):
            looks = name in LOOKING
            for value in _flat(call.args):
                yield Effect(value, False if looks else None, False if looks else None)
        case _:
            for value in _flat(call.args):
                yield Effect(value, None, None)


def _written(call: ast.Call) -> Iterator[ast.Expr]:
    """The expressions among the keywords of a call."""
    for value in call.attrs.values():
        if isinstance(value, ast.Expr):
            yield value


def _flat(args: Sequence[ast.Expr]) -> Iterator[ast.Expr]:
    for arg in args:
        if isinstance(arg, ast.Tuple):
            yield from _flat(arg.fields)
        else:
            yield arg


def _of_function(
    callee: ast.Function | tir.PrimFunc | None, args: Sequence[ast.Expr]
) -> Iterator[Effect]:
    if not isinstance(callee, tir.PrimFunc):
        for value in _flat(args):
            yield Effect(value, None, None)
        return
    written, known = stored(callee), _by_name_alone(callee.body)
    buffers = [callee.buffer_map.get(param) for param in callee.params]
    for k, value in enumerate(_flat(args)):
        buffer = buffers[k] if k < len(buffers) else None
        if buffer is None:
            yield Effect(value, False, False)
        elif not known and buffer not in written:
            yield Effect(value, None, None)
        else:
            # What is stored to may be read before; nobody says so.
            yield Effect(value, None if buffer in written else True, buffer in written)


def _by_name_alone(body: tir.Stmt) -> bool:
    """Whether statements touch buffers by their own names: not by parts, not through functions."""
    pending: list[tir.Stmt | None] = [body]
    while pending:
        match pending.pop():
            case None | tir.BufferStore() | tir.LetStmt() | tir.Assert():
                pass
            case tir.SeqStmt(stmts=stmts):
                pending.extend(stmts)
            case tir.For(body=inside) | tir.While(body=inside):
                pending.append(inside)
            case tir.Block(init=init, body=inside):
                pending += (init, inside)
            case tir.IfThenElse(then_case=then, else_case=otherwise):
                pending += (then, otherwise)
            case _:
                return False
    return True
