"""The numbers of values that annotations compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.solver.order.demands import Demand, demands, every


def bound_by(
    values: Sequence[Value], infos: Iterable[ast.StructInfo]
) -> dict[tir.Var, int | float]:
    """The shape variables that get a number from values with these annotations."""
    found: dict[tir.Var, int | float] = {}
    for value, info in zip(values, infos, strict=True):
        for demand in every(demands(info)):
            number = number_at(value, demand) if isinstance(demand.wanted, tir.Var) else None
            if number is not None:
                found.setdefault(demand.wanted, number)
    return found


def number_at(value: Value, demand: Demand) -> int | float | None:
    """The number in a value at the position that an annotation compares; None if the value has no
    such part.
    """
    for at in demand.fields:
        if not isinstance(value, TupleValue) or at >= len(value.fields):
            return None
        value = value.fields[at]
    match demand.whole, value:
        case ast.TensorStructInfo(), Tensor(shape=found):
            pass
        case ast.ShapeStructInfo(), ShapeValue(values=found):
            pass
        case ast.PrimStructInfo(), Scalar(value=number):
            return number
        case _:
            return None
    return found[demand.axis] if demand.axis < len(found) else None
