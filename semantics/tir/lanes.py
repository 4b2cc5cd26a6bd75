"""Selection of lanes of vectors in PrimFuncs, by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.semantics.tir.expression_compiler import ExpressionCompiler, opaque
from rlx.semantics.tir.terms import Evaluate, Frame, Term, converted, located
from rlx.semantics.tir.values import fault
from rlx.spec.registry import rule


@rule("E-tir-shuffle", "TIR expression")
def picked(lanes: Sequence[Any], places: Sequence[int]) -> Any:
    """The lanes at some places: a vector, or a number for a single place."""
    for place in places:
        if not 0 <= place < len(lanes):
            fault("E-tir-bounds", f"lane {place} is not among {len(lanes)} lanes")
    found = tuple([lanes[place] for place in places])
    return found if len(found) > 1 else found[0]


def _all_lanes(terms: Sequence[Term]) -> tuple[Evaluate, DataType]:
    """The lanes of several vectors and numbers, one behind the other."""
    kind = terms[0].dtype
    runs = [(converted(term, kind).run, term.vector) for term in terms]

    def lanes(frame: Frame) -> tuple[Any, ...]:
        found: list[Any] = []
        for run, vector in runs:
            found.extend(run(frame) if vector else (run(frame),))
        return tuple(found)

    return lanes, kind


def _shuffle(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """`T.Shuffle([v, w], [0, 5, 1])`: lanes of all vectors together."""
    count: Any = expr.attrs.get("vectors", 0)
    vectors, places = expr.args[:count], expr.args[count:]
    if not vectors or not places or not all(isinstance(at, tir.IntImm) for at in places):
        return opaque(expr)
    lanes, kind = _all_lanes([run.value(vector) for vector in vectors])
    numbers = [at.value for at in places if isinstance(at, tir.IntImm)]
    value = located(lambda frame: picked(lanes(frame), numbers), expr.span)
    return Term(value, kind, len(numbers) > 1)


def _half(high: bool) -> Callable[[ExpressionCompiler, tir.Call], Term]:
    def half(run: ExpressionCompiler, expr: tir.Call) -> Term:
        """`T.vectorlow("float32x4", v)`, `T.vectorhigh("float32x4", v)`"""
        lanes, kind = _all_lanes([run.value(arg) for arg in expr.args[1:]] or [opaque(expr)])

        def picked_half(frame: Frame) -> Any:
            found = lanes(frame)
            middle = len(found) // 2
            return picked(found, range(middle, len(found)) if high else range(middle))

        return Term(picked_half, kind, True)

    return half


def _combined(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """`T.vectorcombine("float32x8", v, w)`"""
    lanes, kind = _all_lanes([run.value(arg) for arg in expr.args[1:]] or [opaque(expr)])
    return Term(lanes, kind, True)


LANES: dict[str, Callable[[ExpressionCompiler, Any], Term]] = {
    "Shuffle": _shuffle,
    "vectorcombine": _combined,
    "vectorhigh": _half(True),
    "vectorlow": _half(False),
}
"""The intrinsics by name."""
