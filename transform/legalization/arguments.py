"""The arguments of a definition: the values that the operator's rule gets, with tensors to read
from.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo, TupleStructInfo
from rlx.operators.binding import ArgumentMatch, matched, plan
from rlx.operators.context import OperatorContext
from rlx.operators.exprs import Result, decline
from rlx.operators.operator_call import OperatorCall
from rlx.operators.registry import Operator
from rlx.te.convert import Converter
from rlx.te.scalar import Scalar, scalar
from rlx.te.tensor import Tensor

_TENSORS = ("tensor", "operand", "tensors")


def arguments(
    operator: Operator, call: ast.Call, ctx: OperatorContext, convert: Converter
) -> list[Any]:
    """A value for each parameter of a call without violations. Raises TensorExpressionError if too
    little is known about a parameter.
    """
    site = OperatorCall(operator, call, ctx)
    checked = [read(site) for read in plan(site)]
    matches = list(matched(operator.parameters, len(call.args), call.attrs))
    return [
        _one(match, value, call, convert) for match, value in zip(matches, checked, strict=True)
    ]


def _one(match: ArgumentMatch, value: Any, call: ast.Call, convert: Converter) -> Any:
    given = _given(match, call)
    kind = match.parameter.kind
    if value is None:
        return None
    if kind in _TENSORS or _holds_tensors(value):
        assert given is not None
        found = convert(given)
        # One tensor may stand for a tuple of one.
        return (found,) if isinstance(value, tuple) and isinstance(found, Tensor) else found
    if kind == "prim":
        return number(value)
    if kind == "prims":
        return tuple(map(number, value))
    if kind in ("shape", "whole_shape", "new_shape", "size"):
        return _shape(value)
    return value


def _holds_tensors(value: Any) -> bool:
    """Whether the rule sees a tensor, or tensors in a tuple."""
    parts = value if isinstance(value, tuple) and value else (value,)
    return all(isinstance(part, TensorStructInfo) for part in parts)


def _given(match: ArgumentMatch, call: ast.Call) -> Any:
    """The expression of an argument."""
    if match.source == "positional":
        return call.args[match.index]
    if match.source == "keyword":
        return call.attrs[match.parameter.name]
    return None


def _shape(value: Any) -> tuple[Scalar, ...] | None:
    """The dimensions of a shape, where it is written out."""
    if isinstance(value, ast.ShapeExpr):
        return tuple(map(scalar, value.values))
    return None


def number(value: tir.PrimExpr) -> int | float | Scalar:
    """A scalar; a plain number if it is constant."""
    if isinstance(value, tir.IntImm | tir.FloatImm):
        if isinstance(value, tir.IntImm) and value.dtype.code == "bool":
            return bool(value.value)
        return value.value
    return scalar(value)


def results(info: StructInfo, name: str) -> Any:
    """The derived result of a call, for a definition. Raises Declined if it is neither a tensor of
    known shape and element type nor a tuple of such tensors.
    """
    from rlx.te.convert import dimensions

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
