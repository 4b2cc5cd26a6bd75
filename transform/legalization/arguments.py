"""The arguments of a definition: the values that the operator's rule gets, with tensors to read
from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.ast import Expr, StructInfo, TensorStructInfo, TupleStructInfo
from rlx.grammar.dtype import BOOL
from rlx.operators.binding import ArgumentMatch, matched, plan
from rlx.operators.context import OperatorContext
from rlx.operators.registry import Operator
from rlx.operators.site import Site, Violation
from rlx.transform.legalization.result import decline
from rlx.transform.te.convert import Converter
from rlx.transform.te.scalar import Scalar, scalar
from rlx.transform.te.tensor import Tensor

_TENSORS = ("tensor", "operand", "tensors")


def arguments(
    operator: Operator, call: ast.Call, ctx: OperatorContext, convert: Converter
) -> list[Any]:
    """A value for each parameter.

    Raises
    ------
    Declined
        If too little is known about a parameter.
    """
    site = Site(operator, call, ctx)
    try:
        checked = [read(site) for read in plan(site)]
    except Violation as violation:
        decline(violation.message or "its arguments are wrong")
    places = list(matched(operator.parameters, len(call.args), call.attrs))
    return [_one(at, value, call, convert) for at, value in zip(places, checked, strict=True)]


def _one(at: ArgumentMatch, value: Any, call: ast.Call, convert: Converter) -> Any:
    given = _given(at, call)
    kind, name = at.parameter.kind, at.parameter.name
    if value is None and not (kind in ("prim", "prims", "tensors") and given is not None):
        return None
    if kind in _TENSORS or _holds_tensors(value):
        assert given is not None
        found = convert(given)
        # One tensor may stand for a tuple of one.
        return (found,) if isinstance(value, tuple) and isinstance(found, Tensor) else found
    match kind:
        case "prim":
            return number(_known(value, name))
        case "prims":
            return tuple(number(_known(each, name)) for each in _known(value, name))
        case "shape" | "whole_shape" | "new_shape" | "size":
            return _shape(value)
    if isinstance(value, Expr) and kind not in ("types", "any"):
        return convert(value)
    return value


def _holds_tensors(value: Any) -> bool:
    """Whether the rule sees a tensor, or tensors in a tuple."""
    parts = value if isinstance(value, tuple) and value else (value,)
    return all(isinstance(part, TensorStructInfo) for part in parts)


def _known(value: Any, name: str) -> Any:
    if value is None:
        decline(f"the value of {name} is not known")
    return value


def _given(found: ArgumentMatch, call: ast.Call) -> Any:
    """The expression of an argument."""
    match found.source:
        case "positional":
            return call.args[found.index]
        case "keyword":
            return call.attrs[found.parameter.name]
        case "rest":
            return call.args[found.index :]
    return None


def _shape(value: Any) -> tuple[Scalar, ...] | None:
    """The dimensions of a shape, where it is written out."""
    if isinstance(value, ast.ShapeExpr):
        return tuple(map(scalar, value.values))
    if isinstance(value, ast.PrimValue):
        return (scalar(value.value),)
    return None


def number(value: tir.PrimExpr) -> int | float | Scalar:
    """A scalar; a plain number if it is constant."""
    if isinstance(value, tir.IntImm | tir.FloatImm):
        return bool(value.value) if value.dtype == BOOL else value.value
    return scalar(value)


def results(info: StructInfo, name: str) -> Any:
    """The derived result of a call, for a definition.

    Raises
    ------
    Declined
        If it is neither a tensor of known shape and element type nor a tuple of such tensors.
    """
    from rlx.transform.legalization.result import Result
    from rlx.transform.te.convert import dimensions

    if isinstance(info, TupleStructInfo):
        return tuple(results(field, name) for field in info.fields)
    if not isinstance(info, TensorStructInfo):
        decline("its result is not a tensor")
    dims = dimensions(info)
    if dims is None:
        decline("the shape of its result is not known")
    if info.dtype.is_void:
        decline("the element type of its result is not known")
    return Result(dims, info.dtype, name)


def same_type(tensors: Sequence[Any]) -> bool:
    """Whether tensors have the same element type."""
    return len({tensor.dtype for tensor in tensors}) <= 1
