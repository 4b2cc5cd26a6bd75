"""Expressions of PrimFuncs, compiled to closures.

Nesting is walked by recursion; chains of operators, which have no limit, by loops.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL, INT32, INT64, DataType, dtype
from rlx.semantics.tir import calls, memory
from rlx.semantics.tir.intrinsics import intrinsic, reinterpret, unknown
from rlx.semantics.tir.terms import (
    Evaluate,
    Frame,
    Term,
    common,
    converted,
    lanewise,
    lifted,
    located,
)
from rlx.semantics.tir.values import (
    Operation,
    binary,
    cast,
    exact,
    fault,
    into,
    limits,
    unsupported,
    vector_element,
)
from rlx.spec.registry import rule

_DATA = re.compile(r"(\w+)\.data\Z")
_TO_NEST = 16
"""Longer chains of operators are evaluated by a loop: Python cannot nest calls without end."""


class Expressions:
    """Compiles the expressions of one PrimFunc.

    Attributes
    ----------
    slots
        The places of variables and buffers in the frame.
    exact
        Whether the index of a buffer is being compiled.
    """

    def __init__(self) -> None:
        self.slots: dict[tir.Var | tir.Buffer, int] = {}
        self.exact = False

    def slot(self, node: tir.Var | tir.Buffer) -> int:
        """The place of a variable or buffer; slot 0 is the run's."""
        return self.slots.setdefault(node, len(self.slots) + 1)

    def compile(self, expr: tir.PrimExpr) -> Term:
        """An expression.

        Raises
        ------
        Unsupported
            For text that is not understood, intrinsics without a meaning, types without arithmetic.
        """
        for kind in type(expr).__mro__:
            if kind in _COMPILERS:
                return _COMPILERS[kind](self, expr)
        return opaque(expr)

    def number(self, expr: tir.PrimExpr) -> Evaluate:
        """An expression whose value alone is wanted."""
        return self.compile(expr).run

    def index(self, expr: tir.PrimExpr) -> Term:
        """An index of a buffer."""
        before, self.exact = self.exact, True
        term = self.compile(expr)
        self.exact = before
        return term

    def value(self, expr: tir.PrimExpr) -> Term:
        """What is no index though it may stand inside of one: a condition, an argument."""
        before, self.exact = self.exact, False
        term = self.compile(expr)
        self.exact = before
        return term

    @rule("E-tir-let", "54f7ba22")
    def bind(self, var: tir.Var, value: tir.PrimExpr) -> tuple[int, Evaluate]:
        """The place of a variable, and the value it gets, brought into its type."""
        term = converted(self.value(value), vector_element(var.dtype))
        return self.slot(var), term.run

    def named(self, name: str) -> tir.Buffer | None:
        """The buffer last declared under a name."""
        found = [b for b in self.slots if isinstance(b, tir.Buffer) and b.name == name]
        return found[-1] if found else None


@rule("E-tir-opaque", "2586be6c")
def opaque(node: Any) -> Term:
    """What is said of text that was kept as it stands."""
    text = getattr(node, "text", type(node).__name__).strip().split("\n")[0]
    shown = f"this part of a PrimFunc cannot be evaluated: {text[:80]}"
    unsupported("E-tir-opaque", shown, node.span)


# ------------------------------------------------------------------ leaves


def _var(run: Expressions, expr: Any) -> Term:
    slot = run.slots.get(expr)
    if slot is None:
        unsupported("E-tir-opaque", f"{expr.name} has no value here", expr.span)
    vector = expr.dtype.lanes > 1
    return Term(lambda frame: frame[slot], vector_element(expr.dtype), vector)


def _literal(run: Expressions, expr: Any) -> Term:
    value = into(vector_element(expr.dtype))(expr.value)
    return Term(lambda frame: value, expr.dtype, literal=isinstance(expr, tir.IntImm))


# ------------------------------------------------------------------ operators


def _binary(run: Expressions, expr: Any) -> Term:
    """A chain of operators, from its leftmost operand on."""
    spine: list[tir.Binary] = []
    left = expr
    while isinstance(left, tir.Binary) and not isinstance(left, (tir.And, tir.Or)):
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


def _operation(run: Expressions, node: tir.Binary, a: Term, b: Term) -> Operation:
    """What a node does to the value on its left and, in the type where both meet, that on its right."""
    kind, meet = type(node), b.dtype
    plain = indexing(kind, meet) if run.exact else binary(kind, meet)
    apply = plain
    if a.dtype != meet:
        convert = cast(a.dtype, meet)
        apply = lambda x, y: plain(convert(x), y)
    if a.vector or b.vector:
        apply = lanewise(apply)
    fails = run.exact or isinstance(node, _DIVISIONS)
    return located(apply, node.span) if fails and not meet.is_float else apply


_DIVISIONS = (tir.Div, tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod)


@rule("E-tir-index", "ce6d7ef3")
def indexing(kind: type[tir.Binary], dtype: DataType) -> Operation:
    """An operation in the index of a buffer: on integers it is exact, and leaves no 64 bits."""
    if dtype.is_float or kind not in (tir.Add, tir.Sub, tir.Mul):
        return binary(kind, dtype)
    whole, (low, high) = exact(kind), limits(INT64)

    def apply(a: int, b: int) -> Any:
        value = whole(a, b)
        if not low <= value <= high:
            fault("E-tir-bounds", f"the arithmetic of an index leaves 64 bits: {value}")
        return value

    return apply


@rule("E-tir-logic", "edbb6bb0")
def _logical(run: Expressions, expr: Any) -> Term:
    """`and`, `or`: the right operand is evaluated where the left one does not decide."""
    kind: type[tir.Binary] = type(expr)
    terms: list[Term] = []
    node = expr
    while type(node) is kind:
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


def _not(run: Expressions, expr: Any) -> Term:
    a = run.value(expr.a)
    return Term(lifted(lambda value: not value, a), BOOL, a.vector)


@rule("E-tir-select", "c86d423f")
def _select(run: Expressions, expr: Any) -> Term:
    """Both values are evaluated."""
    c = run.value(expr.condition)
    a, b = run.compile(expr.true_value), run.compile(expr.false_value)
    meet = common(a, b)
    a, b = converted(a, meet), converted(b, meet)
    pick = lifted(lambda chosen, x, y: x if chosen else y, c, a, b)
    return Term(pick, meet, c.vector or a.vector or b.vector)


@rule("E-tir-if-then-else", "7a62a22a")
def _if_then_else(run: Expressions, expr: tir.Call) -> Term:
    """Only the value that the condition asks for is evaluated."""
    condition = run.value(expr.args[0]).run
    a, b = run.compile(expr.args[1]), run.compile(expr.args[2])
    meet = common(a, b)
    first, second = converted(a, meet).run, converted(b, meet).run

    def choose(frame: Frame) -> Any:
        return first(frame) if condition(frame) else second(frame)

    return Term(choose, meet, a.vector or b.vector)


def _cast(run: Expressions, expr: Any) -> Term:
    value = run.value(expr.value) if expr.dtype.is_float else run.compile(expr.value)
    target = vector_element(expr.dtype)
    term = Term(lifted(cast(value.dtype, target), value), target, value.vector)
    if value.dtype.is_float and not target.is_float:
        term.run = located(term.run, expr.span)
    return term


def _let(run: Expressions, expr: Any) -> Term:
    slot, value = run.bind(expr.var, expr.value)
    body = run.compile(expr.body)

    def let(frame: Frame) -> Any:
        frame[slot] = value(frame)
        return body.run(frame)

    return Term(let, body.dtype, body.vector)


# ------------------------------------------------------------------ buffers


def element(
    run: Expressions, buffer: tir.Buffer, indices: Sequence[tir.PrimExpr]
) -> tuple[int, list[Term]]:
    """The slot of a buffer, and its indices."""
    slot = run.slots.get(buffer)
    if slot is None:
        unsupported("E-tir-opaque", f"the buffer {buffer.name} has no memory here", buffer.span)
    return slot, [run.index(index) for index in indices]


def _load(run: Expressions, expr: Any) -> Term:
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


def _slice(run: Expressions, expr: Any) -> Term:
    """As an index of a load or a store: consecutive lanes."""
    start, stop = run.index(expr.start), run.index(expr.stop)
    first, last = start.run, stop.run
    return Term(lambda frame: tuple(range(first(frame), last(frame))), start.dtype, True)


# ------------------------------------------------------------------ calls


def _call(run: Expressions, expr: tir.Call) -> Term:
    special = _SPECIAL.get(expr.op)
    if special is not None:
        return special(run, expr)
    if any(isinstance(arg, tir.StringImm) for arg in expr.args):
        unknown(expr.op, expr.span)
    operands = [run.value(arg) for arg in expr.args]
    if len(operands) > 1 and expr.op not in ("ldexp", "shift_left", "shift_right"):
        operands[1:] = [converted(term, operands[0].dtype) for term in operands[1:]]
    result, function = located(intrinsic, expr.span)(expr.op, [t.dtype for t in operands])
    vector = any(term.vector for term in operands)
    return Term(located(lifted(function, *operands), expr.span), result, vector)


def _reinterpret(run: Expressions, expr: tir.Call) -> Term:
    args = list(expr.args)
    target = expr.dtype
    if args and isinstance(args[0], tir.StringImm):
        target = dtype(args[0].value)
        del args[0]
    if target is None or len(args) != 1:
        return opaque(expr)
    value = run.value(args[0])
    scalar = vector_element(target)
    return Term(
        lifted(located(reinterpret, expr.span)(value.dtype, scalar), value), scalar, value.vector
    )


def _extreme(run: Expressions, expr: tir.Call) -> Term:
    """`T.min_value("int32")`, `T.max_value`, `T.infinity`: constants of a type."""
    if len(expr.args) != 1 or not isinstance(expr.args[0], tir.StringImm):
        return opaque(expr)
    of = dtype(expr.args[0].value)
    value = calls.extreme(expr.op, of)
    return Term(lambda frame: value, of)


def _ramp(run: Expressions, expr: tir.Call) -> Term:
    base, stride, lanes = (run.compile(arg) for arg in expr.args)
    start, step, count = base.run, stride.run, lanes.run

    def ramp(frame: Frame) -> tuple[Any, ...]:
        first, by = start(frame), step(frame)
        return tuple(first + by * lane for lane in range(count(frame)))

    return Term(ramp, base.dtype, True)


def _broadcast(run: Expressions, expr: tir.Call) -> Term:
    value, lanes = run.compile(expr.args[0]), run.compile(expr.args[1])
    one, count = value.run, lanes.run
    return Term(lambda frame: (one(frame),) * count(frame), value.dtype, True)


def _extern(run: Expressions, expr: tir.Call) -> Term:
    """A function from outside: `T.call_extern("int32", "name", …)`, `T.call_packed("name", …)`."""
    args = list(expr.args)
    result = INT32
    texts = [arg.value for arg in args[:2] if isinstance(arg, tir.StringImm)]
    if "extern" in expr.op and texts:
        result = dtype(texts.pop(0))
        del args[0]
    if not texts or not isinstance(args[0], tir.StringImm):
        return opaque(expr)
    name = texts[0]
    del args[0]
    given = [argument(run, arg) for arg in args]
    bring = into(result) if result.is_float or result.is_integer else (lambda value: value)

    def call(frame: Frame) -> Any:
        return bring(calls.outside(frame[0].call, name, [g(frame) for g in given]) or 0)

    return Term(located(call, expr.span), result)


def argument(run: Expressions, expr: tir.PrimExpr) -> Evaluate:
    """An argument of a function from outside: a number, a string, or an array for a buffer's data."""
    match expr:
        case tir.StringImm(value=text):
            return lambda frame: text
        case tir.OpaqueExpr(text=text) if (found := _DATA.match(text)) is not None:
            buffer = run.named(found[1])
            if buffer is None:
                opaque(expr)
            slot = run.slots[buffer]  # type: ignore[index]
            return lambda frame: frame[slot].array()
        case tir.Call(op="tvm_stack_make_shape", args=dims):
            sizes = [run.number(dim) for dim in dims]
            return lambda frame: tuple([size(frame) for size in sizes])
        case tir.Call(op="tvm_stack_make_array", args=(data, shape, *_)):
            array, dims_of = argument(run, data), argument(run, shape)
            return lambda frame: array(frame).reshape(dims_of(frame))
    return run.value(expr).run


_SPECIAL: dict[str, Callable[[Expressions, Any], Term]] = {
    "if_then_else": _if_then_else,
    "reinterpret": _reinterpret,
    "min_value": _extreme,
    "max_value": _extreme,
    "infinity": _extreme,
    "Ramp": _ramp,
    "ramp": _ramp,
    "Broadcast": _broadcast,
    "broadcast": _broadcast,
    "call_extern": _extern,
    "call_pure_extern": _extern,
    "call_packed": _extern,
    "call_cpacked": _extern,
    "tvm_call_packed": _extern,
    "tvm_call_cpacked": _extern,
}
_COMPILERS: dict[type, Callable[[Expressions, Any], Term]] = {
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
    tir.Call: _call,
    tir.Let: _let,
}
