"""The shape heap of a function: its layout, and the PrimFuncs that compute derived numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, DataType, dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.prim_operators import divides_by_zero
from rlx.grammar.nodes.tir_stmts import in_order

IMMEDIATE, FROM_HEAP = 0, 1
"""The codes by which ``vm.builtin.make_shape`` finds a number."""
EQUAL_NUMBER, STORE, NOTHING, EQUAL_HEAP = range(4)
"""The codes of what ``vm.builtin.match_shape`` does with a number."""


_HANDLE = dtype("handle")


class Heap:
    """The slots of the numbers of one function."""

    def __init__(self) -> None:
        self._places: dict[tir.PrimExpr, int] = {}

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self._places)

    def place(self, expr: tir.PrimExpr) -> int:
        """The slot of the number of an expression; equal expressions share a slot."""
        return self._places.setdefault(tir.interned(expr), len(self._places))

    def known(self, var: tir.Var) -> bool:
        """Whether a variable has a slot."""
        return var in self._places


ON_HOST = "tirx.is_host_func"
"""The attribute of PrimFuncs that compute with a heap."""


def shape_function(
    name: str, size: int, computed: Sequence[tuple[int, tir.PrimExpr]], heap: Heap
) -> tir.PrimFunc:
    """A PrimFunc that reads numbers from the heap and writes other numbers to it.

    Parameters
    ----------
    name
        The name of the parameter.
    size
        The number of slots of the heap.
    computed
        The slot of each computed expression.
    """
    buffer = tir.Buffer(name, (tir.IntImm(size),), INT64)
    param = tir.Var(name, _HANDLE)
    stores = [
        tir.BufferStore(buffer, (tir.IntImm(place),), _loaded(expr, buffer, heap))
        for place, expr in computed
    ]
    attrs = {ON_HOST: True, "private": True}
    return tir.PrimFunc((param,), in_order(stores), None, {param: buffer}, attrs)


def _loaded(expr: tir.PrimExpr, buffer: tir.Buffer, heap: Heap) -> tir.PrimExpr:
    """The expression with loads in place of variables, as an int64.

    A PrimFunc may not divide by a literal 0 (TIR04-zero). What a program divides by it divides by
    the difference of a number and itself, which fails like it.
    """

    def at(place: int, kind: DataType) -> tir.PrimExpr:
        load = tir.BufferLoad(buffer, (tir.IntImm(place),))
        return load if kind == INT64 else tir.Cast(kind, load)

    def load(node: tir.PrimExpr) -> tir.PrimExpr | None:
        if isinstance(node, tir.Var):
            return at(heap.place(node), node.dtype)
        if not divides_by_zero(node):
            return None
        assert isinstance(node, tir.Binary)
        first = at(0, tir.type_of(node.b))
        return replace(node, b=tir.Sub(first, first))

    (whole,) = tir.transform([expr], load, in_place=True)
    return whole if tir.type_of(whole) == INT64 else tir.Cast(INT64, whole)
