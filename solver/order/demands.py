"""The parts that a check against an annotation compares: the single list for all implementations of
E-cast.

The machine compares each part of a value, the elimination of run-time checks uses what is
guaranteed for each part, and the fast path of the machine is compiled from the same list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order.substitute import rank
from rlx.solver.order.subtype import says_nothing

Path = tuple[str, ...]
"""A path inside a value as text: ``("field 1", "dimension 0")``."""
Premise = Literal[
    "kind", "dtype", "device", "rank", "held", "dimension", "value", "fields", "function"
]

KINDS: dict[type[StructInfo], str] = {
    ast.TensorStructInfo: "a tensor",
    ast.ShapeStructInfo: "a shape",
    ast.PrimStructInfo: "a scalar",
    ast.TupleStructInfo: "a tuple",
    ast.FuncStructInfo: "a function",
}
"""The kind of value that each annotation requires; Object requires none."""


FEW = 1_000
"""Demands that every annotation may have."""
REPEATED = 64
"""How often, on average, the demands of an annotation may repeat those of its different parts."""


class Demand(Record):
    """One comparison of a value with an annotation.

    Attributes
    ----------
    premise
        What is compared; a premise of E-cast, or ``"held"``: the shape is the one that a variable
        holds.
    wanted
        The expected part: the annotation itself for ``"kind"`` and ``"function"``, a data type, a
        device, a number (of dimensions or fields), the variable that holds a shape, or an
        expression.
    whole
        The annotation that it is part of.
    path, fields
        The path to the compared part: as text, and as indices of tuple fields.
    axis, rank
        The compared dimension, and the number of dimensions.
    then
        Further demands, for values that may satisfy this one, in order.
    """

    premise: Premise
    wanted: Any
    whole: StructInfo
    path: Path = ()
    fields: tuple[int, ...] = ()
    axis: int = -1
    rank: int = -1
    then: tuple[Demand, ...] = ()


def demands(info: StructInfo, path: Path = (), fields: tuple[int, ...] = ()) -> tuple[Demand, ...]:
    """The demands of an annotation on a value, beginning with its kind; empty if there are none."""
    parts: tuple[Demand, ...] = ()
    match info:
        case ast.ObjectStructInfo():
            return ()
        case ast.TensorStructInfo():
            parts = _of_tensor(info, path, fields)
        case ast.ShapeStructInfo(values=dims):
            parts = sizes(info, rank(info), dims, path, fields)
        case ast.PrimStructInfo(dtype=dtype, value=value):
            number = () if value is None else (Demand("value", value, info, path, fields),)
            parts = (Demand("dtype", dtype, info, path, fields, then=number),)
        case ast.TupleStructInfo(fields=infos):
            inner = tuple(
                demand
                for at, field in enumerate(infos)
                for demand in demands(field, (*path, f"field {at}"), (*fields, at))
            )
            parts = (Demand("fields", len(infos), info, path, fields, then=inner),)
        case ast.FuncStructInfo() if not says_nothing(info):
            parts = (Demand("function", info, info, path, fields),)
    return (Demand("kind", info, info, path, fields, then=parts),)


def _of_tensor(
    info: ast.TensorStructInfo, path: Path, fields: tuple[int, ...]
) -> tuple[Demand, ...]:
    found: list[Demand] = []
    if not info.dtype.is_void:
        found.append(Demand("dtype", info.dtype, info, path, fields))
    if info.vdevice is not None:
        found.append(Demand("device", info.vdevice, info, path, fields))
    shape = info.shape
    if isinstance(shape, ast.Var):
        held = Demand("held", shape, info, path, fields)
        ranked = Demand("rank", info.ndim, info, path, fields, then=(held,))
        found.append(ranked if info.ndim >= 0 else held)
    else:
        dims = shape.values if isinstance(shape, ast.ShapeExpr) else None
        found.extend(sizes(info, info.ndim, dims, path, fields))
    return tuple(found)


def sizes(
    whole: StructInfo,
    ndim: int,
    dims: tuple[PrimExpr, ...] | None,
    path: Path,
    fields: tuple[int, ...],
) -> tuple[Demand, ...]:
    """The rank, if given, and each given dimension."""
    if dims is None:
        return (Demand("rank", ndim, whole, path, fields),) if ndim >= 0 else ()
    each = tuple(
        Demand("dimension", dim, whole, (*path, f"dimension {at}"), fields, at, len(dims))
        for at, dim in enumerate(dims)
    )
    return (Demand("rank", len(dims), whole, path, fields, then=each),)


def repeats_too_much(info: StructInfo) -> bool:
    """Whether the demands of an annotation are far more than those of its different parts.

    `((t, t), (t, t))` may share its halves: each level then doubles the demands, and adds two.
    """
    if not isinstance(info, ast.TupleStructInfo):
        return False
    known: dict[int, int] = {}
    own = 0

    def count(part: StructInfo) -> int:
        nonlocal own
        if not isinstance(part, ast.TupleStructInfo):
            found = sum(1 for _ in every(demands(part)))
            own += found
            return found
        if id(part) not in known:
            known[id(part)] = 2 + sum([count(field) for field in part.fields])
        own += 2
        return known[id(part)]

    return count(info) > max(FEW, REPEATED * own)


def every(found: Sequence[Demand]) -> Iterator[Demand]:
    """All demands, each before its further demands."""
    for demand in found:
        yield demand
        yield from every(demand.then)
