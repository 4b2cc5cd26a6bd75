"""Concatenation and splitting of tensors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, axis_of
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


def concat(tensors: tuple[Array, ...], axis: int | None) -> Array:
    """The tensors concatenated along an axis."""
    along = axis_of(axis or 0, tensors[0].ndim)
    _alike(tensors, along)
    return np.concatenate(tensors, along)


@rule("E-join", "698cb43d", "computation")
def _alike(tensors: tuple[Array, ...], along: int | None) -> None:
    first = tensors[0].shape
    for other in tensors:
        if other.ndim != len(first) or any(
            n != m for k, (n, m) in enumerate(zip(first, other.shape, strict=True)) if k != along
        ):
            where = "" if along is None else f" along axis {along}"
            raise OperatorFault(
                "E-join-dims", (f"the shapes {first} and {other.shape} cannot be joined{where}")
            )


def stack(tensors: tuple[Array, ...], axis: int | None) -> Array:
    """Tensors of the same shape stacked along a new axis."""
    _alike(tensors, None)
    return np.stack(tensors, axis_of(axis or 0, tensors[0].ndim + 1))


@rule("E-split", "ac542e00", "computation")
def split(x: Array, cut: int | tuple[int, ...], axis: int) -> Any:
    """An axis split into equal sections (the last may be shorter), or at indices."""
    along = axis_of(axis, x.ndim)
    length = x.shape[along]
    if isinstance(cut, int):
        each = -(-length // cut) if cut > 0 else -1
        if each * (cut - 1) > length or cut < 1:
            raise OperatorFault(
                "E-split-sections", (f"{length} elements cannot be split into {cut} sections")
            )
        bounds = [each * k for k in range(cut)] + [length]
    else:
        inner = [min(int(k), length) for k in cut]
        bounds = [0, *inner, length]
        if bounds != sorted(bounds):
            raise OperatorFault(
                "E-split-sections",
                (f"the indices {cut} do not ascend from 0 to the length of the axis"),
            )
    parts = tuple(np.take(x, np.arange(low, high), along) for low, high in pairwise(bounds))
    return parts[0] if len(parts) == 1 else parts


def meshgrid(tensors: tuple[Array, ...], indexing: str | None) -> tuple[Array, ...]:
    """The coordinates of the grid that the vectors span."""
    found = np.meshgrid(*tensors, indexing="xy" if indexing == "xy" else "ij")
    return tuple(np.asarray(grid).copy() for grid in found)
