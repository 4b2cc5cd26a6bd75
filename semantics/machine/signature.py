"""Checks of values against annotations (E-cast), compiled so that common checks are fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import VOID
from rlx.semantics.arrays import numpy_type
from rlx.semantics.cast import CastFailed, compare
from rlx.semantics.faults import CheckStop, UnsupportedStop
from rlx.semantics.machine.configuration import Compare, Frame, Reader, ScopeSlots
from rlx.semantics.values import Scalar, ShapeValue, Tensor, Value
from rlx.solver.order.demands import demands, every


class Check:
    """A check of values against annotations in a scope.

    Attributes
    ----------
    binds
        The shape variables that it binds, in the order in which their numbers are returned.
    """

    __slots__ = ("_known", "_shapes", "_simple", "binds", "demands")

    def __init__(
        self, infos: Sequence[ast.StructInfo], binds: Sequence[tir.Var], scope: ScopeSlots
    ) -> None:
        self.binds = tuple(binds)
        self.demands = [demands(info) for info in infos]
        self._known: list[tuple[tir.Var, Reader]] = []
        self._shapes: list[tuple[ast.Var, Reader]] = []
        self._simple = fast_check(infos, self.binds)
        for info in infos:
            self._look_up(info, scope)

    def _look_up(self, info: ast.StructInfo, scope: ScopeSlots) -> None:
        from rlx.solver.order import free_shape_vars, free_vars

        for var in free_shape_vars(info):
            if var not in self.binds and (read := scope.reader(var)) is not None:
                self._known.append((var, read))
        for name in free_vars(info):
            if (read := scope.reader(name)) is not None:
                self._shapes.append((name, read))

    def __call__(self, frame: Frame, values: Sequence[Value]) -> list[int]:
        """The numbers of the shape variables that the check binds. Raises CheckStop if a value does
        not fit.
        """
        if self._simple is not None:
            numbers = self._fits(values)
            if numbers is not None:
                return numbers
        return self._check(frame, values)

    def _fits(self, values: Sequence[Value]) -> list[int] | None:
        """The numbers, if all annotations are simple and all values fit; this is most of what calls
        check.
        """
        numbers: list[Any] = [None] * len(self.binds)
        for value, fits in zip(values, self._simple, strict=True):  # type: ignore[arg-type]
            if not fits(value, numbers):
                return None
        return None if None in numbers else numbers

    def _check(self, frame: Frame, values: Sequence[Value]) -> list[int]:
        known = {var: read(frame) for var, read in self._known}
        shapes: dict[ast.Var, Sequence[int]] = {}
        for name, read in self._shapes:
            held: Any = read(frame)
            if isinstance(held, ShapeValue):
                shapes[name] = held.values
        try:
            point = compare(values, self.demands, known, shapes)
        except CastFailed as failed:
            raise CheckStop(failed.code, str(failed), value=failed.value) from None
        missing = [var.name for var in self.binds if var not in point]
        if missing:
            raise CheckStop(
                "E-cast-undefined", f"the arguments do not determine {', '.join(missing)}"
            )
        return [point[var] for var in self.binds]


def cast_of(binding: ast.MatchCast, binds: Sequence[tir.Var], scope: ScopeSlots) -> Compare:
    """The check of a cast; if only shapes are compared, the value determines whether it is a shape
    or a tensor.
    """
    values = binding.compared_dims
    if values is None:
        return Check([binding.struct_info], binds, scope)
    shape = Check([ast.ShapeStructInfo(values, len(values))], binds, scope)
    data_type = getattr(binding.struct_info, "dtype", VOID)
    whole = ast.TensorStructInfo(ast.ShapeExpr(values), data_type, len(values))
    tensor = Check([whole], binds, scope)

    def check(frame: Frame, given: Sequence[Value]) -> list[int]:
        return (shape if isinstance(given[0], ShapeValue) else tensor)(frame, given)

    return check


Fits = Callable[[Value, list[Any]], bool]
"""Whether a value matches; numbers of variables, by position, are compared or stored in the
list.
"""

Variables = dict[tir.PrimExpr, int]
Said = dict[str, list[Any]]
"""The parts of an annotation to compare, by premise."""


def fast_check(
    infos: Sequence[ast.StructInfo], binds: Sequence[tir.Var]
) -> tuple[Fits, ...] | None:
    """A fast comparison for each annotation; None if one of them is not simple."""
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
    (count,) = said.get("rank", [None])
    if "dimension" not in said:
        return lambda sizes, numbers: count in (None, len(sizes))
    steps: list[tuple[int | None, int | None]] = []
    for dim in said["dimension"]:
        if isinstance(dim, tir.IntImm):
            steps.append((None, dim.value))
        elif dim in variables:
            steps.append((variables[dim], None))
        else:
            return None

    def fits(sizes: Sequence[int], numbers: list[Any]) -> bool:
        if len(sizes) != count:
            return False
        for size, (at, wanted) in zip(sizes, steps, strict=True):
            if at is None:
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
        kind = numpy_type(*said["dtype"]) if "dtype" in said else None
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
