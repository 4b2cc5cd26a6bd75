"""Gathering and scattering by indices; an index out of range is a fault (E-index)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import (
    Array,
    axis_of,
    back,
    broadcast,
    is_float,
    quiet,
    wide,
)
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-index", "bd3f4fb1", "computation")
def from_zero(indices: Array, length: int, negative: bool = True) -> Array:
    """Indices counted from 0.

    Raises
    ------
    OperatorFault
        ``E-index-range``: if one is outside an axis of this length.
    """
    low = -length if negative else 0
    outside = (indices < low) | (indices >= length)
    if outside.any():
        wrong = int(indices[outside].reshape(-1)[0])
        words = f"the index {wrong} is out of bounds for an axis of length {length}"
        raise OperatorFault("E-index-range", words, indices)
    return np.where(indices < 0, indices + length, indices).astype(np.intp)


def take(x: Array, indices: Any, axis: int | None, mode: str) -> Array:
    """The slices of an axis that the indices select, in the indices' shape."""
    along = axis_of(axis or 0, x.ndim)
    length = x.shape[along]
    given = np.asarray(indices, dtype=np.int64 if isinstance(indices, int) else None)
    if mode == "wrap" and length:
        given = np.mod(given.astype(np.int64), length)
    elif mode == "clip" and length:
        given = np.clip(given.astype(np.int64), 0, length - 1)
    elif mode == "nan":
        return _take_or_nan(x, given, along)
    return np.asarray(np.take(x, from_zero(given, length, negative=False), along))


def _take_or_nan(x: Array, given: Array, along: int) -> Array:
    length = x.shape[along]
    outside = (given < 0) | (given >= length)
    if not outside.any():
        return np.asarray(np.take(x, given.astype(np.intp), along))
    if not (is_float(x.dtype) and np.isnan(np.array(np.nan).astype(x.dtype))):
        words = (
            f"an index is out of bounds for an axis of length {length}, and {x.dtype} has no"
            " NaN to return"
        )
        raise OperatorFault("E-index-range", words, given)
    if not length:
        raise OperatorFault("E-index-range", "an index is out of bounds for an axis of length 0")
    found = np.take(x, np.where(outside, 0, given).astype(np.intp), along)
    found[(*[slice(None)] * along, outside)] = np.nan
    return found


def gather_elements(x: Array, indices: Array, axis: int) -> Array:
    """For each index, the element at its own position, except along the axis, where the index
    selects.
    """
    along = axis_of(axis, x.ndim)
    for k, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if k != along and n > m:
            raise OperatorFault(
                "E-index-range", (f"{n} indices are given for an axis of length {m}")
            )
    grid = list(np.ix_(*(np.arange(n) for n in indices.shape)))
    grid[along] = from_zero(indices, x.shape[along])
    return np.asarray(x[tuple(grid)])


def gather_nd(x: Array, indices: Array, batch: int) -> Array:
    """The slices that the tuples along the indices' last axis select."""
    depth = indices.shape[-1]
    grid: list[Array] = [
        np.arange(n).reshape([n if j == k else 1 for j in range(indices.ndim - 1)])
        for k, n in enumerate(indices.shape[:batch])
    ]
    grid += [from_zero(indices[..., k], x.shape[batch + k]) for k in range(depth)]
    return np.array(x[tuple(grid)]) if grid else x.copy()


_REDUCTIONS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def _put(x: Array, grid: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """The data with updates put in, one after the other: where two meet, the last counts."""
    result = wide(x).copy()
    given = np.broadcast_to(wide(updates), result[grid].shape)
    if reduction == "update":
        _assign(result, grid, given)
    elif reduction == "mean":
        raise OperatorFault("E-operator-arguments", "reduction by mean is not defined")
    elif reduction in _REDUCTIONS:
        quiet(_REDUCTIONS[reduction].at, result, grid, given)
    else:
        raise OperatorFault("E-operator-arguments", f"unknown reduction {reduction!r}")
    return back(result, x.dtype)


def _assign(result: Array, grid: tuple[Array, ...], given: Array) -> None:
    """Assign in order; NumPy leaves open which of several assignments to a place wins."""
    shape = np.broadcast_shapes(*(g.shape for g in grid))
    flat = np.ravel_multi_index(
        tuple(np.broadcast_to(g, shape).reshape(-1) for g in grid), result.shape[: len(grid)]
    )
    rows = result.reshape(int(np.prod(result.shape[: len(grid)], dtype=np.int64)), -1)
    new = given.reshape(len(flat), -1)
    _, last = np.unique(flat[::-1], return_index=True)
    keep = len(flat) - 1 - last
    rows[flat[keep]] = new[keep]


@rule("E-scatter", "68d56e42", "computation")
def fit(updates: Array, wanted: tuple[int, ...]) -> None:
    """Check that updates have the shape of the positions that the indices select (E-scatter)."""
    if updates.shape != wanted:
        raise OperatorFault(
            "E-scatter-updates", (f"the updates have shape {updates.shape}, expected {wanted}")
        )


def scatter_elements(x: Array, indices: Array, updates: Array, axis: int, reduction: str) -> Array:
    """The data with each update at the index along the axis."""
    along = axis_of(axis, x.ndim)
    fit(updates, indices.shape)
    for k, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if k != along and n > m:
            raise OperatorFault(
                "E-index-range", (f"{n} indices are given for an axis of length {m}")
            )
    grid = list(np.ix_(*(np.arange(n) for n in indices.shape)))
    grid[along] = from_zero(indices, x.shape[along])
    return _put(x, tuple(grid), updates, reduction) if indices.size else x.copy()


def scatter_nd(x: Array, indices: Array, updates: Array, reduction: str) -> Array:
    """The data with each update at its tuple of indices."""
    depth = indices.shape[-1]
    wanted = (*indices.shape[:-1], *x.shape[depth:])
    fit(updates, wanted)
    grid = tuple(from_zero(indices[..., k], x.shape[k]) for k in range(depth))
    return _put(x, grid, updates, reduction) if updates.size else x.copy()


def index_tensor(x: Array, indices: Sequence[Array]) -> Array:
    """Leading axes replaced by the common shape of the indices into them."""
    broadcast(*indices)
    grid = tuple(from_zero(index, x.shape[k]) for k, index in enumerate(indices))
    return np.array(x[grid])


def index_put(x: Array, indices: Sequence[Array], values: Array, accumulate: int) -> Array:
    """The data with values at positions given by one index for every axis."""
    shape = broadcast(*indices)
    grid = tuple(
        np.broadcast_to(from_zero(index, x.shape[k]), shape) for k, index in enumerate(indices)
    )
    wanted = (*shape, *x.shape[len(grid) :])
    fit(np.broadcast_to(np.int8(0), broadcast(values, np.broadcast_to(np.int8(0), wanted))), wanted)
    given = np.broadcast_to(values, wanted)
    return _put(x, grid, given, "add" if accumulate else "update") if given.size else x.copy()


def one_hot(indices: Array, on: Any, off: Any, depth: int, axis: int) -> Array:
    """A new axis that has one value at the index and another elsewhere; for an index out of range,
    only the other.
    """
    along = axis_of(axis, indices.ndim + 1)
    if depth < 1:
        raise OperatorFault("E-lengths-negative", f"the depth is {depth}, expected at least 1")
    line = np.arange(depth).reshape([-1 if k == along else 1 for k in range(indices.ndim + 1)])
    hit = np.expand_dims(indices, along) == line
    kind = np.float32 if isinstance(on, float) else np.int64
    return np.where(hit, kind(on), kind(off))


def where(condition: Array, a: Array, b: Array) -> Array:
    """Elements of one tensor where a condition holds, of another elsewhere."""
    broadcast(condition, a, b)
    return np.where(condition, a, b)


def nonzero(x: Array) -> Array:
    """The indices of the nonzero elements, with one row per axis."""
    return np.array(np.nonzero(np.atleast_1d(wide(x))), np.int64)


@rule("E-bucketize", "37233336", "computation")
def bucketize(x: Array, boundaries: Array, narrow: int, right: int) -> Array:
    """The number of boundaries below each element."""
    side: Any = "right" if right else "left"
    limits = wide(boundaries)
    if not (limits[1:] >= limits[:-1]).all() or np.isnan(limits).any():
        raise OperatorFault("E-bucketize-ascending", "the boundaries are not in ascending order")
    found = np.searchsorted(limits, wide(x), side=side)
    return np.asarray(found).astype(np.int32 if narrow else np.int64)


def unique(x: Array, ordered: int, index: int, inverse: int, counts: int, axis: int | None) -> Any:
    """The distinct elements (or slices along an axis) in ascending order, or in order of
    appearance; optionally their indices and counts.
    """
    along = None if axis is None else axis_of(axis, x.ndim)
    found: Any = np.unique(
        wide(x), return_index=True, return_inverse=True, return_counts=True, axis=along
    )
    values, first, places, times = found
    places = places.ravel()
    if not ordered:
        appearance = np.argsort(first)
        rank = np.argsort(appearance)
        values = np.take(values, appearance, along or 0)
        first, places, times = first[appearance], rank[places], times[appearance]
    results = [back(values, x.dtype)]
    wanted = ((first, index), (places, inverse), (times, counts))
    results += [r.astype(np.int64) for r, want in wanted if want]
    return results[0] if len(results) == 1 else tuple(results)
