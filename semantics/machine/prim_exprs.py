"""Prim expressions compiled for evaluation in a frame, on 64-bit integers without wrapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType, fits, limits
from rlx.grammar.nodes.prim_operators import BY_NODE, DIVISIONS, exact
from rlx.semantics.faults import FaultStop, IllFormedStop, UnsupportedStop
from rlx.semantics.machine.configuration import Frame, Reader, ScopeSlots
from rlx.solver.evaluate import UndefinedError, evaluate

_DEEP = 64
"""The number of operations from which an expression is evaluated by a loop."""


def prepare(expr: tir.PrimExpr, scope: ScopeSlots | _Numbers) -> Reader:
    """The function that evaluates an expression in a frame of a scope.

    The function raises ``E-prim-divide``, ``E-prim-overflow``, ``E-prim-range`` (faults),
    ``E-prim-defined`` (a variable without a number) and ``E-prim-arithmetic`` (not scalar
    arithmetic).
    """
    if tir.larger_than(_DEEP, expr):
        return _looped(expr, scope)

    def reader(node: tir.PrimExpr, operands: list[Reader]) -> Reader:
        if isinstance(node, tir.Var):
            return _variable(node, scope)
        return _MAKERS.get(type(node), _no_arithmetic)(node, *operands)

    return tir.fold(expr, reader)


class _Numbers:
    """Variables that have numbers, as a scope."""

    def __init__(self, numbers: Mapping[tir.Var, int]) -> None:
        self._numbers = numbers

    def reader(self, var: tir.Var) -> Reader | None:
        """Reads the number of a variable; None if it has none."""
        found = self._numbers.get(var)
        return None if found is None else lambda _: found


def value_at(expr: tir.PrimExpr, numbers: Mapping[tir.Var, int]) -> Any:
    """The value of an expression where variables have numbers, also one that computes with floats.
    Raises as :func:`prepare` says.
    """
    return prepare(expr, _Numbers(numbers))(())


def _looped(expr: tir.PrimExpr, scope: ScopeSlots | _Numbers) -> Reader:
    known = [(var, _variable(var, scope)) for var in tir.free_vars(expr)]

    def run(frame: Frame) -> int:
        point = {var: read(frame) for var, read in known}
        try:
            return evaluate(expr, point, int64=True)
        except UndefinedError as error:
            code = "overflow" if error.overflow else "divide"
            raise FaultStop(f"E-prim-{code}", str(error), _span(error.node)) from None

    return run


def _no_arithmetic(node: tir.PrimExpr, *operands: Reader) -> Reader:
    what = f"{type(node).__name__} {getattr(node, 'op', '')}".strip()

    def refuse(_: Frame) -> Any:
        raise UnsupportedStop(
            "E-prim-arithmetic", f"expected scalar arithmetic, found {what}", _span(node)
        )

    return refuse


def _span(node: tir.PrimExpr) -> Any:
    return getattr(node, "span", None)


def _literal(node: Any) -> Reader:
    value = node.value
    if isinstance(node, tir.IntImm):
        if node.dtype == BOOL:
            value = bool(value)
        elif not fits(value, node.dtype):
            return _overflow(node, value)
    return lambda _: value


def _overflow(node: tir.PrimExpr, value: int) -> Reader:
    def refuse(_: Frame) -> Any:
        raise overflow(value, tir.type_of(node), node)

    return refuse


def overflow(value: object, kind: DataType, node: tir.PrimExpr) -> FaultStop:
    """The fault for a number that does not fit its type."""
    return FaultStop("E-prim-overflow", f"{value} does not fit into {kind}", _span(node))


def _variable(node: tir.Var, scope: ScopeSlots | _Numbers) -> Reader:
    read = scope.reader(node)
    if read is not None:
        return read

    def refuse(_: Frame) -> Any:
        # WF06: a shape variable is bound before it is used.
        raise IllFormedStop("E-prim-defined", f"the shape variable {node.name} has no value here")

    return refuse


def _binary(node: Any, a: Reader, b: Reader) -> Reader:
    kind = tir.type_of(node)
    if not kind.is_integer:
        return _float(node, kind, a, b)
    low, high = limits(kind)
    operation = exact(type(node))
    divides = isinstance(node, DIVISIONS)

    def run(frame: Frame) -> int:
        x, y = a(frame), b(frame)
        if divides and not y:
            raise FaultStop("E-prim-divide", f"division of {x} by zero", _span(node))
        value: int = operation(x, y)
        if low <= value <= high:
            return value
        raise overflow(value, kind, node)

    return run


def _float(node: Any, kind: DataType, a: Reader, b: Reader) -> Reader:
    from rlx.semantics.tir.values import binary

    if not kind.is_float:
        return _no_arithmetic(node)
    operation = binary(type(node), kind)
    return lambda frame: operation(a(frame), b(frame))


def _comparison(node: Any, a: Reader, b: Reader) -> Reader:
    operation = exact(type(node))
    return lambda frame: operation(a(frame), b(frame))


def _and(node: Any, a: Reader, b: Reader) -> Reader:
    return lambda frame: bool(a(frame)) and bool(b(frame))


def _or(node: Any, a: Reader, b: Reader) -> Reader:
    return lambda frame: bool(a(frame)) or bool(b(frame))


def _not(node: Any, a: Reader) -> Reader:
    return lambda frame: not a(frame)


def _select(node: Any, c: Reader, t: Reader, f: Reader) -> Reader:
    def run(frame: Frame) -> Any:
        both = (f(frame), t(frame))
        return both[bool(c(frame))]

    return run


def _call(node: Any, *operands: Reader) -> Reader:
    if node.op == "if_then_else" and len(operands) == 3:
        c, t, f = operands
        return lambda frame: t(frame) if c(frame) else f(frame)
    return _intrinsic(node, operands)


def _intrinsic(node: Any, operands: Sequence[Reader]) -> Reader:
    """A function of PrimFuncs on scalars; an integer that it gives does not wrap."""
    from rlx.semantics.tir.intrinsics import intrinsic

    try:
        kind, function = intrinsic(node.op, [tir.type_of(arg) for arg in node.args])
    except (UnsupportedStop, KeyError):
        return _no_arithmetic(node)

    def run(frame: Frame) -> Any:
        return function(*[read(frame) for read in operands])

    def shifted(frame: Frame) -> Any:
        value, by = (read(frame) for read in operands)
        found = function(value, by)
        if found >> by != value:
            raise overflow(value << by, kind, node)
        return found

    return {"shift_left": shifted}.get(node.op, run)


def _cast(node: Any, value: Reader) -> Reader:
    from rlx.semantics.tir.values import cast

    source = tir.type_of(node.value)
    try:
        convert = cast(source, node.dtype)
    except UnsupportedStop:
        return _no_arithmetic(node)
    return lambda frame: convert(value(frame))


_MAKERS: dict[type, Callable[..., Reader]] = {
    tir.IntImm: _literal,
    tir.FloatImm: _literal,
    tir.And: _and,
    tir.Or: _or,
    tir.Not: _not,
    tir.Select: _select,
    tir.Call: _call,
    tir.Cast: _cast,
    **{
        kind: _comparison if issubclass(kind, tir.Comparison) else _binary
        for kind in BY_NODE
        if kind not in (tir.And, tir.Or)
    },
}
