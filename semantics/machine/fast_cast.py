"""E-cast compiled for annotations that a value can be compared with at once.

The comparisons are compiled from the demands that E-cast itself goes by. A demand that is not known
here makes its annotation go the way of E-cast, which also says what is wrong with a value that does
not fit; that both agree is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar import ast, tir
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.values import Scalar, ShapeValue, Tensor, Value
from rlx.solver.order.demands import demands, every

Fits = Callable[[Value, list[Any]], bool]
"""Whether a value fits; numbers of variables, by their position, are compared or put into the
list.
"""

Variables = dict[tir.PrimExpr, int]
Said = dict[str, list[Any]]
"""What an annotation demands, by premise."""


def simple(infos: Sequence[ast.StructInfo], binds: Sequence[tir.Var]) -> tuple[Fits, ...] | None:
    """A comparison for each annotation; None if one of them is not simple."""
    variables: Variables = {var: at for at, var in enumerate(binds)}
    found = tuple(_simple(info, variables) for info in infos)
    return None if None in found else found  # type: ignore[return-value]


def _simple(info: ast.StructInfo, variables: Variables) -> Fits | None:
    said: Said = {}
    for demand in every(demands(info)):
        said.setdefault(demand.premise, []).append(demand.wanted)
    if not said:
        return lambda value, numbers: True
    compiled = _COMPILED.get(type(info))
    if compiled is None or not said.keys() <= {"kind", "dtype", "rank", "dimension", "value"}:
        return None
    return compiled(said, variables)


def _scalar(said: Said, variables: Variables) -> Fits | None:
    (kind,) = said["dtype"]
    if "value" not in said:
        return lambda value, numbers: type(value) is Scalar and value.dtype is kind
    (expr,) = said["value"]
    if expr not in variables:
        return None
    at = variables[expr]

    def fits(value: Value, numbers: list[Any]) -> bool:
        if type(value) is not Scalar or value.dtype is not kind:
            return False
        known = numbers[at]
        if known is None:
            numbers[at] = value.value
            return True
        return bool(known == value.value)

    return fits


def _sizes(said: Said, variables: Variables) -> Callable[[Sequence[int], list[Any]], bool] | None:
    """The comparison of sizes with a rank, and with dimensions that are numbers and bound
    variables.
    """
    (count,) = said.get("rank", [-1])
    if "dimension" not in said:
        return lambda sizes, numbers: count in (-1, len(sizes))
    steps: list[tuple[int, int]] = []
    for dim in said["dimension"]:
        if isinstance(dim, tir.IntImm):
            steps.append((-1, dim.value))
        elif dim in variables:
            steps.append((variables[dim], 0))
        else:
            return None

    def fits(sizes: Sequence[int], numbers: list[Any]) -> bool:
        if len(sizes) != count:
            return False
        for size, (at, wanted) in zip(sizes, steps, strict=True):
            if at < 0:
                if size != wanted:
                    return False
            elif numbers[at] is None:
                numbers[at] = size
            elif numbers[at] != size:
                return False
        return True

    return fits


def _shape(said: Said, variables: Variables) -> Fits | None:
    compare = _sizes(said, variables)
    if compare is None:
        return None
    return lambda value, numbers: type(value) is ShapeValue and compare(value.values, numbers)


def _tensor(said: Said, variables: Variables) -> Fits | None:
    compare = _sizes(said, variables)
    if compare is None:
        return None
    try:
        kind = numpy_type(said["dtype"][0]) if "dtype" in said else None
    except UnsupportedStop:
        return None

    def fits(value: Value, numbers: list[Any]) -> bool:
        if type(value) is not Tensor:
            return False
        data = value.data
        if kind is not None and data.dtype != kind:
            return False
        return compare(data.shape, numbers)

    return fits


_COMPILED: dict[type[ast.StructInfo], Callable[[Said, Variables], Fits | None]] = {
    ast.PrimStructInfo: _scalar,
    ast.ShapeStructInfo: _shape,
    ast.TensorStructInfo: _tensor,
}
