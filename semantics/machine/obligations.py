"""Checks before an operator computes: its obligations, and enough memory.

The checker cannot decide obligations on unknown ranks, dimensions and element types. When the
operator runs, they are known, and the same rule decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.struct_infos import OBJECT, numbers, of_the_value
from rlx.operators.arrays import MOST_ELEMENTS, sizes
from rlx.operators.context import Message, OperatorContext, Place
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from rlx.operators.registry import Operator
from rlx.semantics.faults import Stop
from rlx.semantics.live_memory import current, total
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value, values_inside
from rlx.spec.registry import rule

Number = Callable[[tir.PrimExpr], Any]
"""The number of a dimension, in the scope of the call; it raises :class:`Stop` if it depends on
data.
"""


class _Measured(OperatorContext):
    """An operator context in which every operand has a value.

    Attributes
    ----------
    failed
        What the rule says against the call first.
    """

    def __init__(self, infos: dict[ast.Expr, ast.StructInfo], number: Number) -> None:
        super().__init__()
        self._infos, self._number = infos, number
        self.failed = ""

    def info(self, expr: ast.Expr) -> ast.StructInfo:
        return self._infos.get(expr, OBJECT)

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        if severity == "error":
            self.failed = self.failed or message

    def require(
        self,
        code: str,
        conditions: Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        holds = all(map(self._holds, conditions))
        if not holds:
            self.failed = self.failed or message()
        return holds

    def _holds(self, condition: tir.PrimExpr) -> bool:
        try:
            return bool(self._number(condition))
        except Stop:
            return True


def _infos(exprs: Sequence[ast.Expr], values: Sequence[Value]) -> dict[ast.Expr, ast.StructInfo]:
    """The struct info of operands, and of the fields of tuples that are written out."""
    found: dict[ast.Expr, ast.StructInfo] = {}
    pending = list(zip(exprs, values, strict=True))
    while pending:
        expr, value = pending.pop()
        found[expr] = struct_info_of(value)
        if isinstance(expr, ast.Tuple) and isinstance(value, TupleValue):
            pending.extend(zip(expr.fields, value.fields, strict=True))
    return found


def derived(
    operator: Operator, call: ast.Call, values: Sequence[Value], number: Number
) -> tuple[ast.StructInfo, str]:
    """The struct info of a call with these operands, and the error of its rule; empty if there is
    none.
    """
    context = _Measured(_infos(call.args, values), number)
    info = operator.derive(call, context)
    return info, context.failed


@rule("E-obligations", "part of a step")
def hold(operator: Operator, call: ast.Call, values: Sequence[Value], number: Number) -> None:
    """Reject a call if the operator's rule rejects these operands.

    Raises
    ------
    OperatorFault
        ``E-obligations-hold``
    """
    _, failed = derived(operator, call, values, number)
    if failed:
        raise OperatorFault("E-obligations-hold", failed)


Key = tuple[object, ...]


def memory_key(values: Sequence[Value]) -> Key:
    """A key of everything that the struct infos of operands and results depend on."""
    found: list[object] = []
    for value in values_inside(values):
        match value:
            case Tensor(data=data):
                found += [data.shape, data.dtype]
            case ShapeValue(values=numbers):
                found.append(numbers)
            case Scalar(value=number):
                found.append(number)
            case _:
                found.append(type(value))
    return tuple(found)


def memory_bound(key: Key) -> float:
    """An upper bound of the elements that an operator without numeric keywords can compute from
    these operands.
    """
    found = 1.0
    for known in key:
        if isinstance(known, tuple):
            found *= prod(map(_size, known)) + 1.0 if known else 1.0
        elif isinstance(known, int | float):
            found *= 1.0 + _size(known)
    return found


_LARGE = 1e90
"""A number above all that memory holds, of which a float can hold the third power."""


def _size(number: float) -> float:
    """The size of a number, `_LARGE` at most; an unknown one may be as large as any."""
    size = abs(number)
    return float(size) if size < _LARGE else _LARGE


def memory_factor(call: ast.Call) -> float:
    """The factor by which numeric keywords can increase this bound; each may apply to several
    axes.
    """
    found = 1.0
    pending = list(call.attrs.values())
    while pending:
        value = pending.pop()
        match value:
            case tuple() | list():
                pending.extend(value)
            case (
                tir.IntImm(value=number) | tir.FloatImm(value=number) | int(number) | float(number)
            ):
                found = min(found * (1.0 + _size(number)) ** 3, _LARGE**3)
            case ast.PrimValue(value=inner):
                pending.append(inner)
            case ast.Tuple(fields=fields):
                pending.extend(fields)
            case tir.PrimExpr() | ast.Expr():
                return float("inf")
    return found


def ask_memory(operator: Operator, call: ast.Call, values: Sequence[Value], number: Number) -> None:
    """Reject a call whose results do not fit into memory. `number`: the number of a dimension, in
    the scope of the call.

    Raises
    ------
    OperatorFault
        ``E-lengths-memory``; ``E-obligations-hold`` if the operator rejects the call
    TooMuchMemory
        If the tensors of this run leave no room for the results.
    """
    info, failed = derived(operator, call, values, number)
    if failed and _may_be_large(call, values):  # the rule does not say how large
        raise OperatorFault("E-obligations-hold", failed)
    wanted = 0
    for part in of_the_value(info):
        if isinstance(part, ast.TensorStructInfo):
            try:
                found = [int(number(dim)) for dim in numbers(part)]
            except Stop as stop:
                if stop.code == "E-prim-overflow":  # so large that no integer holds a dimension
                    words = f"a tensor of this shape is too large: {stop.message}"
                    raise OperatorFault("E-lengths-memory", words) from None
                continue  # data decide about it
            if min(found, default=0) < 0:
                continue
            if prod(found) > MOST_ELEMENTS:
                sizes(found)
            wanted += total(found, 4 if part.dtype.is_void else numpy_dtype(part.dtype).itemsize)
    current().require(wanted)


def _may_be_large(call: ast.Call, values: Sequence[Value]) -> bool:
    """Whether the numbers of a call may ask for more than memory holds; those not known yet are
    left out.
    """
    known = memory_factor(call)
    return memory_bound(memory_key(values)) * (known if known < float("inf") else 1) > MOST_ELEMENTS
