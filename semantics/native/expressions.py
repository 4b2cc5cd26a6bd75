"""Prim expressions as C code in three-address form: each operation has its own line and variable.

So the C code is flat for expressions of any depth, and contains no name or text of the program.
There is no recursion: visitors are generators that yield their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import isnan
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType
from rlx.grammar.nodes.dtype import dtype as dtype_of
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.prim_operators import BY_INTRINSIC, BY_NODE, INTEGER_DIVISIONS
from rlx.semantics.native import c_types, intrinsics
from rlx.semantics.native.c_types import CValue, refuse
from rlx.semantics.native.conversions import (
    bounds,
    cast,
    common,
    constant,
    converted,
    define,
    unforeseen,
)
from rlx.semantics.native.indices import facts_of, poly_of
from rlx.semantics.native.state import Generation

Visit = tir.Visit[CValue]

UINT64 = dtype_of("uint64")
MOST = 200_000
"""The largest number of expressions of a kernel, which takes a C compiler about a minute."""

_CHECKED = (tir.Add, tir.Sub, tir.Mul)


def value_of(state: Generation, expr: tir.PrimExpr) -> CValue:
    """Emit the computation of ``expr``; its value."""
    before, state.values = state.values, {}
    found = tir.fold_lazily(expr, partial(_once, state))
    state.values = before
    return found


def _once(state: Generation, expr: tir.PrimExpr) -> Visit:
    """The value of an expression, whose code a shared one needs only once."""
    key = (expr, state.exact, state.guarding)
    if key not in state.values:
        state.emitted += 1
        if state.emitted > MOST:
            refuse("conditions whose branches repeat their parts too often", _span(expr))
        # An operand may add to the values, or take them back where its block ends.
        found = yield from _visit(state, expr)
        state.values[key] = found
    return state.values[key]


def _visit(state: Generation, expr: tir.PrimExpr) -> Visit:
    if expr in state.early:
        return _early(state, expr)
    for kind in type(expr).__mro__:
        if kind in _VISITORS:
            return _VISITORS[kind](state, expr)
    refuse(type(expr).__name__, _span(expr))


def _span(expr: tir.PrimExpr) -> Span | None:
    return getattr(expr, "span", None)


def integral(state: Generation, expr: Any, what: str) -> CValue:
    """The value of an expression that must be an integer: the extent of a loop or of a buffer."""
    value = value_of(state, expr)
    if value.dtype.is_float:
        refuse(f"{what} of type {value.dtype}", expr.span)
    return converted(state, value, INT64)


# ------------------------------------------------------------------ leaves


def _early(state: Generation, expr: tir.PrimExpr) -> Visit:
    return CValue(state.early[expr], state.type_of(expr))
    yield


def _var(state: Generation, expr: Any) -> Visit:
    return state.variable(expr)
    yield


def _int(state: Generation, expr: Any) -> Visit:
    if expr.dtype.is_float:
        return CValue(c_types.floating(float(expr.value), expr.dtype), expr.dtype)
    return constant(expr.value, expr.dtype)
    yield


def _float(state: Generation, expr: Any) -> Visit:
    return CValue(c_types.floating(expr.value, expr.dtype), expr.dtype)
    yield


# ------------------------------------------------------------------ operators


def _binary(state: Generation, expr: Any) -> Visit:
    a = yield expr.a
    b = yield expr.b
    dtype = common(a, b)
    a, b = converted(state, a, dtype), converted(state, b, dtype)
    kind = type(expr)
    if kind is tir.Div and not dtype.is_float:
        kind = tir.TruncDiv
    if state.exact and kind in _CHECKED and not dtype.is_float:
        return _checked(state, expr, a, b, dtype)
    wide = _any_wide(expr, a, b)
    if kind in INTEGER_DIVISIONS:
        return _divided(state, expr, a, b, dtype)
    if issubclass(kind, tir.Comparison):
        decided = _decided(state, expr) if dtype.is_integer and state.guarding else None
        if decided is not None:
            return constant(decided, BOOL)
        if a.half and b.half:
            return define(state, _of_halves(kind, a.half, b.half), BOOL)
        texts = [a.text, b.text]
        if dtype.is_integer and _is_guard(state, expr):
            texts[a.known is None] = unforeseen(texts[a.known is None], dtype)
        return define(state, BY_NODE[kind].c.format(a=texts[0], b=texts[1]), BOOL)
    text = BY_NODE[kind].c.format(a=a.text, b=b.text)
    if kind in (tir.Min, tir.Max):
        return _defined(state, text, dtype, wide)
    return define(state, c_types.rounded(dtype, text), dtype)


def _of_halves(kind: type, a: str, b: str) -> str:
    """A comparison of two halves by their bits, of which a vector holds twice as many."""
    ranks = BY_NODE[kind].c.format(a=f"rlx_rank_f16({a})", b=f"rlx_rank_f16({b})")
    if kind is tir.NE:
        return f"({ranks} | rlx_nan_f16({a}) | rlx_nan_f16({b}))"
    return f"({ranks} & !rlx_nan_f16({a}) & !rlx_nan_f16({b}))"


def _checked(state: Generation, expr: Any, a: CValue, b: CValue, dtype: DataType) -> CValue:
    """Arithmetic of an index: exact, or a fault. The result has its type, if not its width."""
    code, message = state.overflow
    site = state.out.site(code, message, expr.span)
    name = state.out.fresh()
    state.out.put(f"int64_t {name};")
    operands = f"{a.text}, {b.text}, &{name}"
    state.out.stop_if(f"__builtin_{type(expr).__name__.lower()}_overflow({operands})", site)
    return CValue(name, dtype, wide=True)


def _any_wide(expr: Any, *values: CValue) -> bool:
    """Whether one of several operands is exact; beside such, none may be larger than 64 bits with a
    sign hold.
    """
    wide = any(value.wide for value in values)
    if wide and any(value.dtype == UINT64 for value in values):
        refuse("index arithmetic in uint64", expr.span)
    return wide


def _defined(state: Generation, text: str, dtype: DataType, wide: bool) -> CValue:
    """A new variable of a type, or an exact one."""
    if not wide:
        return define(state, text, dtype)
    name = state.out.fresh()
    state.out.put(f"const int64_t {name} = {text};")
    return CValue(name, dtype, wide=True)


def _divided(state: Generation, expr: Any, a: CValue, b: CValue, dtype: DataType) -> CValue:
    kind = tir.TruncDiv if type(expr) is tir.Div else type(expr)
    if not dtype.is_float:
        if b.known == 0 or b.known is None:
            site = state.out.site("E-tir-divide", "integer division by zero", expr.span)
            state.out.stop_if(f"{b.text} == 0", site)
        if b.known and b.known > 0 and state.is_natural(expr.a):
            sign = "/" if kind in (tir.FloorDiv, tir.TruncDiv) else "%"
            # The processor divides numbers without a sign in fewer steps, and short ones in vectors.
            held = f"uint{32 if state.is_short(expr.a) and b.known < 1 << 32 else 64}_t"
            text = f"(int64_t)(({held}){a.text} {sign} ({held}){b.text})"
            return define(state, c_types.rounded(dtype, text), dtype)
    if _any_wide(expr, a, b):
        text = BY_NODE[kind].c.format(a=a.text, b=b.text, t="i64")
        return define(state, c_types.rounded(dtype, text), dtype)
    text = BY_NODE[kind].c.format(a=a.text, b=b.text, t=c_types.suffix(dtype))
    return define(state, text, dtype)


def guard(state: Generation, condition: tir.PrimExpr, loads: Iterable[tir.BufferLoad]) -> CValue:
    """The condition of some loads.

    It depends on a number that the compiler does not know. If GCC 12 knows which lanes of a vector
    a load is for, it loads all of them, beyond the end of the buffer too; bytes alone it does not.
    """
    before = state.guarding
    state.guarding = before or any(load.buffer.dtype.bits > 8 for load in loads)
    value = value_of(state, condition)
    state.guarding = before
    return value


def _guard(state: Generation, condition: tir.PrimExpr, *values: tir.PrimExpr) -> Visit:
    before = state.guarding
    state.guarding = before or any(map(state.loads_wide, values))
    value = yield from _apart(state, condition)
    state.guarding = before
    return value


def _is_guard(state: Generation, expr: tir.Binary) -> bool:
    """Whether a comparison decides about loads, and nothing in it is unknown before the run."""
    if not state.guarding:
        return False
    a, b = poly_of(state, expr.a), poly_of(state, expr.b)
    return a is None or b is None or state.scope.constant_range(a - b) is not None


def _decided(state: Generation, expr: tir.Binary) -> bool | None:
    """Whether a comparison certainly holds, or certainly does not."""
    for holds in (True, False):
        sums = facts_of(state, expr, holds)
        if sums and all(map(state.scope.proves, sums)):
            return holds
    return None


def _apart(state: Generation, expr: tir.PrimExpr) -> Visit:
    """A condition or an argument: it is no index even where it stands in one."""
    before, state.exact = state.exact, False
    value = yield expr
    state.exact = before
    return value


def _branch(state: Generation, condition: tir.PrimExpr, holds: bool, inside: Visit) -> Visit:
    """A value that is computed in a block of its own, where a condition holds or does not."""
    before, state.values = state.values, dict(state.values)
    known = state.assume(condition, holds)
    value = yield from inside
    state.forget(known)
    state.values = before
    return value


def _value(expr: tir.PrimExpr) -> Visit:
    return (yield expr)


def _logical(state: Generation, expr: Any) -> Visit:
    both = isinstance(expr, tir.And)
    if state.is_total(expr.b, expr.a):
        a = yield from _apart(state, expr.a)
        b = yield from _apart(state, expr.b)
        for known, other in ((a, b), (b, a)):
            if known.known is not None and other.dtype == BOOL:
                return other if bool(known.known) == both else constant(not both, BOOL)
        sign = "&" if both else "|"
        return define(state, f"(({a.text} != 0) {sign} ({b.text} != 0))", BOOL)
    a = yield from _guard(state, expr.a, expr.b)
    name = state.out.fresh()
    state.out.put(f"uint8_t {name} = ({a.text} != 0);")
    state.out.put(f"if ({'' if both else '!'}{name}) {{")
    b = yield from _branch(state, expr.a, both, _apart(state, expr.b))
    state.out.put(f"{name} = ({b.text} != 0);")
    state.out.put("}")
    return CValue(name, BOOL)


def _not(state: Generation, expr: Any) -> Visit:
    a = yield from _apart(state, expr.a)
    return define(state, f"(!{a.text})", BOOL)


def _let(state: Generation, expr: Any) -> Visit:
    """The value is computed once, before the body."""
    value = yield from _apart(state, expr.value)
    state.names[expr.var] = converted(state, value, expr.var.dtype)
    state.bind_sum(expr.var, None)
    return (yield expr.body)


def _select(state: Generation, expr: Any) -> Visit:
    sign = _limited(expr)
    if sign:  # if it is NaN, no comparison holds, and it stays
        a, limit = (yield expr.true_value), (yield expr.false_value)
        dtype = common(a, limit)
        x, y = (converted(state, each, dtype).text for each in (a, limit))
        return define(state, f"({x} {sign} {y} ? {y} : {x})", dtype)
    extremum = _extremum(expr)
    c = None if extremum else (yield from _apart(state, expr.condition))
    a = yield expr.true_value
    b = yield expr.false_value
    dtype = common(a, b)
    a, b = converted(state, a, dtype), converted(state, b, dtype)

    def chosen(one: str, other: str) -> str:
        """One of two texts; an extremum is an instruction of the processor, but for NaN."""
        if c is not None:
            return f"({c.text} ? {one} : {other})"
        x, y = a.text, b.text
        return f"({x} != {x} ? {one} : {x} {extremum} {y} ? {one} : {other})"

    if a.stored and b.stored:  # one of two elements, as it is in memory
        stored = state.out.fresh()
        kind = c_types.stored(dtype)
        state.out.put(f"const {kind} {stored} = {chosen(a.stored, b.stored)};")
        return CValue(c_types.loaded(dtype, stored), dtype, None, stored)
    return _defined(state, chosen(a.text, b.text), dtype, _any_wide(expr, a, b))


def _limited(expr: tir.Select) -> str:
    """The sign between a float and a literal that the literal takes the place of, if the choice is
    an extremum of both that stays NaN.
    """
    limit = expr.false_value
    if isinstance(limit, tir.FloatImm) and not isnan(limit.value):
        return {">": "<=", "<": ">="}.get(_extremum(expr), "")
    return ""


def _extremum(expr: tir.Select) -> str:
    """The sign by which the first of two floats is chosen, if the choice is an extremum of both that
    stays NaN.
    """
    match expr:
        case tir.Select(
            condition=tir.Or(
                a=tir.LT(a=low, b=high) | tir.GT(a=high, b=low), b=tir.Call(op="isnan", args=(x,))
            ),
            true_value=same,
            false_value=other,
        ) if x == same:
            return {(other, x): ">", (x, other): "<"}.get((low, high), "")
    return ""


_READ = (tir.BufferLoad, tir.IntImm, tir.FloatImm)


def _if_then_else(state: Generation, expr: Any) -> Visit:
    """Only one branch is evaluated; its conditions hold while it is. Elements and literals that can
    always be read need no branch.
    """
    condition, first, second = expr.args
    dtype = state.type_of(expr)
    if all(isinstance(each, _READ) and state.is_total(each, condition) for each in expr.args[1:]):
        return (yield from _select(state, tir.Select(*expr.args)))
    wide = state.exact and dtype.is_integer and dtype != UINT64
    c = yield from _guard(state, condition, first, second)
    if c.known is not None:
        value = converted(state, (yield first if c.known else second), dtype)
        if not wide:
            _any_wide(expr, value)
        return value
    name = state.out.fresh()
    state.out.put(f"{'int64_t' if wide else c_types.held(dtype)} {name};")
    for holds, branch in ((True, first), (False, second)):
        state.out.put(f"if ({c.text}) {{" if holds else "} else {")
        value = yield from _branch(state, condition, holds, _value(branch))
        value = converted(state, value, dtype)
        if not wide:
            _any_wide(expr, value)
        state.out.put(f"{name} = {value.text};")
    state.out.put("}")
    return CValue(name, dtype, wide=wide)


# ------------------------------------------------------------------ casts


def _cast(state: Generation, expr: Any) -> Visit:
    value = (yield from _apart(state, expr.value)) if expr.dtype.is_float else (yield expr.value)
    within = bounds(expr.value) if expr.dtype.is_integer else None
    return cast(state, value, expr.dtype, expr.span, within)


# ------------------------------------------------------------------ loads and calls


def _load(state: Generation, expr: Any) -> Visit:
    kept = state.kept.get(expr.buffer)
    if kept is not None:
        return define(state, kept, expr.buffer.dtype)
    where = yield from state.address(expr.buffer, expr.indices, expr.span)
    return define(state, c_types.loaded(expr.buffer.dtype, where), expr.buffer.dtype)


def _call(state: Generation, expr: Any) -> Visit:
    op = expr.op
    match op, expr.args:
        case "if_then_else", (_, _, _):
            return (yield from _if_then_else(state, expr))
        case _ if expr.attrs:
            intrinsics.unknown(op)
        case (("min_value" | "max_value" | "infinity"), _):
            return _extreme(expr)
        case "reinterpret", _:
            return (yield from _reinterpret(state, expr))
    operands: list[CValue] = []
    for arg in expr.args:
        operands.append((yield from _apart(state, arg)))
    if not operands:
        intrinsics.unknown(op)
    first, *_ = operands
    if op in intrinsics.SAME:
        return first
    dtype = first.dtype
    if op == "isnan" and first.half:
        return define(state, f"rlx_nan_f16({first.half})", BOOL)
    match op, operands:
        case (("shift_left" | "shift_right"), (a, by)) if dtype.is_integer:
            if by.dtype.is_float:
                intrinsics.unknown(op)
            return _shifted(state, expr, a, by)
        case (("pow" | "power"), (a, by)) if not dtype.is_float:
            return _power(state, expr, a, by)
        case (("pow" | "power"), (a, _)) if (made := intrinsics.power(expr.args[1], a)) is not None:
            return define(state, made, dtype)
        case "ldexp", _:
            pass
        case _, (a, b):
            operands = [a, converted(state, b, dtype)]
    make = intrinsics.on_floats if dtype.is_float else intrinsics.on_integers
    text, result = make(op, dtype, [v.text for v in operands])
    return define(state, text, result)


def _extreme(expr: Any) -> CValue:
    """`T.min_value("int32")`, `T.max_value`, `T.infinity`: constants of a type."""
    [name] = expr.args if len(expr.args) == 1 else (None,)
    if not isinstance(name, tir.StringImm):
        intrinsics.unknown(expr.op)
    dtype = dtype_of(name.value)
    match expr.op:
        case "infinity" if dtype.is_float:
            text = c_types.floating(float("inf"), dtype)
        case "infinity":
            intrinsics.unknown(expr.op)
        case word:
            text = c_types.extreme(word, dtype)
    return CValue(text, dtype)


def _shifted(state: Generation, expr: Any, a: CValue, n: CValue) -> CValue:
    bits, amount = a.dtype.bits, n.text
    if n.known is None or not 0 <= n.known < bits:
        site = state.out.site(
            "E-tir-shift-amount", f"an integer of {bits} bits is shifted by {{a}}", expr.span
        )
        wide = 64 if n.wide or n.dtype.bits > 32 else 32
        if state.leaves_behind(f"int{wide}_t", f"(uint{wide}_t){amount} >= {bits}"):
            amount = f"({amount} & {bits - 1})"
        else:
            state.out.stop_if(f"(uint64_t)(int64_t){n.text} >= {bits}", site, f"(int64_t){n.text}")
    text = BY_INTRINSIC[expr.op].c.format(a=a.text, b=amount)
    return define(state, c_types.rounded(a.dtype, text), a.dtype)


def _power(state: Generation, expr: Any, a: CValue, n: CValue) -> CValue:
    message = "an integer is raised to the negative power {a}"
    site = state.out.site("E-tir-power-exponent", message, expr.span)
    if c_types.is_signed(n.dtype):
        state.out.stop_if(f"{n.text} < 0", site, f"(int64_t){n.text}")
    text = f"rlx_power((uint64_t){a.text}, (uint64_t){n.text})"
    return define(state, c_types.rounded(a.dtype, text), a.dtype)


def _reinterpret(state: Generation, expr: Any) -> Visit:
    target = expr.dtype
    if expr.args and isinstance(expr.args[0], tir.StringImm):
        target = dtype_of(expr.args[0].value)
    if not expr.args or target is None:
        intrinsics.unknown(expr.op)
    value = yield from _apart(state, expr.args[-1])
    if value.dtype.bits != target.bits or BOOL in (value.dtype, target):
        refuse(f"{target} with the bits of {value.dtype}", expr.span)
    bits = f"{c_types.stored(value.dtype)}"
    source, result = state.out.fresh(), state.out.fresh()
    state.out.put(f"const {bits} {source} = {c_types.saved(value.dtype, value.text)};")
    state.out.put(
        f"{c_types.stored(target)} {result}; memcpy(&{result}, &{source}, sizeof {result});"
    )
    return define(state, c_types.loaded(target, result), target)


_VISITORS: dict[type, Callable[[Any, Any], Visit]] = {
    tir.Var: _var,
    tir.IntImm: _int,
    tir.FloatImm: _float,
    tir.And: _logical,
    tir.Or: _logical,
    tir.Binary: _binary,
    tir.Not: _not,
    tir.Select: _select,
    tir.Let: _let,
    tir.Cast: _cast,
    tir.BufferLoad: _load,
    tir.Call: _call,
}
