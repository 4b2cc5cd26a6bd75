"""New tensors, and the sizes of given ones."""

from __future__ import annotations

import math
from typing import Any

from rlx import te
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.dtype import dtype as named
from rlx.te.scalar import Scalar, scalar
from rlx.transform.legalization.elements import (
    FLOAT64,
    convert,
    equals,
    filled,
    int64,
    product,
    wide,
)
from rlx.transform.legalization.result import Result, decline


def zeros(out: Result, *_: Any) -> te.Tensor:
    """All zeros."""
    return filled(out, lambda *i: te.const(0, out.dtype))


def ones(out: Result, *_: Any) -> te.Tensor:
    """All ones."""
    return filled(out, lambda *i: te.const(1, out.dtype))


def full(out: Result, shape: Any, value: te.Tensor, dtype: DataType | None) -> te.Tensor:
    """One value everywhere."""
    return filled(out, lambda *i: convert(wide(_only(value)), out.dtype))


def full_like(out: Result, x: te.Tensor, value: te.Tensor, dtype: DataType | None) -> te.Tensor:
    """One value everywhere, in the shape of another tensor."""
    return filled(out, lambda *i: convert(wide(_only(value)), out.dtype))


def _only(value: te.Tensor) -> Scalar:
    """The element of a tensor that has one."""
    return value(*(int64(0) for _ in value.shape))


def _diagonal(out: Result, k: Any) -> te.Tensor:
    offset = te.cast("int64", scalar(k))
    return filled(
        out,
        lambda i, j: te.select(
            equals(j - i, offset), te.const(1, out.dtype), te.const(0, out.dtype)
        ),
    )


def eye(out: Result, n: Any, m: Any, k: Any, dtype: DataType | None) -> te.Tensor:
    """Ones on a diagonal."""
    return _diagonal(out, k)


def eye_like(out: Result, x: te.Tensor, k: Any, dtype: DataType | None) -> te.Tensor:
    """Ones on a diagonal, in the shape of another tensor."""
    return _diagonal(out, k)


def arange(out: Result, start: Any, end: Any, step: Any, dtype: DataType | None) -> te.Tensor:
    """The numbers from a start to before an end."""
    if end is None:
        start = 0
    floats = any(isinstance(x, float) for x in (start, step))
    if floats and any(isinstance(x, Scalar) for x in (start, step)):
        decline("its bounds are floats, and not all are constants")
    kind = FLOAT64 if floats else named("int64")

    def element(i: Scalar) -> Scalar:
        begin, pace = te.cast(kind, scalar(start)), te.cast(kind, scalar(step))
        return convert(begin + te.cast(kind, i) * pace, out.dtype)

    return filled(out, element)


def hamming_window(
    out: Result, size: Any, periodic: Any, alpha: Any, beta: Any, dtype: DataType | None
) -> te.Tensor:
    """The weights of a Hamming window."""
    if any(isinstance(x, Scalar) for x in (periodic, alpha, beta)):
        decline("its weights are not constants")
    (count,) = out.shape
    period = te.cast(FLOAT64, te.maximum(count if periodic else count - 1, int64(1)))

    def element(i: Scalar) -> Scalar:
        turn = te.cast(FLOAT64, i) * (2 * math.pi) / period
        weight = te.const(float(alpha), FLOAT64) - te.cos(turn) * float(beta)
        single = te.const(1, FLOAT64)  # a window of one point does not taper
        return convert(te.if_then_else(equals(count, int64(1)), single, weight), out.dtype)

    return filled(out, element)


def size(out: Result, x: te.Tensor) -> te.Tensor:
    """The number of elements."""
    return filled(out, lambda: product(x.shape))


def shape_to_tensor(out: Result, shape: tuple[Scalar, ...] | None) -> te.Tensor:
    """A vector of the dimensions of a shape."""
    if shape is None:
        decline("its dimensions are not constants")

    def element(i: Scalar) -> Scalar:
        found = int64(0)
        for place, dim in reversed(list(enumerate(shape))):
            found = te.if_then_else(equals(i, int64(place)), te.cast("int64", dim), found)
        return found

    return filled(out, element)


OPERATORS = {"zeros_like": zeros, "ones_like": ones}
"""The operators that functions of this file make or share, by name."""
