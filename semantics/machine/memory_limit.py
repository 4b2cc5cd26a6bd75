"""Whether there is memory for what an operator computes, asked before it computes.

The shapes of its results are derived from the struct info of the operands, as the checker derives
them, with numbers for dimensions. That costs more than many operators do, so it is left out where
the results are certainly small, and where the operator was asked about the same operands before.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from rlx.grammar import ast, tir
from rlx.grammar.struct_infos import numbers, of_the_value
from rlx.operators.declare import Operator
from rlx.operators.evaluate.arrays import MOST_ELEMENTS, sizes
from rlx.operators.evaluation import OperatorFault
from rlx.semantics.faults import Stop
from rlx.semantics.machine.access_checks import parts
from rlx.semantics.machine.obligations import Number, derived
from rlx.semantics.values import Scalar, ShapeValue, Tensor, Value

Key = tuple[object, ...]


def signature(values: Sequence[Value]) -> Key:
    """What of operands their struct info depends on, and so that of results."""
    found: list[object] = []
    for value in parts(values):
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


def bound(key: Key) -> float:
    """More elements than an operator with these operands, and no numbers among its keywords, can
    compute.
    """
    found = 1.0
    for known in key:
        if isinstance(known, tuple):
            found *= 1 + prod(map(abs, known)) if known else 1
        elif isinstance(known, int | float):
            found *= 1 + abs(known)
    return found


def factor(call: ast.Call) -> float:
    """How much the numbers among the keywords of a call can add to that: each may hold for several
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
                found *= (1 + abs(number)) ** 3
            case ast.PrimValue(value=inner):
                pending.append(inner)
            case ast.Tuple(fields=fields):
                pending.extend(fields)
            case tir.PrimExpr() | ast.Expr():
                return float("inf")
    return found


def ask(operator: Operator, call: ast.Call, values: Sequence[Value], number: Number) -> None:
    """Refuse a call whose results no memory can hold.

    Parameters
    ----------
    number
        The number of a dimension, in the scope of the call.

    Raises
    ------
    OperatorFault
        ``E-lengths-memory``; ``E-obligations-hold`` where the operator refuses the call
    """
    info, failed = derived(operator, call, values, number)
    if failed and _may_be_large(call, values):  # the rule does not say how large
        raise OperatorFault("E-obligations-hold", failed)
    for part in of_the_value(info):
        if isinstance(part, ast.TensorStructInfo):
            try:
                found = [int(number(dim)) for dim in numbers(part)]
            except Stop:
                continue  # data decide about it
            if min(found, default=0) >= 0 and prod(found) > MOST_ELEMENTS:
                sizes(found)


def _may_be_large(call: ast.Call, values: Sequence[Value]) -> bool:
    """Whether the numbers of a call may ask for more than memory holds; those not known yet are
    left out.
    """
    known = factor(call)
    return bound(signature(values)) * (known if known < float("inf") else 1) > MOST_ELEMENTS
