"""The first access of a PrimFunc to the memory of each parameter."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rlx.grammar.nodes import tir


class MemoryAccess(NamedTuple):
    """The first access of a function to the memory of a parameter.

    Attributes
    ----------
    reads
        Whether it reads what was there before; None where that is not known.
    writes
        Whether it writes; None where that is not known.
    """

    reads: bool | None
    writes: bool | None


UNKNOWN = MemoryAccess(None, None)
UNUSED = MemoryAccess(False, False)


@lru_cache(maxsize=512)
def first_accesses(function: tir.PrimFunc) -> tuple[MemoryAccess, ...]:
    """The access to the memory of each parameter, in order.

    The first access in the order of the text decides what is read: a loop is taken to run at least
    once, and a buffer that is stored to first is taken to be filled before it is read. All is
    unknown where the body has parts that hide what they touch.
    """
    seen = _Seen()
    try:
        seen.statement(function.body)
    except _HiddenError:
        return (UNKNOWN,) * len(function.params)
    found: list[MemoryAccess] = []
    for param in function.params:
        buffer = function.buffer_map.get(param)
        found.append(UNUSED if buffer is None else seen.of(buffer))
    return tuple(found)


class _HiddenError(Exception):
    """A part of the body may touch any buffer."""


class _Seen:
    """The walk over a body in the order of the text."""

    def __init__(self) -> None:
        self._reads: dict[tir.Buffer, bool | None] = {}
        self._writes: dict[tir.Buffer, bool | None] = {}
        self._parts: dict[tir.Buffer, tir.Buffer] = {}

    def of(self, buffer: tir.Buffer) -> MemoryAccess:
        return MemoryAccess(self._reads.get(buffer, False), self._writes.get(buffer, False))

    def statement(self, stmt: tir.Stmt) -> None:
        pending: list[tuple[tir.Stmt | None, bool]] = [(stmt, True)]
        while pending:
            now, certain = pending.pop()
            match now:
                case None:
                    pass
                case tir.SeqStmt(stmts=stmts):
                    pending += [(each, certain) for each in reversed(stmts)]
                case tir.BufferStore(buffer=buffer, indices=indices, value=value):
                    self._expressions((*indices, value), certain)
                    _note(self._writes, self._parts.get(buffer, buffer), certain)
                case tir.For(min=low, extent=extent, step=step, body=body):
                    self._expressions(
                        (low, extent) if step is None else (low, extent, step), certain
                    )
                    pending.append((body, certain))
                case tir.While(condition=condition, body=body):
                    self._expressions((condition,), certain)
                    pending.append((body, False))
                case tir.IfThenElse(condition=condition, then_case=then, else_case=otherwise):
                    self._expressions((condition,), certain)
                    pending += [(otherwise, False), (then, False)]
                case tir.Block(iter_vars=axes, predicate=predicate, init=init, body=body):
                    self._expressions([axis.binding for axis in axes], certain)
                    inside = certain and predicate is None
                    pending += [(body, inside), (init, inside)]
                case tir.LetStmt(value=value) | tir.Evaluate(value=value):
                    self._expressions((value,), certain)
                case tir.Assert(condition=condition):
                    self._expressions((condition,), certain)
                case tir.MatchBuffer(buffer=part, source=source):
                    self._expressions(source.indices, certain)
                    self._parts[part] = self._parts.get(source.buffer, source.buffer)
                case tir.AllocBuffer(op=op) if op != "decl_buffer":
                    pass
                case _:
                    raise _HiddenError

    def _expressions(self, exprs: Iterable[tir.PrimExpr], certain: bool) -> None:
        for expr in exprs:
            for node in tir.postorder(expr):
                if isinstance(node, tir.BufferLoad):
                    buffer = self._parts.get(node.buffer, node.buffer)
                    if buffer not in self._writes:  # else a store came first, on some way at least
                        _note(self._reads, buffer, certain)
                elif isinstance(node, tir.OpaqueExpr) or _hides(node):
                    raise _HiddenError


def _note(accesses: dict[tir.Buffer, bool | None], buffer: tir.Buffer, certain: bool) -> None:
    if certain:
        accesses[buffer] = True
    else:
        accesses.setdefault(buffer, None)


_LEAVING = frozenset(["ret", "break_loop", "continue_loop"])
_HIDING = ("address_of", "access_ptr", "call_packed", "call_extern", "call_cpacked", "tvm_", "ptx")


def _hides(node: tir.PrimExpr) -> bool:
    """Whether an expression reaches memory in another way than by an index, or leaves a loop or the
    function.
    """
    if not isinstance(node, tir.Call):
        return False
    return node.op in _LEAVING or any(word in str(node.op) for word in _HIDING)
