"""Elements moved to the indices that an index map gives."""

from __future__ import annotations

import ast as python
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlx.operators.dim_arithmetic import const, literal
from rlx.operators.evaluate.arrays import Array, Kind, integer_range, is_float
from rlx.operators.evaluation import OperatorFault
from rlx.operators.index_map import IndexMap, extents, read
from rlx.spec.registry import rule

_OPERATIONS: dict[type[python.operator], Callable[[Any, Any], Any]] = {
    python.Add: operator.add,
    python.Sub: operator.sub,
    python.Mult: operator.mul,
    python.FloorDiv: operator.floordiv,
    python.Mod: operator.mod,
}


@rule("E-layout", "8046500d", "computation")
def layout_transform(
    x: Array, index_map: str, pad_value: float | None, *separators: object
) -> Array:
    """Each element at its new index; places without an element have the padding value, or 0.

    The separators of axes change no value.
    """
    found = read(index_map)
    if found is None or len(found.names) != x.ndim:
        raise OperatorFault(
            "E-layout-map", f"{index_map} is not a map of {x.ndim} indices that is evaluated"
        )
    shape = _shape(index_map, found, x.shape)
    names: dict[str, Any] = dict(zip(found.names, np.indices(x.shape, sparse=True), strict=True))
    places = tuple(np.broadcast_to(_number(e, names), x.shape) for e in found.results)
    taken = np.zeros(shape, np.bool_)
    taken[places] = True
    if int(taken.sum()) != x.size:
        raise OperatorFault("E-layout-place", f"{index_map} moves several elements to one index")
    made = np.full(shape, _padding(pad_value, x.dtype), x.dtype)
    made[places] = x
    return made


def _padding(value: float | None, kind: Kind) -> Any:
    """What stands in places without an element."""
    if value is None or is_float(kind):
        with np.errstate(all="ignore"):
            return np.asarray(0.0 if value is None else float(value)).astype(kind)
    low, high = (0, 1) if kind.kind == "b" else integer_range(kind)
    if isinstance(value, float) or not low <= value <= high:
        words = f"the padding {value} is not an element of type {kind} ({low} to {high})"
        raise OperatorFault("E-layout-pad", words)
    return np.asarray(value).astype(kind)


def _shape(text: str, found: IndexMap, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The lengths of the result, as the operator's type has them."""
    ranges = extents(found, tuple(const(size) for size in shape))
    sizes = [] if ranges is None else [literal(high) for _, high in ranges]
    if ranges is None or any(size is None for size in sizes):
        raise OperatorFault("E-layout-map", f"{text} has no sums, products and quotients alone")
    return tuple(max(size or 0, -1) + 1 for size in sizes)


def _number(e: python.expr, names: Mapping[str, Any]) -> Any:
    """The value of an expression that :func:`extents` has accepted, for all indices at once."""
    match e:
        case python.Name(id=name):
            return names[name]
        case python.Constant(value=value):
            return value
        case python.UnaryOp(operand=inner):
            return -_number(inner, names)
        case python.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](_number(left, names), _number(right, names))
    raise AssertionError(python.dump(e))
