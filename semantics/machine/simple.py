"""Annotations that a value can be compared with at once: their dimensions are numbers and variables that they bind.

Whatever is not accepted here is decided, and said, by E-cast itself; that both agree is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar import ast, tir
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import Unsupported
from rlx.semantics.values import Scalar, ShapeValue, Tensor, Value

Fits = Callable[[Value, list[Any]], bool]
"""Whether a value fits; numbers of variables, by their position, are compared or put into the list."""

Variables = dict[tir.PrimExpr, int]


def simple(infos: Sequence[ast.StructInfo], binds: Sequence[tir.Var]) -> tuple[Fits, ...] | None:
    """A comparison for each annotation; None if one of them is not simple."""
    variables: Variables = {var: at for at, var in enumerate(binds)}
    found = tuple(_simple(info, variables) for info in infos)
    return None if None in found else found  # type: ignore[return-value]


def _simple(info: ast.StructInfo, variables: Variables) -> Fits | None:
    match info:
        case ast.ObjectStructInfo():
            return lambda value, numbers: True
        case ast.PrimStructInfo(value=None, dtype=kind):
            return lambda value, numbers: type(value) is Scalar and value.dtype is kind
        case ast.PrimStructInfo(value=expr, dtype=kind) if expr in variables:
            return _bound_scalar(kind, variables[expr])
        case ast.ShapeStructInfo(values=dims) if dims is not None:
            return _shape(dims, variables)
        case ast.TensorStructInfo(vdevice=None):
            return _tensor(info, variables)
    return None


def _bound_scalar(kind: object, at: int) -> Fits:
    def fits(value: Value, numbers: list[Any]) -> bool:
        if type(value) is not Scalar or value.dtype is not kind:
            return False
        known = numbers[at]
        if known is None:
            numbers[at] = value.value
            return True
        return bool(known == value.value)

    return fits


def _dims(
    dims: Sequence[tir.PrimExpr], variables: Variables
) -> Callable[[Sequence[int], list[Any]], bool] | None:
    """The comparison of sizes with dimensions that are numbers and bound variables."""
    steps: list[tuple[int, int]] = []
    for dim in dims:
        if isinstance(dim, tir.IntImm):
            steps.append((-1, dim.value))
        elif dim in variables:
            steps.append((variables[dim], 0))
        else:
            return None
    count = len(steps)

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


def _shape(dims: Sequence[tir.PrimExpr], variables: Variables) -> Fits | None:
    compare = _dims(dims, variables)
    if compare is None:
        return None
    return lambda value, numbers: type(value) is ShapeValue and compare(value.values, numbers)


def _tensor(info: ast.TensorStructInfo, variables: Variables) -> Fits | None:
    shape, ndim = info.shape, info.ndim
    compare = None
    if isinstance(shape, ast.ShapeExpr):
        compare = _dims(shape.values, variables)
    if (compare is None) != (shape is None):
        return None
    try:
        kind = None if info.dtype.is_void else numpy_type(info.dtype)
    except Unsupported:
        return None

    def fits(value: Value, numbers: list[Any]) -> bool:
        if type(value) is not Tensor:
            return False
        data = value.data
        if kind is not None and data.dtype != kind:
            return False
        if compare is None:
            return ndim in (-1, data.ndim)
        return compare(data.shape, numbers)

    return fits
