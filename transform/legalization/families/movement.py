"""The same elements in another shape or order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx import te
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    axes_of,
    axis_of,
    broadcast,
    filled,
    int64,
    is_one,
    need_numbers,
    product,
    summed,
)
from rlx.transform.legalization.result import Result, decline


def flat_index(shape: Sequence[Scalar], indices: Sequence[Scalar]) -> Scalar:
    """The flat index of an element in row-major order."""
    found = int64(0)
    for dim, index in zip(shape, indices, strict=True):
        found = found * dim + index
    return found


def unflat(shape: Sequence[Scalar], place: Scalar) -> list[Scalar]:
    """The indices of a flat index in row-major order."""
    found: list[Scalar] = []
    for k in range(len(shape)):
        behind = product(shape[k + 1 :])
        index = place // behind
        found.append(index if k == 0 else index % shape[k])
    return found


def reshaped(out: Result, x: te.Tensor) -> te.Tensor:
    """The elements in row-major order in the result's shape."""
    if out.ndim == x.ndim and all(_alike(a, b) for a, b in zip(out.shape, x.shape, strict=True)):
        return filled(out, lambda *i: x(*i))
    return filled(out, lambda *i: x(*_source(out.shape, x.shape, i)))


def _source(
    shape: Sequence[Scalar], of: Sequence[Scalar], indices: Sequence[Scalar]
) -> list[Scalar]:
    """The indices in one shape of the element at indices in another; leading axes that are the same
    stay.
    """
    lead = 0
    while lead < min(len(shape), len(of)) and _alike(shape[lead], of[lead]):
        lead += 1
    place = flat_index(shape[lead:], indices[lead:])
    return [*indices[:lead], *unflat(of[lead:], place)]


def _alike(a: Scalar, b: Scalar) -> bool:
    from rlx.grammar.nodes.equal import structural_equal

    return a.node is b.node or structural_equal(a.node, b.node)


def reshape(out: Result, x: te.Tensor, shape: Any) -> te.Tensor:
    """The elements in row-major order in another shape."""
    return reshaped(out, x)


def flatten(out: Result, x: te.Tensor) -> te.Tensor:
    """All elements along one axis."""
    return reshaped(out, x)


def batch_flatten(out: Result, x: te.Tensor) -> te.Tensor:
    """All axes except the first merged into one."""
    return reshaped(out, x)


def permute_dims(out: Result, x: te.Tensor, axes: Sequence[int] | None) -> te.Tensor:
    """The axes in another order; reversed if none is given."""
    order = tuple(range(x.ndim))[::-1] if axes is None else axes_of(axes, x.ndim)

    def element(*i: Scalar) -> Scalar:
        place = dict(zip(order, i, strict=True))
        return x(*(place[a] for a in range(x.ndim)))

    return filled(out, element)


def expand_dims(out: Result, x: te.Tensor, axis: Sequence[int]) -> te.Tensor:
    """Axes of length 1 inserted."""
    new = axes_of(axis, out.ndim)
    return filled(out, lambda *i: x(*(v for k, v in enumerate(i) if k not in new)))


def squeeze(out: Result, x: te.Tensor, axis: Sequence[int] | None) -> te.Tensor:
    """Axes of length 1 removed."""
    gone = (
        [k for k, dim in enumerate(x.shape) if is_one(dim)]
        if axis is None
        else list(axes_of(axis, x.ndim))
    )

    def element(*i: Scalar) -> Scalar:
        rest = iter(i)
        return x(*(int64(0) if k in gone else next(rest) for k in range(x.ndim)))

    return filled(out, element)


def flip(out: Result, x: te.Tensor, axis: int) -> te.Tensor:
    """The elements in reverse along an axis."""
    along = axis_of(axis, x.ndim)

    def element(*i: Scalar) -> Scalar:
        return x(*(x.shape[k] - 1 - v if k == along else v for k, v in enumerate(i)))

    return filled(out, element)


def reverse_sequence(
    out: Result, x: te.Tensor, lengths: te.Tensor, seq_axis: int, batch_axis: int
) -> te.Tensor:
    """The first elements of each sequence reversed, up to its length."""
    along, batch = axis_of(seq_axis, x.ndim), axis_of(batch_axis, x.ndim)

    def element(*i: Scalar) -> Scalar:
        count = te.cast("int64", lengths(i[batch]))
        turned = te.if_then_else(i[along] < count, count - 1 - i[along], i[along])
        return x(*(turned if k == along else v for k, v in enumerate(i)))

    return filled(out, element)


def tile(out: Result, x: te.Tensor, repeats: Sequence[int]) -> te.Tensor:
    """The tensor repeated along its axes, and along new leading ones."""
    lead = out.ndim - x.ndim

    def element(*i: Scalar) -> Scalar:
        return x(*(v % dim for v, dim in zip(i[lead:], x.shape, strict=True)))

    return filled(out, element)


def repeat(out: Result, x: te.Tensor, times: int, axis: int | None) -> te.Tensor:
    """Each element repeated along an axis, or in the flattened tensor if no axis is given."""
    if times == 0:
        return filled(out, lambda *i: te.const(0, out.dtype))
    if axis is None:
        return filled(out, lambda i: x(*unflat(x.shape, i // times)))
    along = axis_of(axis, x.ndim)
    return filled(
        out, lambda *i: x(*(v // int64(times) if k == along else v for k, v in enumerate(i)))
    )


def pixel_shuffle(out: Result, x: te.Tensor, factor: int) -> te.Tensor:
    """Groups of channels moved to the two spatial axes."""
    each = int64(factor)

    def element(*i: Scalar) -> Scalar:
        *lead, channel, row, column = i
        at = (channel * each + row % each) * each + column % each
        return x(*lead, at, row // each, column // each)

    return filled(out, element)


def broadcast_to(out: Result, x: te.Tensor, shape: Any) -> te.Tensor:
    """The tensor repeated along axes of length 1 and new leading axes."""
    return filled(out, lambda *i: broadcast(x, i))


def collapse_sum_to(out: Result, x: te.Tensor, shape: Any) -> te.Tensor:
    """The reverse of a broadcast: sums over the axes that it would repeat."""
    lead = x.ndim - out.ndim
    over = [*range(lead)]
    for k, dim in enumerate(out.shape):
        if not _alike(dim, x.shape[k + lead]):
            if not is_one(dim):
                decline("the axes that it sums over are known only at run time")
            over.append(k + lead)
    if over:
        need_numbers(x.dtype)
    sums = summed(x, over, "T_sum") if over else x
    return filled(
        out,
        lambda *i: te.cast(
            out.dtype,
            sums(*(int64(0) for _ in range(lead)), *(_at(out, i, k) for k in range(out.ndim))),
        ),
    )


def _at(out: Result, indices: Sequence[Scalar], axis: int) -> Scalar:
    return int64(0) if is_one(out.shape[axis]) else indices[axis]


def collapse_sum_like(out: Result, x: te.Tensor, aim: te.Tensor) -> te.Tensor:
    """The reverse of a broadcast, to the shape of another tensor."""
    return collapse_sum_to(out, x, None)
