"""Concatenation and splitting of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx import te
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import axis_of, equals, filled, int64
from rlx.transform.legalization.result import Result


def concat(out: Result, tensors: Sequence[te.Tensor], axis: int | None) -> te.Tensor:
    """The tensors concatenated along an axis."""
    along = axis_of(axis or 0, out.ndim)
    starts = [int64(0)]
    for tensor in tensors[:-1]:
        starts.append(starts[-1] + tensor.shape[along])

    def element(*i: Scalar) -> Scalar:
        found: Scalar | None = None
        for start, tensor in reversed(list(zip(starts, tensors, strict=True))):
            at = [v - start if k == along else v for k, v in enumerate(i)]
            here = te.cast(out.dtype, tensor(*at))
            end = start + tensor.shape[along]
            found = here if found is None else te.if_then_else(i[along] < end, here, found)
        assert found is not None
        return found

    return filled(out, element)


def stack(out: Result, tensors: Sequence[te.Tensor], axis: int | None) -> te.Tensor:
    """Tensors of the same shape stacked along a new axis."""
    along = axis_of(axis or 0, out.ndim)

    def element(*i: Scalar) -> Scalar:
        rest = [v for k, v in enumerate(i) if k != along]
        found = tensors[-1](*rest)
        for number, tensor in reversed(list(enumerate(tensors[:-1]))):
            found = te.if_then_else(equals(i[along], int64(number)), tensor(*rest), found)
        return found

    return filled(out, element)


def split(out: Any, x: te.Tensor, cut: int | tuple[int, ...], axis: int) -> Any:
    """An axis split into equal sections, or at indices."""
    along = axis_of(axis, x.ndim)
    if isinstance(out, Result):
        return filled(out, lambda *i: x(*i), "T_split")
    length = x.shape[along]
    if isinstance(cut, int):
        each = te.ceildiv(length, int64(cut))
        starts = [each * k for k in range(cut)]
    else:
        starts = [int64(0), *(te.minimum(int64(k), length) for k in cut)]

    def part(target: Result, start: Scalar, number: int) -> te.Tensor:
        return filled(
            target,
            lambda *i: x(*(v + start if k == along else v for k, v in enumerate(i))),
            f"T_split_{number}",
        )

    return tuple(
        part(target, start, k) for k, (target, start) in enumerate(zip(out, starts, strict=True))
    )


def meshgrid(
    out: Sequence[Result], tensors: Sequence[te.Tensor], indexing: str | None
) -> tuple[te.Tensor, ...]:
    """The coordinates of the grid that the vectors span."""
    order = list(range(len(tensors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]

    def spread(target: Result, tensor: te.Tensor, axis: int) -> te.Tensor:
        return filled(target, lambda *i: tensor(i[axis]), f"T_meshgrid_{axis}")

    return tuple(
        spread(target, tensor, axis)
        for target, tensor, axis in zip(out, tensors, order, strict=True)
    )
