"""The expressions of PrimFuncs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rlx.checker.prim_funcs.state import PrimFuncCheck, is_bound, name_is_bound, within
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT32, LARGEST, DataType
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.kept_text import kept_names
from rlx.grammar.read.prim_scalars import assignable, is_pointer
from rlx.grammar.read.prim_types import (
    POINTER,
    TEXT,
    UNKNOWN,
    Typed,
    common,
    is_float,
    lanes_of,
    of_call,
    scalar,
    type_text,
)
from rlx.grammar.read.script_vocabulary import (
    ARITY,
    FLOATS,
    INTEGERS,
    KNOWN,
    NO_BOOLEANS,
    is_known,
    meant_by,
)
from rlx.grammar.suggest import did_you_mean
from rlx.grammar.wording import counted
from rlx.spec.registry import need, rule

OF_PYTHON = frozenset(
    [
        *("abs", "bool", "dict", "enumerate", "float", "getattr", "int", "isinstance", "len"),
        *("list", "map", "max", "min", "print", "range", "reversed", "round", "str", "sum"),
        *("tuple", "zip", "T", "R", "I", "tvm", "tir", "tirx", "True", "False", "None", "not"),
        *("lambda", "cls"),
    ]
)


def value(state: PrimFuncCheck, expr: tir.PrimExpr) -> Typed:
    """Check an expression; what its value is."""
    kind = type(expr)
    if kind is tir.Var:
        return _var(state, expr, ())
    if kind is tir.IntImm or kind is tir.FloatImm:
        return literal(state, expr, ())
    outer = state.open()
    for node in tir.postorder(expr):
        if isinstance(node, tir.Let):
            state.enter(node.var)
    found = tir.fold(expr, lambda e, below: _CHECKS.get(type(e), _binary)(state, e, below))
    state.close(outer)
    return found


def number(state: PrimFuncCheck, expr: tir.PrimExpr, what: str) -> Typed:
    """Check an expression whose value must be a number."""
    found = value(state, expr)
    is_number(state, expr, found, what)
    return found


# ---------------------------------------------------------------- kinds of operands


@rule("TIR04", "PrimFunc")
def is_number(state: PrimFuncCheck, expr: tir.PrimExpr, found: Typed, what: str) -> None:
    """An operand is a number."""
    key = getattr(expr, "text", expr), state.span
    if found.kind == "number" or not state.once(("number", key)):
        return
    help = None
    if isinstance(expr, tir.BufferLoad):
        missing = len(expr.buffer.shape) - len(expr.indices)
        help = f"{expr.buffer.name!r} has {len(expr.buffer.shape)} axes; missing indices: {missing}"
    state.report(
        "TIR04-number", f"{what} must be a number, not {type_text(found)}", _span(expr), help=help
    )


def _integer(
    state: PrimFuncCheck, expr: tir.PrimExpr, found: Typed, what: str, booleans: bool = True
) -> None:
    wrong = is_float(found) or (not booleans and _is_bool(found))
    if wrong and state.once((state.span, what)):
        state.report(
            "TIR04-integer",
            f"an operand of {what} must be an integer, but this is {found.dtype}",
            _span(expr),
        )


def _is_bool(found: Typed) -> bool:
    return found.dtype is not None and found.dtype.code == "bool"


def _kinds(state: PrimFuncCheck, expr: tir.Call, operands: Sequence[Typed]) -> None:
    """The operands of an intrinsic are of the kinds that it computes with."""
    word = f"T.{expr.op}"
    takes_bool = expr.op not in NO_BOOLEANS
    for arg, typed in zip(expr.args, operands, strict=True):
        if expr.op in INTEGERS:
            _integer(state, arg, typed, word, takes_bool)
        elif not takes_bool and _is_bool(typed) and state.once((state.span, word)):
            state.report("TIR04-boolean", f"{word} takes a number, but this is bool", _span(arg))
    if expr.op in FLOATS and all(typed.dtype is not None for typed in operands):
        floats = any(map(is_float, operands))
        if not floats and state.once((state.span, word)):
            found = operands[0].dtype
            message = f"{word} computes with floats, but this is {found}"
            state.report(
                "TIR04-float",
                message,
                _span(expr.args[0]),
                help='convert it: `T.Cast("float32", …)`',
            )


@rule("TIR06", "PrimFunc")
def is_boolean(state: PrimFuncCheck, expr: tir.PrimExpr, found: Typed, what: str) -> None:
    """A condition is Boolean; one report a statement."""
    if found.kind != "number":
        return is_number(state, expr, found, what)
    if found.dtype is not None and found.dtype.code != "bool" and state.once((state.span, "bool")):
        state.report(
            "TIR06-bool",
            f"{what} must be Boolean, not {found.dtype}",
            _span(expr),
            help="compare it, for instance with 0",
        )


def _span(expr: tir.PrimExpr) -> Span | None:
    # The span of a variable is where it is bound.
    return None if type(expr) is tir.Var else getattr(expr, "span", None)


# ---------------------------------------------------------------- leaves


def _var(state: PrimFuncCheck, var: Any, operands: Sequence[Typed]) -> Typed:
    if not is_bound(state, var, None):
        return UNKNOWN
    level = state.loops.get(var)
    if level is not None and level < state.depth:
        loop_stays_outside(state, var)
    return UNKNOWN if var.dtype.code == "handle" or var in state.doubtful else scalar(var.dtype)


@rule("TIR07", "PrimFunc", refuses=True)
def loop_stays_outside(state: PrimFuncCheck, var: tir.Var) -> None:
    """A block with iterators mentions no variable of a loop around it."""
    if state.once((state.block, "loop")):
        state.report(
            "TIR07-loop",
            f"the loop variable {var.name!r} is used in a block with iterators",
            state.span,
            help=f"bind it to an iterator of the block: `T.axis.spatial(extent, {var.name})`",
        )


def is_wrong(
    state: PrimFuncCheck, text: str, span: Span | None, is_statement: bool = False
) -> bool:
    """Report what is certainly wrong in text that is kept, unless it has a syntax error."""
    from rlx.checker.prim_funcs.kept_values import mistake

    if any(within(each, span) for each in state.mistakes):
        return True

    def kind_of(name: str) -> str | None:
        known = state.names.get(name)
        if isinstance(known, tir.Buffer):
            return "a buffer" if assignable(known) is None else "a buffer of one element"
        if isinstance(known, tir.Var) and known.dtype.code == "handle":
            return "a pointer"
        return "a number" if state.is_scalar(known) else None

    found = mistake(text, kind_of, is_statement)
    if found is not None:
        state.report(found.code, found.words, span)
    return found is not None


def _text(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    """Check kept text: only its first name."""
    if is_wrong(state, expr.text, expr.span):
        return UNKNOWN
    first = next(kept_names(expr.text), None)
    if first is None or first.span[0] != 0:
        return UNKNOWN
    name, dot, _ = first.name.partition(".")
    after = dot or first.after
    if name in OF_PYTHON or after not in ("", ".", "(", "["):
        return UNKNOWN
    if not name_is_bound(state, name, expr.span):
        return UNKNOWN
    known = state.names.get(name)
    if after == "" and isinstance(known, tir.Buffer):
        return Typed(known.dtype, 1, "buffer")
    return UNKNOWN


# ---------------------------------------------------------------- buffers


@rule("TIR02", "PrimFunc")
def load(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    """One index for each axis; fewer are a region."""
    buffer: tir.Buffer = expr.buffer
    indices(state, expr.indices, operands)
    if not is_bound(state, buffer, expr.span):
        return UNKNOWN
    given, rank = len(expr.indices), state.rank(buffer)
    if rank is None:
        return Typed(scalar(buffer.dtype).dtype, None)
    if given > rank:
        wrong_rank(state, buffer, given, expr.span)
        return scalar(buffer.dtype)
    if given < rank:
        return Typed(buffer.dtype, None, "region")
    return Typed(scalar(buffer.dtype).dtype, place_lanes(buffer, expr.indices, operands))


def place_lanes(
    buffer: tir.Buffer, at: Sequence[tir.PrimExpr], found: Sequence[Typed]
) -> int | None:
    """The number of elements that a load or a store reaches."""
    if buffer.dtype.lanes != 1 or len(at) != len(buffer.shape):
        return None
    return lanes_of([*map(_reached, at, buffer.shape, found)])


def _reached(index: tir.PrimExpr, extent: tir.PrimExpr, typed: Typed) -> Typed:
    """An index, where `:` reaches the whole axis."""
    match index, extent:
        case tir.OpaqueExpr(text=":"), tir.IntImm(value=size):
            return Typed(INT32, size)
        case tir.OpaqueExpr(), _:
            return UNKNOWN
    return typed


def wrong_rank(state: PrimFuncCheck, buffer: tir.Buffer, given: int, span: Span | None) -> None:
    """Report a number of indices that is not the rank."""
    rank = len(buffer.shape)
    axes = f"{rank} {'axis' if rank == 1 else 'axes'}"
    state.report(
        "TIR02-rank",
        (
            f"{buffer.name!r} has {axes}, but {given} {'index is' if given == 1 else 'indices are'}"
            " given"
        ),
        span,
    )


def indices(state: PrimFuncCheck, given: Sequence[tir.PrimExpr], found: Sequence[Typed]) -> None:
    """Indices are integers."""
    for index, typed in zip(given, found, strict=True):
        is_number(state, index, typed, "an index")
        if typed.kind != "number":
            continue
        if not need("TIR02-index", not is_float(typed)) and state.once((index, "index")):
            words = f"an index must be an integer, not {typed.dtype}"
            state.report("TIR02-index", words, _span(index))


def dimension(state: PrimFuncCheck, extent: tir.PrimExpr) -> None:
    """A dimension of a buffer is a number, but no float."""
    found = number(state, extent, "a dimension")
    if not need("TIR02-dimension", not is_float(found)) and state.once((extent, "dimension")):
        words = f"a dimension must be an integer, not {found.dtype}"
        state.report("TIR02-dimension", words, _span(extent))


def _slice(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    match expr:
        case tir.Slice(start=tir.IntImm(value=start), stop=tir.IntImm(value=stop), step=None):
            return Typed(operands[0].dtype, stop - start)
        case tir.Slice(tir.IntImm(value=start), tir.IntImm(value=stop), tir.IntImm(value=step)) if (
            step > 0
        ):
            return Typed(operands[0].dtype, len(range(start, stop, step)))
    return Typed(operands[0].dtype, None)


# ---------------------------------------------------------------- operations


@rule("TIR15", "PrimFunc")
def literal(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    """A literal is a value of its type."""
    found: DataType = expr.dtype
    if found.is_integer and not need("TIR15-range", expr.value in _range(found)):
        state.report("TIR15-range", f"{expr.value} is not a value of {found}", expr.span)
    largest = LARGEST.get(str(found)) if found.is_computable_float else None
    if largest is not None and math.isfinite(expr.value) and abs(expr.value) > largest:
        words = f"{expr.value} is greater than the largest {found}, {largest:g}"
        state.report("TIR15-finite", words, expr.span)
    return Typed(found)


def _range(found: DataType) -> range:
    if found.code == "uint":
        return range(1 << found.bits)
    if found.code == "bool":
        return range(2)
    half = 1 << (found.bits - 1)
    return range(-half, half)


def shifted(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> None:
    """A shift by a literal moves by less than the bits there are."""
    amount, found = expr.args[1], operands[0].dtype
    if isinstance(amount, tir.IntImm) and found is not None and not 0 <= amount.value < found.bits:
        words = f"a number of {found.bits} bits is shifted by {amount.value}"
        state.report("TIR15-shift", words, expr.span, help=f"shift by 0 to {found.bits - 1}")


def extreme(state: PrimFuncCheck, expr: tir.Call, made: Typed) -> None:
    """The smallest, largest or infinite number is asked for of a type that has one."""
    found = made.dtype
    if found is None:
        return
    numbers = found.is_integer or found.is_float
    if not numbers or (made.lanes or 1) > 1 or (expr.op == "infinity" and not found.is_float):
        what = {"infinity": "infinity", "min_value": "smallest number"}.get(
            expr.op, "largest number"
        )
        state.report("TIR15-extreme", f"{found} has no {what}", expr.span)


def _string(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    return TEXT


_EQUALITIES = (tir.EQ, tir.NE)
_DIVISIONS = {tir.FloorDiv: "`//`", tir.FloorMod: "`%`", tir.TruncDiv: "T.truncdiv"}
_SIGNS: dict[type, str] = {tir.And: "an operand of `and`", tir.Or: "an operand of `or`"}


def _binary(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    kind = type(expr)
    if not isinstance(expr, tir.Binary):
        return UNKNOWN
    a, b = operands
    if kind is tir.And or kind is tir.Or:
        is_boolean(state, expr.a, a, _SIGNS[kind])
        is_boolean(state, expr.b, b, _SIGNS[kind])
        return Typed(BOOL, lanes_of(operands))
    if kind in _EQUALITIES and all(o.kind == TEXT.kind or o.dtype is None for o in operands):
        return UNKNOWN  # Python compares texts before TVM sees them
    is_number(state, expr.a, a, "an operand")
    is_number(state, expr.b, b, "an operand")
    if kind in _DIVISIONS:
        _divides(state, expr, operands)
    if isinstance(expr, tir.Comparison):
        return Typed(BOOL, lanes_of(operands))
    return Typed(common(a, b), lanes_of(operands))


def _divides(state: PrimFuncCheck, expr: tir.Binary, operands: Sequence[Typed]) -> None:
    """Integers are divided, and not by zero; beside what is unknown a number has no type of its
    own.
    """
    if isinstance(expr.b, tir.IntImm) and not need("TIR04-zero", expr.b.value != 0):
        state.report("TIR04-zero", "the divisor is zero", expr.span)
    if any(typed.dtype is None for typed in operands):
        return
    for operand, typed in zip((expr.a, expr.b), operands, strict=True):
        _integer(state, operand, typed, _DIVISIONS[type(expr)], type(expr) is tir.TruncDiv)


def _not(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    is_boolean(state, expr.a, operands[0], "the operand of `not`")
    return Typed(BOOL, operands[0].lanes)


def _select(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    is_boolean(state, expr.condition, operands[0], "the condition of T.Select")
    is_number(state, expr.true_value, operands[1], "a value of T.Select")
    is_number(state, expr.false_value, operands[2], "a value of T.Select")
    _alike(state, expr, operands[1], operands[2])
    return Typed(common(operands[1], operands[2]), lanes_of(operands))


def _alike(state: PrimFuncCheck, expr: tir.Select, a: Typed, b: Typed) -> None:
    """The values of `T.Select` are of one type."""
    if a.kind != "number" or b.kind != "number" or a.dtype is None or b.dtype is None:
        return
    lanes = a.lanes is None or b.lanes is None or a.lanes == b.lanes
    if not need("TIR04-alike", a.dtype == b.dtype and lanes):
        state.report(
            "TIR04-alike",
            f"the values of T.Select are {type_text(a)} and {type_text(b)}, expected one type",
            _span(expr),
            help="convert one of them, or write T.if_then_else, which converts",
        )


def _cast(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    is_number(state, expr.value, operands[0], "the operand of T.Cast")
    wanted, lanes = scalar(expr.dtype), operands[0].lanes
    # Void stands for a type that only Python knows.
    if expr.dtype.code == "handle" and not expr.dtype.is_void:
        message = f"T.Cast makes a number, but {expr.dtype} is not a type of numbers"
    elif wanted.lanes is not None and lanes not in (None, 1, wanted.lanes):
        message = f"T.Cast keeps the lanes: {lanes} in its operand, {wanted.lanes} in {expr.dtype}"
    else:
        return Typed(wanted.dtype, lanes)
    state.report("TIR04-cast", message, expr.span)
    return UNKNOWN


def _let(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    return operands[1]


@rule("TIR03", "PrimFunc")
def call(state: PrimFuncCheck, expr: Any, operands: Sequence[Typed]) -> Typed:
    """An intrinsic is known, and gets as many arguments as it takes."""
    if not is_known(expr.op) or expr.op.startswith("axis."):
        unknown_word(state, expr.op, expr.span)
        return UNKNOWN
    arity = ARITY.get(expr.op)
    if expr.op in ("infinity", "min_value", "max_value"):
        extreme(state, expr, of_call(expr, operands))
    if arity is None:
        for value in expr.attrs.values():
            _attribute(state, value)
        return of_call(expr, operands)
    if not need("TIR03-arity", len(expr.args) == arity):
        given = f"{counted(arity, 'argument')}, {len(expr.args)} given"
        state.report("TIR03-arity", f"T.{expr.op} takes {given}", expr.span)
        return UNKNOWN
    for at, (arg, typed) in enumerate(zip(expr.args, operands, strict=True)):
        if expr.op == "if_then_else" and at == 0:
            is_boolean(state, arg, typed, "the condition of T.if_then_else")
        else:
            pointer = isinstance(arg, tir.OpaqueExpr) and is_pointer(arg, state.names)
            found = POINTER if pointer else typed
            is_number(state, arg, found, f"an argument of T.{expr.op}")
    _kinds(state, expr, operands)
    if expr.op in ("shift_left", "shift_right"):
        shifted(state, expr, operands)
    return of_call(expr, operands)


def unknown_word(state: PrimFuncCheck, word: str, span: Span | None) -> None:
    """Report a word after `T.` that no version of TVM has."""
    if state.once(("T", word)):
        near = did_you_mean([f"T.{meant}" for meant in meant_by(word)], "`")
        help = near or (None if "." in word else state.suggestion(word, KNOWN, "T.", "`"))
        state.report("TIR03-unknown", f"no version of TVM has T.{word}", span, help=help)


def _attribute(state: PrimFuncCheck, given: object) -> None:
    if isinstance(given, tir.PrimExpr):
        value(state, given)
    elif isinstance(given, tuple | list):
        for each in given:
            _attribute(state, each)


Check = Callable[[PrimFuncCheck, Any, Sequence[Typed]], Typed]
_CHECKS: dict[type, Check] = {
    tir.Var: _var,
    tir.IntImm: literal,
    tir.FloatImm: literal,
    tir.StringImm: _string,
    tir.OpaqueExpr: _text,
    tir.BufferLoad: load,
    tir.Slice: _slice,
    tir.Not: _not,
    tir.Select: _select,
    tir.Cast: _cast,
    tir.Let: _let,
    tir.Call: call,
}
