"""Traversal and rebuilding of struct info, and the shape variables that annotations bind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any
from weakref import WeakKeyDictionary

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Node, changed, complete, same
from rlx.grammar.nodes.tir import PrimExpr

OBJECT = ast.ObjectStructInfo()
"""The annotation of any value; a single object, so that it can be compared by identity."""


def children(info: StructInfo) -> tuple[StructInfo, ...]:
    """The direct parts: the fields of a tuple, or the parameters and the result of a function."""
    kind = type(info)
    return info.children() if kind in (ast.TupleStructInfo, ast.FuncStructInfo) else ()  # type: ignore[return-value]


def fields_or_itself(info: StructInfo) -> tuple[StructInfo, ...]:
    """The fields of a tuple; any other annotation alone, as for calls with one argument or
    result.
    """
    return info.fields if isinstance(info, ast.TupleStructInfo) else (info,)


def rebuilt(info: StructInfo, change: Callable[[StructInfo], StructInfo]) -> StructInfo:
    """An annotation with each part changed that is not a tuple, at any depth of tuples.

    A tuple that occurs in several places is rebuilt once: tuples may share their fields.
    """
    return _rebuilt(info, change, {})


def _rebuilt(
    info: StructInfo, change: Callable[[StructInfo], StructInfo], done: dict[int, StructInfo]
) -> StructInfo:
    if type(info) is not ast.TupleStructInfo:
        return change(info)
    if id(info) not in done:
        fields = [_rebuilt(each, change, done) for each in info.fields]
        done[id(info)] = changed(info, fields=same(info.fields, fields))
    return done[id(info)]


def numbers(info: StructInfo) -> tuple[PrimExpr, ...]:
    """The prim expressions of an annotation itself: the dimensions of a tensor or shape, or the
    value of a scalar.
    """
    kind = type(info)
    if kind is ast.TensorStructInfo:
        shape = info.shape  # type: ignore[attr-defined]
        return shape.values if type(shape) is ast.ShapeExpr else ()
    if kind is ast.ShapeStructInfo:
        return info.values or ()  # type: ignore[attr-defined]
    if kind is ast.PrimStructInfo and info.value is not None:  # type: ignore[attr-defined]
        return (info.value,)  # type: ignore[attr-defined]
    return ()


def held_shape(info: StructInfo) -> ast.Var | None:
    """The variable that a tensor's annotation gives as its shape."""
    if type(info) is ast.TensorStructInfo and isinstance(info.shape, ast.Var):
        return info.shape
    return None


def all_parts(info: StructInfo) -> Iterator[StructInfo]:
    """An annotation and all its parts, each before its own parts, in the order of the text.

    A tuple or function type that occurs several times is visited once, so that the time is bounded
    by the size of the annotation in memory: `((t, t), (t, t))` may share its halves.
    """
    return _each(info, children)


def of_the_value(info: StructInfo) -> Iterable[StructInfo]:
    """An annotation and the fields of its tuples: the parts that a value itself has.

    The parameters and the result of a function type belong to its calls instead. As in
    :func:`all_parts`, a tuple that occurs several times is visited once.
    """
    if type(info) is not ast.TupleStructInfo:
        return (info,)
    return _each(info, lambda part: children(part) if type(part) is ast.TupleStructInfo else ())


def _each(
    info: StructInfo, below: Callable[[StructInfo], Sequence[StructInfo]]
) -> Iterator[StructInfo]:
    stack = [info]
    seen: set[int] = set()
    while stack:
        part = stack.pop()
        inside = below(part)
        if inside:
            if id(part) in seen:
                continue
            seen.add(id(part))
            stack.extend(reversed(inside))
        yield part


def with_children(info: StructInfo, change: Callable[[StructInfo], StructInfo]) -> StructInfo:
    """An annotation with other direct parts, or itself if they are the same objects."""
    return info.map_children(lambda part: change(part) if isinstance(part, StructInfo) else part)


def with_numbers(info: StructInfo, number: Callable[[PrimExpr], PrimExpr]) -> StructInfo:
    """An annotation with other dimensions or another value, or itself if they are the same
    objects.
    """

    def changed(part: Node) -> Node:
        if type(part) is ast.ShapeExpr:
            return part.map_children(number)
        return number(part) if isinstance(part, PrimExpr) else part

    return info.map_children(changed)


_mentioned: WeakKeyDictionary[StructInfo, frozenset[Any]] = WeakKeyDictionary()


def mentioned(info: StructInfo) -> frozenset[Any]:
    """The variables of Relax and of shapes that an annotation mentions, without those that its
    function types bind.

    They are kept beside tuples and function types, which later annotations have as their parts.
    """
    if type(info) not in (ast.TupleStructInfo, ast.FuncStructInfo):
        shape = held_shape(info)
        return frozenset(tir.free_vars(*numbers(info)) if shape is None else [shape])
    known = _mentioned.get(info)
    if known is None:
        first, *others = {id(part): part for part in map(mentioned, children(info))}.values() or [
            frozenset()
        ]
        known = first.union(*others) if others else first
        if isinstance(info, ast.FuncStructInfo):
            known = known.difference(info.binders)
        _mentioned[info] = known
    return known


def binding_positions(info: ast.StructInfo) -> list[tir.PrimExpr]:
    """The dimensions and values of an annotation where a shape variable that appears alone is
    bound.

    They do not include the parameters of function types, which bind variables for their own calls
    (ledger 13).
    """
    return [number for part in of_the_value(info) for number in numbers(part)]


def bind_callable(info: ast.StructInfo, bound: AbstractSet[tir.Var]) -> None:
    """Determine the shape variables that the function types in an annotation bind for their calls.

    These are the variables that appear alone in a parameter and are not bound outside the type. The
    function can be called again when more variables are bound: a parameter of a signature may come
    before the one that binds its variables.
    """
    if children(info):
        _mentioned.pop(info, None)
    if isinstance(info, ast.FuncStructInfo):
        if info.params is None:
            return
        bound = bound | _bind(info, bound)
    for inner in children(info):
        if children(inner):
            bind_callable(inner, bound)


def bind_outermost(info: ast.FuncStructInfo, bound: AbstractSet[tir.Var]) -> None:
    """As :func:`bind_callable`, for a type whose parts were bound before with the same variables.

    The parts are visited again only if the type itself binds variables: types may be deep in types.
    """
    own = _bind(info, bound)
    if own:
        for inner in children(info):
            bind_callable(inner, bound | own)


def _bind(info: ast.FuncStructInfo, bound: AbstractSet[tir.Var]) -> AbstractSet[tir.Var]:
    lone = (value for param in info.params or () for value in binding_positions(param))
    own = dict.fromkeys(v for v in lone if type(v) is tir.Var and v not in bound)
    complete(info, binders=tuple(own))
    return own.keys()
