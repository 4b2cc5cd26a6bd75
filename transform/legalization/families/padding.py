"""Padding and cropping of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from rlx import te
from rlx.grammar.nodes.dtype import BOOL
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import both, filled, int64
from rlx.transform.legalization.result import Result, decline


def pad(out: Result, x: te.Tensor, widths: Sequence[int], mode: str, value: float) -> te.Tensor:
    """The tensor with padding before and after along its axes."""
    befores, afters = widths[::2], widths[1::2]
    if mode not in ("constant", "reflect", "replicate", "circular"):
        decline(f"unknown mode {mode!r}")
    if mode == "constant" and x.dtype.is_integer and not float(value).is_integer():
        decline("its value is not an integer")
    if mode != "constant" and any(dim.value == 0 for dim in x.shape):
        decline("it has no elements to repeat")

    def held(at: Scalar, length: Scalar) -> Scalar:
        if mode == "replicate":
            return te.maximum(te.minimum(at, length - 1), int64(0))
        # Padding that is wider than the mode allows is read outside of the axis: a stop.
        if mode == "circular":
            before, after = at + length, at - length
        else:
            before, after = int64(0) - at, (length - 1) * 2 - at
        return te.select(at >= length, after, te.select(at < int64(0), before, at))

    def element(*i: Scalar) -> Scalar:
        at = [v - int64(before) for v, before in zip(i, befores, strict=True)]
        if mode != "constant":
            places = [
                held(place, dim) if before > 0 or after > 0 else place
                for place, dim, before, after in zip(at, x.shape, befores, afters, strict=True)
            ]
            return x(*places)
        inside = te.const(True, "bool")
        for place, dim, before, after in zip(at, x.shape, befores, afters, strict=True):
            if before > 0:
                inside = both(inside, place >= int64(0))
            if after > 0:
                inside = both(inside, place < dim)
        number = bool(value) if x.dtype == BOOL else value
        return te.if_then_else(inside, x(*at), te.const(number, x.dtype))

    return filled(out, element)
