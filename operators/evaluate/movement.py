"""The same elements in another shape or order."""

from __future__ import annotations

import math

import numpy as np

from rlx.operators.evaluate.arrays import (
    Array,
    axes_of,
    axis_of,
    back,
    broadcast,
    sizes,
    undefined,
    wide,
)
from rlx.operators.evaluation import OperatorFault
from rlx.operators.evaluation_arguments import COPIED, INFERRED
from rlx.spec.registry import rule


@rule("E-reshape", "ccb229fb", "computation")
def reshape(x: Array, shape: tuple[int | str, ...]) -> Array:
    """The elements in row-major order in another shape; a literal 0 copies a dimension, a literal
    -1 is inferred.
    """
    copied = {k for k, n in enumerate(shape) if n == COPIED and k < x.ndim}
    wanted = [x.shape[k] if k in copied else 0 if n == COPIED else n for k, n in enumerate(shape)]
    sizes = [n for n in wanted if isinstance(n, int)]
    if len(wanted) - len(sizes) > 1 or any(n < 0 for n in sizes):
        raise OperatorFault("E-reshape-infer", f"{_written(shape)} is not a shape to reshape to")
    if INFERRED in wanted:
        # What is copied stands on both sides, and says nothing of the rest where it is 0.
        whole = math.prod(n for k, n in enumerate(x.shape) if k not in copied)
        others = math.prod(
            n for k, n in enumerate(wanted) if k not in copied and isinstance(n, int)
        )
        if (whole % others if others else whole) != 0:
            raise OperatorFault(
                "E-reshape-infer", f"{x.size} elements cannot be reshaped to {_written(shape)}"
            )
        inferred = whole // others if others else 0
        sizes = [n if isinstance(n, int) else inferred for n in wanted]
    if math.prod(sizes) != x.size:
        raise OperatorFault(
            "E-reshape-count",
            (f"the {x.size} elements of shape {x.shape} cannot be reshaped to {tuple(sizes)}"),
        )
    return x.reshape(sizes).copy()


def _written(shape: tuple[int | str, ...]) -> str:
    numbers: dict[int | str, int | str] = {COPIED: 0, INFERRED: -1}
    return f"({', '.join(str(numbers.get(n, n)) for n in shape)})"


def flatten(x: Array) -> Array:
    """All elements along one axis."""
    return x.reshape(-1).copy()


def batch_flatten(x: Array) -> Array:
    """All axes except the first merged into one."""
    rest = int(np.prod(x.shape[1:], dtype=np.int64))
    return x.reshape(x.shape[0], rest).copy()


@rule("E-permute", "bcf795f5", "computation")
def permute_dims(x: Array, order: tuple[int, ...] | None) -> Array:
    """The axes in another order; reversed if none is given."""
    found = range(x.ndim)[::-1] if order is None else axes_of(order, x.ndim)
    if sorted(found) != list(range(x.ndim)):
        raise OperatorFault("E-permute-axes", f"{order} is not a permutation of {x.ndim} axes")
    return np.ascontiguousarray(np.transpose(x, tuple(found))).reshape([x.shape[a] for a in found])


def expand_dims(x: Array, given: tuple[int, ...]) -> Array:
    """Axes of length 1 inserted."""
    new = axes_of(given, x.ndim + len(given))
    rest = iter(x.shape)
    return x.reshape([1 if k in new else next(rest) for k in range(x.ndim + len(new))]).copy()


@rule("E-squeeze", "29b46a43", "computation")
def squeeze(x: Array, given: tuple[int, ...] | None) -> Array:
    """Axes of length 1 removed: the named ones, or all; a named axis of another length is a
    fault.
    """
    gone = [k for k, n in enumerate(x.shape) if n == 1] if given is None else axes_of(given, x.ndim)
    for k in gone:
        if x.shape[k] != 1:
            raise OperatorFault(
                "E-squeeze-one", (f"axis {k} of shape {x.shape} does not have length 1")
            )
    return x.reshape([n for k, n in enumerate(x.shape) if k not in gone]).copy()


def flip(x: Array, axis: int) -> Array:
    """The elements in reverse along an axis."""
    return np.flip(x, axis_of(axis, x.ndim)).copy()


def reverse_sequence(x: Array, lengths: Array, seq_axis: int, batch_axis: int) -> Array:
    """The first elements of each sequence reversed, up to its length."""
    along, batch = axis_of(seq_axis, x.ndim), axis_of(batch_axis, x.ndim)
    if lengths.dtype.kind not in "iu":
        raise undefined("a length in reverse_sequence", lengths)
    result = x.copy()
    for row, length in enumerate(lengths.reshape(-1)[: x.shape[batch]]):
        count = int(length)
        if count > x.shape[along]:
            raise OperatorFault(
                "E-index-range",
                (f"a sequence has length {count}, but the axis has length {x.shape[along]}"),
            )
        if count > 1:
            place: list[slice | int] = [slice(None)] * x.ndim
            place[batch], place[along] = slice(row, row + 1), slice(0, count)
            result[tuple(place)] = np.flip(x[tuple(place)], along)
    return result


def tile(x: Array, repeats: tuple[int, ...]) -> Array:
    """The tensor repeated along its axes, and along new leading ones."""
    _counts(repeats)
    return np.tile(x, repeats)


def repeat(x: Array, times: int, axis: int | None) -> Array:
    """Each element repeated along an axis, or in the flattened tensor if no axis is given."""
    _counts((times,))
    return np.repeat(x, times, None if axis is None else axis_of(axis, x.ndim))


def _counts(counts: tuple[int, ...]) -> None:
    if any(count < 0 for count in counts):
        raise OperatorFault("E-lengths-negative", f"the number of repetitions is {min(counts)}")


def pixel_shuffle(x: Array, factor: int) -> Array:
    """Groups of channels moved to the two spatial axes."""
    *lead, channels, height, width = x.shape
    if factor < 1 or channels % (factor * factor):
        raise OperatorFault(
            "E-reshape-count", f"{channels} channels are not a multiple of {factor}²"
        )
    groups = channels // (factor * factor)
    split = x.reshape(*lead, groups, factor, factor, height, width)
    at = len(lead)
    order = (*range(at + 1), at + 3, at + 1, at + 4, at + 2)
    return np.transpose(split, order).reshape(*lead, groups, height * factor, width * factor)


def broadcast_to(x: Array, shape: tuple[int, ...]) -> Array:
    """The tensor repeated along axes of length 1 and new leading axes."""
    wanted = sizes(shape)
    if broadcast(x, np.broadcast_to(np.int8(0), wanted)) != wanted:
        raise OperatorFault("E-broadcast-dims", f"{x.shape} does not broadcast to {wanted}")
    return np.broadcast_to(x, wanted).copy()


def collapse_sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    """The reverse of a broadcast: sums over the axes that it would repeat."""
    lead = x.ndim - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, x.shape[lead:], strict=True)):
        raise OperatorFault("E-broadcast-dims", f"{shape} does not broadcast to {x.shape}")
    w = wide(x)
    over = tuple(range(lead)) + tuple(
        k + lead for k, n in enumerate(shape) if n == 1 and x.shape[k + lead] != 1
    )
    total = np.sum(w, axis=over, keepdims=True, dtype=w.dtype) if over else w.copy()
    return back(total.reshape(shape), x.dtype)


def collapse_sum_like(x: Array, aim: Array) -> Array:
    """The reverse of a broadcast, to the shape of another tensor."""
    return collapse_sum_to(x, aim.shape)
