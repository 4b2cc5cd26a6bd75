"""Features of regions of interest, resized to one size."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, back, need_floats, wide
from rlx.operators.evaluate.windows import arranged, canonical, spread
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

MOST_SAMPLES = 1 << 16
"""The maximum number of samples of a region along an axis."""


@rule("E-region", "4cb2e1f3", "computation")
def _regions(x: Array, rois: Array, scale: float) -> list[tuple[int, list[Any]]]:
    """Of each region, its image and its corners on the image: left, top, right, bottom."""
    need_floats("a pool of regions", x, rois)
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise OperatorFault("E-region-rows", f"regions of shape {rois.shape}, expected (n, 5)")
    found = []
    for row in wide(rois):
        if not np.isfinite(row).all():
            raise OperatorFault("E-region-finite", f"the region {row.tolist()} is not finite")
        with np.errstate(all="ignore"):
            corners = row[1:] * row.dtype.type(scale)
        if not np.isfinite(corners).all():
            words = f"the region {row.tolist()} is not finite when it is scaled by {scale}"
            raise OperatorFault("E-region-finite", words)
        image = int(row[0])
        if not 0 <= image < x.shape[0]:
            raise OperatorFault(
                "E-region-image",
                (f"a region names image {image}, but there are {x.shape[0]} images"),
            )
        found.append((image, [*corners]))
    if found and not all(x.shape[2:]):
        raise OperatorFault("E-region-rows", f"images of shape {x.shape[2:]} contain no region")
    return found


def roi_align(
    data: Array,
    rois: Array,
    pooled: Sequence[int],
    scale: float,
    ratio: int,
    aligned: int,
    layout: str,
    mode: str,
) -> Array:
    """Each region resized: the mean or the maximum of interpolated samples for each cell."""
    x = wide(canonical(data, layout, "NCHW"))
    size = spread(pooled, 2)
    result = np.zeros((rois.shape[0], x.shape[1], *size), x.dtype)
    for at, (image, (left, top, right, bottom)) in enumerate(_regions(x, rois, scale)):
        rows = _samples((top, bottom), x.shape[2], size[0], ratio, aligned, x.dtype)
        columns = _samples((left, right), x.shape[3], size[1], ratio, aligned, x.dtype)
        if mode == "avg":
            rows, columns = (_means(k) for k in (rows, columns))
            result[at] = rows @ x[image] @ columns.T
        elif rows.shape[1] and columns.shape[1]:
            flat = rows.reshape(-1, x.shape[2]) @ x[image] @ columns.reshape(-1, x.shape[3]).T
            cells = flat.reshape(x.shape[1], size[0], rows.shape[1], size[1], columns.shape[1])
            result[at] = cells.max(axis=(2, 4))
    return back(arranged(result, layout, "NCHW"), data.dtype)


def _means(samples: Array) -> Array:
    return np.asarray(samples.sum(axis=1) / samples.dtype.type(max(samples.shape[1], 1)))


def _samples(
    ends: tuple[Any, Any],
    length: int,
    cells: int,
    ratio: int,
    aligned: int,
    kind: np.dtype[Any],
) -> Array:
    """The weights of an axis's elements in the samples of each cell: (cells, samples, length)."""
    start, end = ends
    extent = end - start if aligned else max(end - start, type(end)(1))
    step = extent / type(end)(cells)
    count = ratio if ratio > 0 else max(ceil(step), 0)
    if count > MOST_SAMPLES:
        raise OperatorFault(
            "E-region-finite",
            (f"a region needs {count} samples along an axis of length {length}, which is too many"),
        )
    part = (np.arange(count, dtype=kind) + kind.type(0.5)) * kind.type(step / max(count, 1))
    at = kind.type(start) + np.arange(cells, dtype=kind)[:, None] * kind.type(step) + part
    inside = (at >= -1) & (at <= length)
    at = np.clip(at, 0, length - 1)
    low = np.floor(at).astype(np.int64)
    weights = np.zeros((cells, count, length), kind)
    grid = np.indices((cells, count))
    weights[(*grid, np.minimum(low + 1, length - 1))] = at - low
    weights[(*grid, low)] += 1 - (at - low)
    return np.asarray(weights * inside[..., None])


def roi_pool(data: Array, rois: Array, pooled: Sequence[int], scale: float, layout: str) -> Array:
    """Each region resized: the maximum of the elements of each cell, or 0 for an empty cell."""
    x = wide(canonical(data, layout, "NCHW"))
    size = spread(pooled, 2)
    result = np.zeros((rois.shape[0], x.shape[1], *size), x.dtype)
    for at, (image, (left, top, right, bottom)) in enumerate(_regions(x, rois, scale)):
        rows = _cells((top, bottom), x.shape[2], size[0])
        columns = _cells((left, right), x.shape[3], size[1])
        for i, (a, b) in enumerate(rows):
            # Rows first: of each cell only one line of maxima is left to look through.
            line = x[image, :, a:b].max(axis=1) if a < b else None
            for j, (c, d) in enumerate(columns):
                if line is not None and c < d:
                    result[at, :, i, j] = line[:, c:d].max(axis=1)
    return back(arranged(result, layout, "NCHW"), data.dtype)


def _cells(ends: tuple[Any, Any], length: int, cells: int) -> list[tuple[int, int]]:
    """Where the cells of a region begin and end on an axis; neighbours may share an element."""
    start, end = (floor(v + v.dtype.type(0.5)) for v in ends)
    step = ends[0].dtype.type(max(end - start + 1, 1)) / ends[0].dtype.type(cells)
    bounds = [(floor(k * step) + start, ceil((k + 1) * step) + start) for k in range(cells)]
    return [(min(max(a, 0), length), min(max(b, 0), length)) for a, b in bounds]
