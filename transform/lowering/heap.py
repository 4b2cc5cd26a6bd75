"""The shape heap of a function: its layout, and the PrimFuncs that compute derived numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.tir_stmts import in_order

IMMEDIATE, FROM_HEAP = 0, 1
"""The codes by which ``vm.builtin.make_shape`` finds a number."""
EQUAL_NUMBER, STORE, NOTHING, EQUAL_HEAP = range(4)
"""The codes of what ``vm.builtin.match_shape`` does with a number."""


_HANDLE = dtype("handle")


class Heap:
    """The slots of the numbers of one function.

    Attributes
    ----------
    size
        The number of slots.
    """

    def __init__(self) -> None:
        self.size = 0
        self._places: dict[object, int] = {}
        self._seen: dict[tir.PrimExpr, int] = {}
        self._classes: dict[object, int] = {}

    def place(self, expr: tir.PrimExpr) -> int:
        """The slot of the number of an expression; equal expressions share a slot."""
        found = self._seen.get(expr)
        if found is None:
            found = self._places.setdefault(self._key(expr), self.size)
            if found == self.size:
                self.size += 1
            self._seen[expr] = found
        return found

    def known(self, var: tir.Var) -> bool:
        """Whether a variable has a slot."""
        return var in self._seen or self._key(var) in self._places

    def _key(self, expr: tir.PrimExpr) -> object:
        """The same for expressions that are written alike."""
        numbers: dict[int, int] = {}
        for node in tir.postorder(expr):
            below = tuple(numbers[id(child)] for child in tir.children(node))
            shape = (type(node), below, *_leaf(node))
            numbers[id(node)] = self._classes.setdefault(shape, len(self._classes))
        return numbers[id(expr)]


def _leaf(node: tir.PrimExpr) -> tuple[object, ...]:
    match node:
        case tir.Var():
            return (id(node),)
        case tir.IntImm(value=value, dtype=kind):
            return (value, kind)
        case tir.FloatImm(value=number, dtype=kind):
            return (repr(number), kind)
        case tir.Cast(dtype=kind):
            return (kind,)
        case tir.Call(op=op, dtype=known):
            return (op, known)
    return ()


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
    attrs = {"tirx.is_host_func": True, "private": True}
    return tir.PrimFunc((param,), in_order(stores), None, {param: buffer}, attrs)


def _loaded(expr: tir.PrimExpr, buffer: tir.Buffer, heap: Heap) -> tir.PrimExpr:
    """The expression with loads in place of variables, as an int64."""
    made: dict[int, tir.PrimExpr] = {}
    for node in tir.postorder(expr):
        made[id(node)] = _rebuilt(node, made, buffer, heap)
    whole = made[id(expr)]
    return whole if tir.type_of(whole) == INT64 else tir.Cast(INT64, whole)


def _rebuilt(
    node: tir.PrimExpr, made: dict[int, tir.PrimExpr], buffer: tir.Buffer, heap: Heap
) -> tir.PrimExpr:
    match node:
        case tir.Var():
            load = tir.BufferLoad(buffer, (tir.IntImm(heap.place(node)),))
            return load if node.dtype == INT64 else tir.Cast(node.dtype, load)
        case tir.Binary(a=a, b=b):
            return replace(node, a=made[id(a)], b=made[id(b)])
        case tir.Not(a=a):
            return replace(node, a=made[id(a)])
        case tir.Select(condition=c, true_value=t, false_value=f):
            return tir.Select(made[id(c)], made[id(t)], made[id(f)])
        case tir.Cast(value=value):
            return replace(node, value=made[id(value)])
        case tir.Call(args=args):
            return replace(node, args=tuple(made[id(arg)] for arg in args))
    return node
