"""The memory of a lowered program: pieces of it, and tensors in them."""

from __future__ import annotations

from functools import cached_property

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.node import Span
from rlx.solver.prover import Prover

BYTES = dtype("uint8")

STORAGE = {"relax.memory.alloc_storage": None, "relax.vm.alloc_storage": 2}
"""Functions that allocate a piece of memory, with the position of the type whose elements the size
counts; None if it counts bytes.
"""
TENSOR = frozenset({"relax.memory.alloc_tensor", "relax.vm.alloc_tensor"})
"""Functions that lay a tensor into a piece of memory."""
KILLS = frozenset({"relax.memory.kill_storage", "relax.memory.kill_tensor", "relax.vm.kill_object"})
"""Functions that end an object."""
LOWERED = (
    frozenset(STORAGE) | TENSOR | KILLS | {"relax.call_builtin_with_ctx", "relax.vm.call_tir_dyn"}
)
"""A program that calls one of these is a lowered one."""


class MemoryPiece:
    """A piece of memory, or a tensor that has memory of its own.

    Attributes
    ----------
    name, span
        What it is called, and where it was made.
    size
        Its bytes; None where that is not known.
    """

    def __init__(self, name: str, span: Span | None, size: tir.PrimExpr | None) -> None:
        self.name, self.span, self.size = name, span, size


ELSEWHERE = MemoryPiece("memory of another function", None, None)
"""Memory that the function does not see: what an external function gives may lie there."""


class Laid(MemoryPiece):
    """A tensor that was laid into a piece of memory.

    Attributes
    ----------
    storage
        The piece, None where it is not known.
    offset
        The byte that it begins at; None where that is not known.
    """

    def __init__(
        self,
        name: str,
        span: Span | None,
        size: tir.PrimExpr | None,
        storage: MemoryPiece | None,
        offset: tir.PrimExpr | None,
    ) -> None:
        super().__init__(name, span, size)
        self.storage, self.offset = storage, offset

    @cached_property
    def place(self) -> object:
        """Equal for tensors of one function that lie at one place and are written alike."""
        numbers = [n if n is None else tir.interned(n) for n in (self.offset, self.size)]
        return (self.storage, *numbers)

    @property
    def end(self) -> tir.PrimExpr | None:
        """The byte behind its last one."""
        if self.offset is None or self.size is None:
            return None
        return tir.Add(self.offset, self.size)


def surely(condition: tir.PrimExpr) -> bool:
    """Whether a condition holds for all sizes."""
    return Prover().always(condition).proved


def at_most(one: tir.PrimExpr, other: tir.PrimExpr) -> bool:
    """Whether one number is at most another one, for all sizes.

    Of largest values each alternative is compared alone: that is quick, and decides what plans of
    memory say.
    """
    match tir.fold(one, _alternatives), tir.fold(other, _alternatives):
        case [_], [_]:  # themselves
            pass
        case ones, others:
            if all(any(surely(tir.LE(low, high)) for high in others) for low in ones):
                return True
    return surely(tir.LE(one, other))


_MOST = 16


def _alternatives(expr: tir.PrimExpr, operands: list[list[tir.PrimExpr]]) -> list[tir.PrimExpr]:
    """The numbers of which an expression is the largest; the expression itself if they are many."""
    if not isinstance(expr, tir.Max | tir.Add):
        return [expr]
    left, right = operands
    if isinstance(expr, tir.Max):
        found = [*left, *right]
    elif len(left) == len(right) == 1:
        return [expr]
    else:
        found = [tir.Add(x, y) for x in left for y in right]
    return found if len(found) <= _MOST else [expr]


def never(condition: tir.PrimExpr) -> bool:
    """Whether a condition holds for no sizes."""
    return Prover().never(condition).proved


Stretch = tuple[tir.PrimExpr, tir.PrimExpr | None]
"""The bytes of a tensor in a piece of memory: the first, and the one behind the last if known."""


def apart(one: Stretch, other: Stretch) -> bool | None:
    """Whether two tensors in a piece share no byte: True and False are certain, None is neither."""
    (start, end), (begin, stop) = one, other
    for behind, first in ((end, begin), (stop, start)):
        if behind is not None and at_most(behind, first):
            return True
    if end is None or stop is None:
        return None
    shared = tir.And(tir.LT(start, stop), tir.LT(begin, end))
    # Of sizes that may be 0 it is enough that all others share a byte.
    return False if _for_sizes_of_one(shared) else None


def _for_sizes_of_one(condition: tir.PrimExpr) -> bool:
    from rlx.solver.context import Context

    context = Context()
    for var in tir.free_vars(condition):
        context.declare(var, lower=1)
    return Prover(context).always(condition).proved
