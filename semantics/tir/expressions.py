"""Expressions of PrimFuncs, compiled to closures.

Nested expressions are processed by recursion, and chains of operators, whose length is unlimited,
by loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType, limits
from rlx.grammar.nodes.prim_operators import DIVISIONS, exact
from rlx.semantics.tir import calls, memory, pointer_calls
from rlx.semantics.tir.expression_compiler import ExpressionCompiler
from rlx.semantics.tir.terms import (
    Evaluate,
    Frame,
    Term,
    common,
    converted,
    lanes_paid,
    lanewise,
    lifted,
    located,
)
from rlx.semantics.tir.values import (
    Operation,
    binary,
    cast,
    fault,
    into,
    unsupported,
    vector_element,
)
from rlx.spec.registry import rule

_TO_NEST = 16
"""The length from which chains of operators are evaluated by a loop, because Python limits nested
calls.
"""


# ------------------------------------------------------------------ leaves


def _var(run: ExpressionCompiler, expr: Any) -> Term:
    slot = run.slots.get(expr)
    if slot is None:
        unsupported("E-tir-opaque", f"{expr.name} has no value here", expr.span)
    vector = expr.dtype.lanes > 1
    return Term(lambda frame: frame[slot], vector_element(expr.dtype), vector)


def _literal(run: ExpressionCompiler, expr: Any) -> Term:
    value = into(vector_element(expr.dtype))(expr.value)
    return Term(lambda frame: value, expr.dtype, literal=isinstance(expr, tir.IntImm))


# ------------------------------------------------------------------ operators


def _binary(run: ExpressionCompiler, expr: Any) -> Term:
    """A chain of operators, from its leftmost operand on."""
    spine: list[tir.Binary] = []
    left = expr
    while isinstance(left, tir.Binary) and not isinstance(left, (tir.And, tir.Or)):
        if left is not expr and run.is_repeated(left):
            break
        spine.append(left)
        left = left.a
    term = run.compile(left)
    first, steps = term.run, list[tuple[Operation, Evaluate]]()
    for node in reversed(spine):
        right = run.compile(node.b)
        meet = common(term, right)
        right = converted(right, meet)
        steps.append((_operation(run, node, term, right), right.run))
        result = BOOL if isinstance(node, tir.Comparison) else meet
        term = Term(first, result, term.vector or right.vector)
    return Term(_chain(first, steps), term.dtype, term.vector)


def _chain(first: Evaluate, steps: list[tuple[Operation, Evaluate]]) -> Evaluate:
    """The first value, and each operation on what was computed so far and an operand."""
    if len(steps) > _TO_NEST:

        def chain(frame: Frame) -> Any:
            value = first(frame)
            for apply, operand in steps:
                value = apply(value, operand(frame))
            return value

        return chain
    for apply, operand in steps:
        first = _two(apply, first, operand)
    return first


def _two(apply: Operation, a: Evaluate, b: Evaluate) -> Evaluate:
    return lambda frame: apply(a(frame), b(frame))


def _operation(run: ExpressionCompiler, node: tir.Binary, a: Term, b: Term) -> Operation:
    """The operation of a node on the value on its left and, in the type where both meet, that on
    its right.
    """
    kind, meet = type(node), b.dtype
    plain = indexing(kind, meet) if run.exact else binary(kind, meet)
    apply = plain
    if a.dtype != meet:
        convert = cast(a.dtype, meet)
        apply = lambda x, y: plain(convert(x), y)
    if a.vector or b.vector:
        apply = lanewise(apply)
    fails = run.exact or isinstance(node, DIVISIONS)
    return located(apply, node.span) if fails and not meet.is_float else apply


@rule("E-tir-index", "TIR expression")
def indexing(kind: type[tir.Binary], dtype: DataType) -> Operation:
    """An operation in the index of a buffer: on integers it is exact and must fit into 64 bits."""
    if dtype.is_float or kind not in (tir.Add, tir.Sub, tir.Mul):
        return binary(kind, dtype)
    whole, (low, high) = exact(kind), limits(INT64)

    def apply(a: int, b: int) -> Any:
        value = whole(a, b)
        if not low <= value <= high:
            fault("E-tir-bounds", f"the index arithmetic overflows 64 bits: {value}")
        return value

    return apply


@rule("E-tir-logic", "TIR expression")
def _logical(run: ExpressionCompiler, expr: Any) -> Term:
    """`and`, `or`: the right operand is evaluated where the left one does not decide."""
    kind: type[tir.Binary] = type(expr)
    terms: list[Term] = []
    node = expr
    while type(node) is kind and (node is expr or not run.is_repeated(node)):
        terms.append(run.value(node.b))
        node = node.a
    terms.append(run.value(node))
    terms.reverse()
    if any(t.vector for t in terms):
        total = terms[0]
        for term in terms[1:]:
            total = Term(lifted(binary(kind, BOOL), total, term), BOOL, True)
        return total
    runs = [t.run for t in terms]
    if kind is tir.And:
        return Term(lambda frame: all(r(frame) for r in runs), BOOL)
    return Term(lambda frame: any(r(frame) for r in runs), BOOL)


def _not(run: ExpressionCompiler, expr: Any) -> Term:
    a = run.value(expr.a)
    return Term(lifted(lambda value: not value, a), BOOL, a.vector)


@rule("E-tir-select", "TIR expression")
def _select(run: ExpressionCompiler, expr: Any) -> Term:
    """Both values are evaluated."""
    c = run.value(expr.condition)
    a, b = run.compile(expr.true_value), run.compile(expr.false_value)
    meet = common(a, b)
    a, b = converted(a, meet), converted(b, meet)
    pick = lifted(lambda chosen, x, y: x if chosen else y, c, a, b)
    return Term(pick, meet, c.vector or a.vector or b.vector)


def _cast(run: ExpressionCompiler, expr: Any) -> Term:
    value = run.value(expr.value) if expr.dtype.is_float else run.compile(expr.value)
    target = vector_element(expr.dtype)
    term = Term(lifted(cast(value.dtype, target), value), target, value.vector)
    if value.dtype.is_float and not target.is_float:
        term.run = located(term.run, expr.span)
    return term


def _let(run: ExpressionCompiler, expr: Any) -> Term:
    slot, value = run.bind(expr.var, expr.value)
    body = run.compile(expr.body)

    def let(frame: Frame) -> Any:
        frame[slot] = value(frame)
        return body.run(frame)

    return Term(let, body.dtype, body.vector)


# ------------------------------------------------------------------ buffers


def element(
    run: ExpressionCompiler, buffer: tir.Buffer, indices: Sequence[tir.PrimExpr]
) -> tuple[int, list[Term]]:
    """The slot of a buffer, and its indices."""
    slot = run.slots.get(buffer)
    if slot is None:
        unsupported("E-tir-opaque", f"the buffer {buffer.name} has no memory here", buffer.span)
    found = [run.index(index) for index in indices]
    if buffer.dtype.lanes > 1:  # its last axis are the lanes of its elements
        if any(term.vector for term in found):
            shown = f"several elements of {buffer.name}, which are vectors, at once"
            unsupported("E-tir-type", f"{shown} are not supported", buffer.span)
        lanes = tuple(range(buffer.dtype.lanes))
        found.append(Term(lambda frame: lanes, INT64, True))
    return slot, found


def _load(run: ExpressionCompiler, expr: Any) -> Term:
    slot, indices = element(run, expr.buffer, expr.indices)
    runs = [term.run for term in indices]
    scalar = vector_element(expr.buffer.dtype)
    if any(term.vector for term in indices):
        each = lifted(lambda *at: at, *indices)
        lanes = located(
            lambda frame: tuple([memory.load(frame[slot], at) for at in each(frame)]), expr.span
        )
        return Term(lanes, scalar, True)
    one = located(lambda frame: memory.load(frame[slot], [r(frame) for r in runs]), expr.span)
    return Term(one, scalar)


def _slice(run: ExpressionCompiler, expr: Any) -> Term:
    """As an index of a load or a store: one lane for each place."""
    start, stop = run.index(expr.start), run.index(expr.stop)
    first, last = start.run, stop.run
    by = None if expr.step is None else run.index(expr.step).run

    def places(frame: Frame) -> tuple[int, ...]:
        step = 1 if by is None else by(frame)
        if step == 0:
            fault("E-tir-bounds", "the step of a slice is 0")
        begin, end = first(frame), last(frame)
        lanes_paid(frame, max(0, (end - begin + step - (1 if step > 0 else -1)) // step))
        return tuple(range(begin, end, step))

    return Term(located(places, expr.span), start.dtype, True)


COMPILERS: dict[type, Callable[[ExpressionCompiler, Any], Term]] = {
    tir.Var: _var,
    tir.IntImm: _literal,
    tir.FloatImm: _literal,
    tir.And: _logical,
    tir.Or: _logical,
    tir.Binary: _binary,
    tir.Not: _not,
    tir.Select: _select,
    tir.Cast: _cast,
    tir.BufferLoad: _load,
    tir.Slice: _slice,
    tir.Call: calls.call,
    tir.Let: _let,
    tir.OpaqueExpr: pointer_calls.text,
}
