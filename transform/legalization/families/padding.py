"""Padding and cropping of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.dtype import BOOL
from rlx.transform import te
from rlx.transform.legalization.elements import (
    every,
    filled,
    int64,
    nearest,
)
from rlx.transform.legalization.result import Result, decline
from rlx.transform.te.scalar import Scalar


def pad(out: Result, x: te.Tensor, widths: Sequence[int], mode: str, value: float) -> te.Tensor:
    """The tensor with padding before and after along its axes."""
    befores, afters = widths[::2], widths[1::2]
    if mode == "constant" and x.dtype.is_integer and not float(value).is_integer():
        decline("its value is not an integer")
    if mode != "constant" and any(dim.value == 0 for dim in x.shape):
        decline("it has no elements to repeat")

    def held(at: Scalar, length: Scalar) -> Scalar:
        if mode == "replicate":
            return nearest(at, length)
        if mode == "circular":
            return at % length
        low = te.select(at < int64(0), int64(0) - at, at)
        return te.select(low >= length, (length - 1) * 2 - low, low)

    def element(*i: Scalar) -> Scalar:
        at = [v - int64(before) for v, before in zip(i, befores, strict=True)]
        if mode != "constant":
            places = [
                held(place, dim) if before > 0 or after > 0 else place
                for place, dim, before, after in zip(at, x.shape, befores, afters, strict=True)
            ]
            return x(*places)
        conditions: list[Scalar] = []
        for place, dim, before, after in zip(at, x.shape, befores, afters, strict=True):
            conditions += [place >= int64(0)] * (before > 0) + [place < dim] * (after > 0)
        number = bool(value) if x.dtype == BOOL else value
        return te.if_then_else(every(conditions), x(*at), te.const(number, x.dtype))

    return filled(out, element)
