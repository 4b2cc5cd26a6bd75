"""Prim expressions as C code in three-address form: each operation has its own line and variable.

So the C code is flat for expressions of any depth, and contains no name or text of the program.
There is no recursion: visitors are generators that yield their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL, INT64, DataType
from rlx.grammar.dtype import dtype as dtype_of
from rlx.grammar.prim_operators import BY_INTRINSIC, BY_NODE, INTEGER_DIVISIONS
from rlx.semantics.native import c_types, intrinsics
from rlx.semantics.native.c_types import CValue, is_wider
from rlx.semantics.native.refusal import refuse
from rlx.semantics.native.state import Generation

Visit = Generator[tir.PrimExpr, CValue, CValue]

_CHECKED = (tir.Add, tir.Sub, tir.Mul)


def value_of(state: Generation, expr: tir.PrimExpr) -> CValue:
    """Emit the computation of ``expr``; its value."""
    stack: list[Visit] = [_visit(state, expr)]
    answer: Any = None
    while stack:
        try:
            answer = stack[-1].send(answer)
        except StopIteration as done:
            stack.pop()
            answer = done.value
        else:
            stack.append(_visit(state, answer))
            answer = None
    assert isinstance(answer, CValue)
    return answer


def _visit(state: Generation, expr: tir.PrimExpr) -> Visit:
    if expr in state.early:
        return _early(state, expr)
    for kind in type(expr).__mro__:
        if kind in _VISITORS:
            return _VISITORS[kind](state, expr)
    refuse(type(expr).__name__, getattr(expr, "span", None))


def define(state: Generation, text: str, dtype: DataType) -> CValue:
    """A new variable that holds ``text``."""
    name = state.out.fresh()
    element = c_types.element_of(dtype, text)
    if element is None:
        state.out.put(f"const {c_types.held(dtype)} {name} = {text};")
        return CValue(name, dtype)
    stored = state.out.fresh()
    state.out.put(f"const {c_types.stored(dtype)} {stored} = {element};")
    state.out.put(f"const {c_types.held(dtype)} {name} = {c_types.loaded(dtype, stored)};")
    return CValue(name, dtype, None, stored)


def converted(state: Generation, value: CValue, dtype: DataType) -> CValue:
    """``value`` converted to another type, if the operands of an operator disagree."""
    if value.dtype == dtype:
        return value
    if value.known is not None and not dtype.is_float:
        return constant(value.known, dtype)
    return cast(state, value, dtype, None)


def integral(state: Generation, expr: Any, what: str) -> CValue:
    """The value of an expression that must be an integer: the extent of a loop or of a buffer."""
    value = value_of(state, expr)
    if value.dtype.is_float:
        refuse(f"{what} of type {value.dtype}", expr.span)
    return converted(state, value, INT64)


def constant(value: int, dtype: DataType) -> CValue:
    """An integer literal wrapped to its type, so that its known value is the one in C."""
    return CValue(c_types.integer(value, dtype), dtype, c_types.wrapped(value, dtype))


def common(a: CValue, b: CValue) -> DataType:
    """The common type of two operands: that of the other operand for a constant, otherwise the
    wider one.
    """
    if a.dtype == b.dtype or (b.known is not None and not is_wider(b.dtype, a.dtype)):
        return a.dtype
    if a.known is not None and not is_wider(a.dtype, b.dtype):
        return b.dtype
    rank = [(v.dtype.is_float, v.dtype.bits, v.dtype.code == "uint") for v in (a, b)]
    return a.dtype if rank[0] >= rank[1] else b.dtype


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
        return _checked(state, expr, a, b)
    if kind in INTEGER_DIVISIONS:
        return _divided(state, expr, a, b, dtype)
    text = BY_NODE[kind].c.format(a=a.text, b=b.text)
    if issubclass(kind, tir.Comparison):
        return define(state, text, BOOL)
    if kind in (tir.Min, tir.Max):
        return define(state, text, dtype)
    return define(state, c_types.rounded(dtype, text), dtype)


def _checked(state: Generation, expr: Any, a: CValue, b: CValue) -> CValue:
    """Arithmetic of an index: exact, or a fault."""
    message = "the index arithmetic overflows 64 bits"
    site = state.out.site("E-tir-bounds", message, expr.span)
    name = state.out.fresh()
    state.out.put(f"int64_t {name};")
    operands = f"(int64_t){a.text}, (int64_t){b.text}, &{name}"
    state.out.stop_if(f"__builtin_{type(expr).__name__.lower()}_overflow({operands})", site)
    return CValue(name, INT64)


def _divided(state: Generation, expr: Any, a: CValue, b: CValue, dtype: DataType) -> CValue:
    kind = tir.TruncDiv if type(expr) is tir.Div else type(expr)
    if not dtype.is_float:
        if b.known == 0 or b.known is None:
            site = state.out.site("E-tir-divide", "integer division by zero", expr.span)
            state.out.stop_if(f"{b.text} == 0", site)
        if b.known and b.known > 0 and state.is_natural(expr.a):
            sign = "/" if kind in (tir.FloorDiv, tir.TruncDiv) else "%"
            return define(state, c_types.rounded(dtype, f"({a.text} {sign} {b.text})"), dtype)
    text = BY_NODE[kind].c.format(a=a.text, b=b.text, t=c_types.suffix(dtype))
    return define(state, text, dtype)


def _apart(state: Generation, expr: tir.PrimExpr) -> Visit:
    """A condition or an argument: it is no index even where it stands in one."""
    before, state.exact = state.exact, False
    value = yield expr
    state.exact = before
    return value


def _logical(state: Generation, expr: Any) -> Visit:
    both = isinstance(expr, tir.And)
    a = yield from _apart(state, expr.a)
    if state.is_total(expr.b):
        b = yield from _apart(state, expr.b)
        sign = "&" if both else "|"
        return define(state, f"(({a.text} != 0) {sign} ({b.text} != 0))", BOOL)
    name = state.out.fresh()
    state.out.put(f"uint8_t {name} = ({a.text} != 0);")
    state.out.put(f"if ({'' if both else '!'}{name}) {{")
    known = state.assume(expr.a, both)
    b = yield from _apart(state, expr.b)
    state.forget(known)
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
    c = yield from _apart(state, expr.condition)
    a = yield expr.true_value
    b = yield expr.false_value
    dtype = common(a, b)
    a, b = converted(state, a, dtype), converted(state, b, dtype)
    return define(state, f"({c.text} ? {a.text} : {b.text})", dtype)


def _if_then_else(state: Generation, expr: Any) -> Visit:
    """Only one branch is evaluated; its conditions hold while it is."""
    condition, first, second = expr.args
    c = yield from _apart(state, condition)
    dtype = state.type_of(expr)
    name = state.out.fresh()
    state.out.put(f"{c_types.held(dtype)} {name};")
    for holds, branch in ((True, first), (False, second)):
        state.out.put(f"if ({c.text}) {{" if holds else "} else {")
        known = state.assume(condition, holds)
        value = yield branch
        state.forget(known)
        state.out.put(f"{name} = {converted(state, value, dtype).text};")
    state.out.put("}")
    return CValue(name, dtype)


# ------------------------------------------------------------------ casts


def _cast(state: Generation, expr: Any) -> Visit:
    value = (yield from _apart(state, expr.value)) if expr.dtype.is_float else (yield expr.value)
    return cast(state, value, expr.dtype, expr.span)


def cast(state: Generation, value: CValue, target: DataType, span: Any) -> CValue:
    """A conversion; a float without a value in an integer type is a fault."""
    source = value.dtype
    if source == target:
        return value
    if target.code == "bool":
        return define(state, f"({value.text} != 0)", target)
    if not source.is_float:
        if target.is_float and str(target) != "float64" and source.bits > 24:
            return define(state, _from_wide(value, target), target)
        return define(
            state, c_types.rounded(target, f"({c_types.held(target)}){value.text}"), target
        )
    if target.is_float:
        text = value.text
        if str(source) == "float64" and str(target) in c_types.NARROW:
            text = f"rlx_narrow({text})"
        return define(state, c_types.rounded(target, f"({c_types.held(target)}){text}"), target)
    return _to_integer(state, value, target, span)


def _to_integer(state: Generation, value: CValue, target: DataType, span: Any) -> CValue:
    """The integer part of a float; in loops, one without a value in the type is noticed behind
    them.
    """
    low = -(1 << (target.bits - 1)) if c_types.is_signed(target) else 0
    high = low + (1 << target.bits)
    holds = f"does not fit into {target}, whose range is {low} to {high - 1}"
    below = f"{value.text} >= {float(low)}"  # no float lies between this and one less
    if target.bits < (64 if str(value.dtype) == "float64" else 32) or not low:
        below = f"{value.text} > {float(low - 1)}"
    letter = "" if str(value.dtype) == "float64" else "f"
    fits = f"(({below}{letter}) & ({value.text} < {float(high)}{letter}))"
    if state.deferring:
        flag = state.deferred(state.out.site("E-tir-cast-range", f"a float {holds}", span))
        state.out.put(f"{flag} |= !{fits};")
        text = f"({c_types.held(target)})({fits} ? {value.text} : 0)"
        return define(state, text, target)
    site = state.out.site("E-tir-cast-range", f"{{f}} {holds}", span)
    state.out.stop_if(f"!{fits}", site, f"(int64_t)rlx_bits64((double){value.text})")
    return define(state, f"({c_types.held(target)}){value.text}", target)


def _from_wide(value: CValue, target: DataType) -> str:
    if str(target) == "float32":
        return f"(float){value.text}"
    return c_types.rounded(target, f"rlx_odd_{c_types.suffix(value.dtype)}({value.text})")


# ------------------------------------------------------------------ loads and calls


def _load(state: Generation, expr: Any) -> Visit:
    kept = state.kept.get(expr.buffer)
    if kept is not None:
        return define(state, kept, expr.buffer.dtype)
    where = yield from state.address(expr.buffer, expr.indices, expr.span)
    return define(state, c_types.loaded(expr.buffer.dtype, where), expr.buffer.dtype)


def _call(state: Generation, expr: Any) -> Visit:
    op = expr.op
    if op == "if_then_else" and len(expr.args) == 3:
        return (yield from _if_then_else(state, expr))
    if expr.attrs:
        intrinsics.unknown(op)
    if op in ("min_value", "max_value", "infinity"):
        return _extreme(expr)
    if op == "reinterpret":
        return (yield from _reinterpret(state, expr))
    operands: list[CValue] = []
    for arg in expr.args:
        operands.append((yield from _apart(state, arg)))
    if not operands:
        intrinsics.unknown(op)
    if op in intrinsics.SAME:
        return operands[0]
    dtype = operands[0].dtype
    if op in ("shift_left", "shift_right") and len(operands) == 2 and dtype.is_integer:
        if operands[1].dtype.is_float:
            intrinsics.unknown(op)
        return _shifted(state, expr, operands[0], operands[1])
    if op in ("pow", "power") and not dtype.is_float and len(operands) == 2:
        return _power(state, expr, operands[0], operands[1])
    if len(operands) == 2 and op != "ldexp":
        operands[1] = converted(state, operands[1], dtype)
    make = intrinsics.on_floats if dtype.is_float else intrinsics.on_integers
    text, result = make(op, dtype, [v.text for v in operands])
    return define(state, text, result)


def _extreme(expr: Any) -> CValue:
    """`T.min_value("int32")`, `T.max_value`, `T.infinity`: constants of a type."""
    if len(expr.args) != 1 or not isinstance(expr.args[0], tir.StringImm):
        intrinsics.unknown(expr.op)
    dtype = dtype_of(expr.args[0].value)
    if expr.op == "infinity":
        return CValue(c_types.floating(float("inf"), dtype), dtype)
    return CValue(c_types.extreme(expr.op == "max_value", dtype), dtype)


def _shifted(state: Generation, expr: Any, a: CValue, n: CValue) -> CValue:
    bits = a.dtype.bits
    if n.known is None or not 0 <= n.known < bits:
        site = state.out.site(
            "E-tir-shift-amount", f"an integer of {bits} bits is shifted by {{a}}", expr.span
        )
        state.out.stop_if(f"(uint64_t)(int64_t){n.text} >= {bits}", site, f"(int64_t){n.text}")
    text = BY_INTRINSIC[expr.op].c.format(a=a.text, b=n.text)
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
