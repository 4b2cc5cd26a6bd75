"""Stores of vectors as stores of their lanes."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine.facts import polynomial
from rlx.refine.loops_content import Unread

_RAMPS = ("Ramp", "ramp")
_BROADCASTS = ("Broadcast", "broadcast")


def number_of_lanes(stmt: tir.BufferStore) -> int:
    """The number of elements that a store writes; 1 for a number.

    Raises
    ------
    Unread
        If vectors of several lengths meet, or one has a length that is not a number.
    """
    found = {1}
    for expr in (*stmt.indices, stmt.value):
        for node in tir.postorder(tir.interned(expr)):
            match node:
                case tir.Call(op=op, args=(*_, count)) if op in (*_RAMPS, *_BROADCASTS):
                    found.add(count.value if isinstance(count, tir.IntImm) else 0)
                case tir.Slice(start=start, stop=stop, step=step):
                    length = polynomial(tir.interned(tir.Sub(stop, start)))
                    known = step is None and all(mono == () for mono in length)
                    found.add(length.get((), 0) if known else 0)
                case tir.Cast(dtype=kind) | tir.Call(dtype=DataType() as kind):
                    found.add(kind.lanes)
    found.discard(1)
    if len(found) > 1 or any(count < 1 for count in found):
        raise Unread("vectors of several lengths meet", stmt.span)
    return found.pop() if found else 1


def one_lane(expr: PrimExpr, at: tir.Var) -> PrimExpr:
    """One lane of a vector, whose number is a variable; a number is each lane.

    Raises
    ------
    Unread
        If something else than arithmetic, element by element, is applied to vectors.
    """

    def moved(start: PrimExpr, stride: PrimExpr) -> PrimExpr:
        kind = tir.type_of(start)
        place = at if kind == at.dtype else tir.Cast(kind, at)
        return tir.Add(start, tir.Mul(place, stride))

    def node(each: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
        match each:
            case tir.Call(op=op) if op in _RAMPS:
                return moved(operands[0], operands[1])
            case tir.Call(op=op) if op in _BROADCASTS:
                return operands[0]
            case tir.Slice():
                return moved(operands[0], tir.IntImm(1, tir.type_of(operands[0])))
            case tir.Call(op=op) if op in _OF_VECTORS:
                raise Unread(f"T.{op} is applied to a vector")
        made = tir.with_operands(each, operands) if operands else each
        match made:
            case tir.Cast(dtype=kind) | tir.Call(dtype=DataType() as kind) if kind.lanes > 1:
                return replace(made, dtype=dtype(str(kind).removesuffix(f"x{kind.lanes}")))
        return made

    return tir.fold(tir.interned(expr), node)


_OF_VECTORS = frozenset(["Shuffle", "vectorlow", "vectorhigh", "vectorcombine"])
"""Functions that move lanes."""
