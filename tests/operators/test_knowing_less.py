"""With less known of operands, a rule concludes less of the same, and reports no error.

A shape says nothing about element types, and an element type says nothing about shapes, so that each of
them is kept where the other is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import INT64, VOID
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import PrimExpr, free_vars
from rlx.solver.evaluate import evaluate
from tests.operators.cases import LEGAL
from tests.operators.context import derive, variable
from tests.operators.corners import CORNERS
from tests.operators.test_laws import POINT

KEPT = {
    "dtype": {"fields", "rank", "dims"},
    "shape": {"fields", "rank", "dtype"},
    "rank": {"fields", "dtype"},
    "value": {"fields", "rank", "dtype"},
    "kind": set(),
}
"""What is known of the result still if this is forgotten of an operand."""

GIVEN = {"dtype"}
"""And if the call gives the element type itself."""

LITERAL = {"split", "ccl.allgather", "ccl.scatter_from_worker0"}
"""Operators whose second argument is a number that stands in the call."""

EXCEPTIONS = {
    ("squeeze", "shape"): "without axes, the lengths decide which remain",
    ("gather_nd", "shape"): "the length of the indices' last axis decides the rank",
    ("image.affine_grid", "rank"): "a size of unknown rank is taken for one of two axes, as by TVM",
}


def forget(info: ast.TensorStructInfo, what: str) -> ast.TensorStructInfo:
    """A tensor of which the shape, the rank (and shape) or the element type is not known."""
    if what == "dtype":
        return ast.TensorStructInfo(info.shape, VOID, info.ndim, info.vdevice)
    ndim = -1 if what == "rank" else info.ndim
    return ast.TensorStructInfo(None, info.dtype, ndim, info.vdevice)


def weaker(argument: Any) -> Iterator[tuple[str, Any]]:
    """The forgotten fact, and the argument without it."""
    match argument:
        case ast.TensorStructInfo():
            yield from ((what, forget(argument, what)) for what in ("shape", "rank", "dtype"))
            yield "kind", variable(OBJECT)
        case bool():
            return
        case int() | PrimExpr():
            yield "value", variable(ast.PrimStructInfo(INT64))
            yield "kind", variable(OBJECT)
        case (ast.TensorStructInfo(), *_):
            for what in ("shape", "rank", "dtype"):
                yield what, tuple(forget(info, what) for info in argument)
                for at, info in enumerate(argument):
                    yield what, (*argument[:at], forget(info, what), *argument[at + 1 :])
            yield "kind", variable(OBJECT)
        case (int() | PrimExpr(), *_):
            yield "shape", variable(ast.ShapeStructInfo(None, len(argument)))
            yield "rank", variable(ast.ShapeStructInfo(None, -1))
            yield "rank", variable(OBJECT)


def lengths(dims: tuple[PrimExpr, ...] | None) -> tuple[int, ...] | None:
    """The dimensions at a point; nothing where one is a variable that no operand has."""
    if dims is None or any(var not in POINT for dim in dims for var in free_vars(dim)):
        return None
    return tuple(int(evaluate(dim, POINT)) for dim in dims)


def facts(info: ast.StructInfo, path: tuple[int, ...] = ()) -> dict[tuple[object, str], object]:
    """The facts in a struct info, one at a time."""
    found: dict[str, object] = {}
    fields: dict[tuple[object, str], object] = {}
    match info:
        case ast.TensorStructInfo():
            shape = info.shape.values if isinstance(info.shape, ast.ShapeExpr) else None
            found = {"rank": info.ndim, "dims": lengths(shape), "dtype": str(info.dtype)}
        case ast.ShapeStructInfo():
            found = {"rank": info.ndim, "dims": lengths(info.values)}
        case ast.PrimStructInfo():
            found = {"dtype": str(info.dtype)}
        case ast.TupleStructInfo():
            found = {"fields": len(info.fields)}
            for at, field in enumerate(info.fields):
                fields |= facts(field, (*path, at))
    said = {(path, name): fact for name, fact in found.items() if fact not in (None, -1, "void")}
    return said | fields


def calls() -> Iterator[Any]:
    """Calls without an error, what is forgotten of an operand, and the operands without it."""
    for name, args, attrs in [*LEGAL, *CORNERS]:
        if "error" in derive(name, *args, **attrs).severities:
            continue
        for at, argument in enumerate(args[:1] if name in LITERAL else args):
            for what, less in weaker(argument):
                yield name, args, attrs, what, (*args[:at], less, *args[at + 1 :])


def wrong(kept: set[str], full: ast.StructInfo, less: ast.StructInfo) -> list[tuple[object, str]]:
    """Statements about the weaker call's result that are not true, and missing ones."""
    known, found = facts(full), facts(less)
    false = [key for key, fact in found.items() if known.get(key) != fact]
    return false + [key for key in known if key[1] in kept and key not in found]


def test_what_is_not_known_of_an_operand_makes_no_conclusion_false() -> None:
    failures, excused = [], set[tuple[str, str]]()
    for name, args, attrs, what, fewer in calls():
        less = derive(name, *fewer, **attrs)
        if "OBL-reshape-infer" in less.codes:
            continue  # -1 and 0 in the new shape stand for what the old one says
        if any("rlx assumes" in message for _, _, message in less.reports):
            continue  # an object is taken for null, which is said
        kept = KEPT[what] | (GIVEN if "dtype" in attrs else set())
        missing = wrong(kept, derive(name, *args, **attrs).info, less.info)
        if missing and (name, what) in EXCEPTIONS:
            excused.add((name, what))
        elif missing or "error" in less.severities:
            failures.append((name, fewer, attrs, missing, less.reports))
    assert failures == []
    assert excused == EXCEPTIONS.keys()
