"""Calls in PrimFuncs: intrinsics, lanes of vectors, sort functions, and other external functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT32, DataType, dtype, limits
from rlx.semantics.tir.c_math import C_MATH
from rlx.semantics.tir.expression_compiler import ExpressionCompiler, opaque
from rlx.semantics.tir.intrinsics import intrinsic, regrouped, reinterpret, unknown
from rlx.semantics.tir.llvm import intrinsic_of_llvm
from rlx.semantics.tir.memory import numpy_type
from rlx.semantics.tir.pointer_calls import POINTERS, buffer_of_data
from rlx.semantics.tir.pointers import BYTES, Pointer
from rlx.semantics.tir.terms import (
    Evaluate,
    Frame,
    Term,
    common,
    converted,
    lanes_paid,
    lifted,
    located,
)
from rlx.semantics.tir.values import Number, fault, into, to_integer, unsupported, vector_element
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


Array = np.ndarray[Any, Any]


@rule("E-tir-sort", "TIR expression")
def order(data: Array, axis: int, ascending: bool) -> Array:
    """The indices that sort along an axis; the sort is stable, and NaN comes last."""
    if not -data.ndim <= axis < data.ndim:
        fault("E-tir-sort-axis", f"axis {axis} is out of range for rank {data.ndim}")
    if data.dtype.kind not in "biuf":
        data = data.astype(np.float64)
    if ascending:
        return np.argsort(data, axis=axis, kind="stable")
    last = data.shape[axis] - 1
    found: Array = last - np.flip(np.argsort(np.flip(data, axis), axis=axis, kind="stable"), axis)
    if np.issubdtype(data.dtype, np.floating):
        numbers = ~np.isnan(np.take_along_axis(data, found, axis))
        behind = np.argsort(~numbers, axis=axis, kind="stable")
        found = np.take_along_axis(found, behind, axis)
    return found


def _sort(data: Array, out: Array, axis: int, ascending: bool) -> None:
    out[...] = np.take_along_axis(data, order(data, axis, ascending), axis)


def _argsort(data: Array, out: Array, axis: int, ascending: bool) -> None:
    out[...] = order(data, axis, ascending)


def _argsort_nms(data: Array, valid: Array, out: Array, axis: int, ascending: bool) -> None:
    """Only the first few along the axis are sorted, as many as ``valid`` says; the rest stay where
    they are.
    """
    rows, counts = np.moveaxis(data, axis, -1), valid.ravel()
    results = np.moveaxis(out, axis, -1)
    for row, at in enumerate(np.ndindex(rows.shape[:-1])):
        size = rows.shape[-1]
        count = min(max(int(counts[row]), 0), size)
        found = np.arange(size)
        found[:count] = order(rows[at][:count], 0, ascending)
        results[at] = found


def _topk(data: Array, *rest: Any) -> None:
    """The first ``k`` along the axis once it is sorted; all where ``k`` is below 1."""
    *outs, k, axis, kind, ascending = rest
    found = order(data, axis, ascending)
    if k >= 1:
        found = np.take(found, np.arange(min(k, data.shape[axis])), axis)
    if kind in ("both", "values"):
        outs[0][...] = np.take_along_axis(data, found, axis)
    if kind in ("both", "indices"):
        outs[-1][...] = found


SORTS: Mapping[str, tuple[int, Callable[..., None]]] = {
    "tvm.contrib.sort.sort": (1, _sort),
    "tvm.contrib.sort.argsort": (1, _argsort),
    "tvm.contrib.sort.argsort_nms": (2, _argsort_nms),
    "tvm.contrib.sort.topk": (1, _topk),
}
"""The number of leading arrays that are read, and the function, by name. They need not be
registered.
"""


@rule("E-tir-call", "TIR expression")
def outside(known: Mapping[str, Callable[..., Any]], name: str, args: Sequence[Any]) -> Any:
    """Call an external function, if the caller registered it."""
    function = known.get(name)
    if function is not None:
        return function(*args)
    function = SORTS[name][1] if name in SORTS else BYTES.get(name) or C_MATH.get(name)
    if function is None:
        unsupported("E-tir-call-unregistered", f"no function {name!r} was registered")
    try:
        return function(*args)
    except (TypeError, ValueError, IndexError):
        shown = f"no function {name!r} that takes these arguments was registered"
        unsupported("E-tir-call-unregistered", shown)


def extreme(word: str, dtype: DataType) -> Number:
    """`T.min_value`, `T.max_value`, `T.infinity` of a type."""
    if word == "infinity":
        return math.inf
    largest: Number
    if dtype.is_float:
        import ml_dtypes

        largest = float(ml_dtypes.finfo(numpy_type(dtype)).max)  # type: ignore[no-untyped-call]
        smallest: Number = -largest
    else:
        smallest, largest = limits(dtype)
    return {"min_value": smallest, "max_value": largest}[word]


@rule("E-tir-if-then-else", "TIR expression")
def _if_then_else(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """Only the value that the condition asks for is evaluated."""
    decides, one, other, *_ = expr.args
    condition = run.value(decides).run
    a, b = run.compile(one), run.compile(other)
    meet = common(a, b)
    first, second = converted(a, meet).run, converted(b, meet).run

    def choose(frame: Frame) -> Any:
        return first(frame) if condition(frame) else second(frame)

    return Term(choose, meet, a.vector or b.vector)


def call(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """A call of an intrinsic or of an external function."""
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


def _reinterpret(run: ExpressionCompiler, expr: tir.Call) -> Term:
    target = expr.dtype
    match expr.args:
        case (tir.StringImm(value=name), given):
            target = _named_type(expr, name)
        case (given,) if target is not None and not isinstance(given, tir.StringImm):
            pass
        case _:
            return opaque(expr)
    value = run.value(given)
    scalar = vector_element(target)
    if value.vector and value.dtype.bits != scalar.bits:
        regroup = located(regrouped, expr.span)(value.dtype, scalar)
        lanes = located(lambda frame: regroup(value.run(frame), target.lanes), expr.span)
        return Term(lanes, scalar, target.lanes > 1)
    function = located(reinterpret, expr.span)(value.dtype, scalar)
    return Term(lifted(function, value), scalar, value.vector)


def _named_type(expr: tir.Call, name: str) -> DataType:
    """The data type that a call names; where it names none, the call has no meaning."""
    try:
        return dtype(name)
    except ValueError:
        return opaque(expr).dtype


def _extreme(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """`T.min_value("int32")`, `T.max_value`, `T.infinity`: constants of a type."""
    [name] = expr.args if len(expr.args) == 1 else (None,)
    if not isinstance(name, tir.StringImm):
        return opaque(expr)
    of = _named_type(expr, name.value)
    if expr.op == "infinity" and not of.is_float:
        unknown(expr.op, expr.span)
    value = extreme(expr.op, of)
    return Term(lambda frame: value, of)


def _ramp(run: ExpressionCompiler, expr: tir.Call) -> Term:
    if len(expr.args) != 3:
        return opaque(expr)
    base, stride, lanes = map(run.compile, expr.args)
    start, step, count = base.run, stride.run, lanes.run

    def ramp(frame: Frame) -> tuple[Any, ...]:
        first, by = start(frame), step(frame)
        return tuple(first + by * lane for lane in range(lanes_paid(frame, count(frame))))

    return Term(located(ramp, expr.span), base.dtype, True)


def _broadcast(run: ExpressionCompiler, expr: tir.Call) -> Term:
    if len(expr.args) != 2:
        return opaque(expr)
    value, number = map(run.compile, expr.args)
    one, count = value.run, number.run

    def lanes(frame: Frame) -> tuple[Any, ...]:
        return (one(frame),) * lanes_paid(frame, count(frame))

    return Term(located(lanes, expr.span), value.dtype, True)


def _extern(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """A function from outside: `T.call_extern("int32", "name", …)`, `T.call_packed("name", …)`."""
    result, name, args = _outside_name(expr)
    bring = _brought(vector_element(result))
    if "llvm" in expr.op:
        operands = [run.value(arg) for arg in args]
        found = intrinsic_of_llvm(name, operands)
        if found is not None:
            value = Term(found[0], operands[0].dtype, found[1])
            return Term(located(lifted(bring, value), expr.span), vector_element(result), found[1])
    reads = SORTS[name][0] if name in SORTS else 0
    given = [
        run.value(arg).run if name in BYTES else argument(run, arg, at < reads)
        for at, arg in enumerate(args)
    ]

    def called(frame: Frame) -> Any:
        value = outside(frame[0].call, name, [g(frame) for g in given])
        return bring(0 if value is None else value)

    return Term(located(called, expr.span), result)


def _outside_name(expr: tir.Call) -> tuple[DataType, str, list[tir.PrimExpr]]:
    """The type of a call's result, the name of its function, and the arguments of that."""
    args, result = list(expr.args), INT32
    if "extern" in expr.op or "llvm" in expr.op:
        match args:
            case [tir.StringImm(value=kind), *_]:
                result = _named_type(expr, kind)
            case [tir.OpaqueExpr(text=shown), *_] if shown.startswith("T.handle("):
                result = HANDLE
            case _:
                opaque(expr)
        del args[0]
    if args and isinstance(args[0], tir.StringImm):
        return result, args[0].value, args[1:]
    return opaque(expr).dtype, "", []


def _brought(result: DataType) -> Callable[[Any], Any]:
    """The conversion of a function's value to the type of the call; a pointer is not a number."""
    if not (result.is_float or result.is_integer):
        return lambda value: value
    plain = into(result)
    if result.is_float:
        return lambda value: plain(0 if isinstance(value, Pointer) else value)

    def bring(value: Any) -> Any:
        if isinstance(value, Pointer):
            return 0
        return to_integer(value, result) if isinstance(value, float) else plain(value)

    return bring


def argument(run: ExpressionCompiler, expr: tir.PrimExpr, read: bool = False) -> Evaluate:
    """An argument of an external function: a number, a string, or an array for a buffer's data.

    Every element of an array that is only ``read`` must have been written.
    """
    match expr:
        case tir.StringImm(value=text):
            return lambda frame: text
        case tir.OpaqueExpr() if (name := buffer_of_data(expr)) is not None:
            buffer = run.named(name)
            if buffer is None:
                opaque(expr)
            slot = run.slots[buffer]
            return lambda frame: frame[slot].content() if read else frame[slot].array()
        case tir.Call(op="tvm_stack_make_shape", args=dims):
            sizes = [run.number(dim) for dim in dims]
            return lambda frame: tuple([size(frame) for size in sizes])
        case tir.Call(op="tvm_stack_make_array", args=(data, shape, *_)):
            array, dims_of = argument(run, data, read), argument(run, shape)
            return lambda frame: array(frame).reshape(dims_of(frame))
    term = run.value(expr)
    if term.dtype == HANDLE:
        return lambda frame: term.run(frame).array()
    return term.run


_SPECIAL: dict[str, Callable[[ExpressionCompiler, Any], Term]] = {
    "if_then_else": _if_then_else,
    "reinterpret": _reinterpret,
    "min_value": _extreme,
    "max_value": _extreme,
    "infinity": _extreme,
    **POINTERS,
    **LANES,
    "Ramp": _ramp,
    "ramp": _ramp,
    "Broadcast": _broadcast,
    "broadcast": _broadcast,
    "call_extern": _extern,
    "call_pure_extern": _extern,
    "call_llvm_intrin": _extern,
    "call_llvm_pure_intrin": _extern,
    "call_packed": _extern,
    "call_cpacked": _extern,
    "tvm_call_packed": _extern,
    "tvm_call_cpacked": _extern,
}
