"""Conversions of arguments for the evaluation of an operator, by the kind of the parameter.

Each function raises ``TypeError`` or ``ValueError`` if a plain value has the wrong kind.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, PrimValue, ShapeExpr
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.dim_arithmetic import literal


def same(value: Any) -> Any:
    return value


def array(value: Any) -> Any:
    """A tensor's value."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        raise TypeError(f"found {value!r}")
    return value


def scalar(value: Any) -> Any:
    """The number of a scalar; other objects are rejected."""
    if not isinstance(value, int | float):
        raise TypeError(f"found {value!r}")
    return value


def operand(value: Any) -> Any:
    """A tensor, or a scalar instead of one."""
    return value if isinstance(value, int | float) else array(value)


def arrays(value: Any) -> tuple[Any, ...]:
    """The tensors of a tuple; a single tensor counts as a tuple of one."""
    return tuple(array(item) for item in value) if isinstance(value, tuple) else (array(value),)


def sizes(value: Any) -> tuple[int, ...]:
    """Integers; a single integer counts as a list of one."""
    return tuple(int(item) for item in value) if isinstance(value, tuple) else (int(value),)


COPIED, INFERRED = "copied", "inferred"


def in_place_of_sizes(written: Expr, value: Any) -> Any:
    """The sizes of a new shape, with :data:`COPIED` for a literal 0 and :data:`INFERRED` for a
    literal -1. A computed 0 is kept.
    """
    match written:
        case ShapeExpr(values=items):
            pass
        case ast.Tuple(fields=items):
            pass
        case _:
            return value
    return tuple(_MARKS.get(_number(item), size) for item, size in zip(items, value, strict=True))


_MARKS: dict[int | None, str] = {0: COPIED, -1: INFERRED}


def _number(item: Any) -> int | None:
    """The number that the text says, by itself or as arithmetic on numbers; None if it says
    something else.
    """
    if isinstance(item, PrimValue):
        item = item.value
    return literal(item) if isinstance(item, PrimExpr) else item if isinstance(item, int) else None


def new_sizes(value: Any) -> tuple[int | str, ...]:
    """Integers and the marks of :func:`in_place_of_sizes`."""
    given = value if isinstance(value, tuple) else (value,)
    return tuple(item if item in (COPIED, INFERRED) else int(item) for item in given)


def int_or_ints(value: Any) -> int | tuple[int, ...]:
    """One integer, or several."""
    return sizes(value) if isinstance(value, tuple) else int(value)


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"found {value!r}")
    return value


def data_type(value: Any) -> DataType | None:
    """A data type; None for the unknown one."""
    kind = dtype(value) if isinstance(value, str) else value
    if not isinstance(kind, DataType):
        raise TypeError(f"found {value!r}")
    return None if kind.is_void else kind


def number(value: Any) -> int | float:
    return value if isinstance(value, int | float) else float(value)


def prims(value: Any) -> tuple[Any, ...]:
    """Scalars; a single scalar counts as a list of one."""
    return tuple(map(scalar, value if isinstance(value, tuple) else (value,)))
