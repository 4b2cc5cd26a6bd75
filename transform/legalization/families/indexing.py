"""Gathering and scattering by indices. An index is checked by a read from a vector of all valid
positions, where the run stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import zip_longest
from typing import Any

from rlx import te
from rlx.te.scalar import Scalar, scalar
from rlx.transform.legalization.elements import (
    axis_of,
    both,
    broadcast,
    convert,
    equals,
    every,
    filled,
    int64,
    is_one,
    larger,
    nearest,
    need_numbers,
    product,
    smaller,
    wide,
)
from rlx.transform.legalization.families.movement import unflat
from rlx.transform.legalization.result import Result, decline


def line(length: Scalar, name: str = "T_line") -> te.Tensor:
    """The vector of the positions of an axis; a read outside it stops the run."""
    return te.compute((length,), lambda i: te.cast("int64", i), name=name)  # type: ignore[no-any-return]


def counted(index: Scalar, length: Scalar) -> Scalar:
    """An index counted from 0."""
    at = te.cast("int64", index)
    return te.select(at < int64(0), at + length, at)


def take(out: Result, x: te.Tensor, indices: Any, axis: int | None, mode: str) -> te.Tensor:
    """The slices of an axis that the indices select, in the indices' shape."""
    along = axis_of(axis or 0, x.ndim)
    length = x.shape[along]
    rank = 0 if isinstance(indices, Scalar) else indices.ndim
    nan = mode == "nan"

    def element(*i: Scalar) -> Scalar:
        given = i[along : along + rank]
        index = indices if isinstance(indices, Scalar) else indices(*given)
        at = te.cast("int64", index)
        found = x(*i[:along], by_mode(at, length, mode), *i[along + rank :])
        if not nan:
            return found
        if not x.dtype.is_float:
            decline("its elements cannot be NaN")
        inside = both(at >= int64(0), at < length)
        return te.if_then_else(inside, found, te.const(float("nan"), x.dtype))

    if nan and length.value is None:
        decline("the axis may be empty, and no index into it is valid")
    return filled(out, element)


def by_mode(at: Scalar, length: Scalar, mode: str) -> Scalar:
    """The position that an index means in a mode."""
    match mode:
        case "wrap":
            return at % length
        case "clip":
            return nearest(at, length)
    return at


def gather_elements(out: Result, x: te.Tensor, indices: te.Tensor, axis: int) -> te.Tensor:
    """For each index, the element at its own position, except along the axis, where the index
    selects.
    """
    along = axis_of(axis, x.ndim)

    def element(*i: Scalar) -> Scalar:
        at = counted(indices(*i), x.shape[along])
        return x(*(at if k == along else v for k, v in enumerate(i)))

    return filled(out, element)


def gather_nd(out: Result, x: te.Tensor, indices: te.Tensor, batch: int) -> te.Tensor:
    """The slices that the tuples along the indices' last axis select."""
    depth = indices.shape[-1].value
    assert isinstance(depth, int)  # the rank of the result depends on it
    lead = indices.ndim - 1

    def element(*i: Scalar) -> Scalar:
        named = [counted(indices(*i[:lead], int64(k)), x.shape[batch + k]) for k in range(depth)]
        return x(*i[:batch], *named, *i[lead:])

    return filled(out, element)


def index_tensor(out: Result, x: te.Tensor, indices: Sequence[te.Tensor]) -> te.Tensor:
    """Leading axes replaced by the common shape of the indices into them."""
    rank = max(index.ndim for index in indices)

    def element(*i: Scalar) -> Scalar:
        named = [counted(broadcast(index, i[:rank]), x.shape[k]) for k, index in enumerate(indices)]
        return x(*named, *i[rank:])

    return filled(out, element)


def one_hot(out: Result, indices: te.Tensor, on: Any, off: Any, depth: int, axis: int) -> te.Tensor:
    """A new axis that has one value at the index and another elsewhere."""
    along = axis_of(axis, out.ndim)

    def element(*i: Scalar) -> Scalar:
        at = te.cast("int64", indices(*(v for k, v in enumerate(i) if k != along)))
        here = equals(at, te.cast("int64", i[along]))
        return te.select(here, convert(scalar(on), out.dtype), convert(scalar(off), out.dtype))

    return filled(out, element)


# ---------------------------------------------------------------- updates


_JOINED: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "min": smaller,
    "max": larger,
}


def _put(
    out: Result,
    x: te.Tensor,
    shape: Sequence[Scalar],
    hits: Any,
    update: Any,
    reduction: str,
) -> te.Tensor:
    """The data with updates put in, one after the other.

    Parameters
    ----------
    shape
        How many updates go along each of their axes.
    hits
        Whether the update at some indices goes to an element.
    update
        The update at some indices that an element gets.
    """
    match reduction:
        case "update":
            return _updated(out, x, shape, hits, update)
    join = _JOINED.get(reduction)
    if join is None:
        decline(f"the reduction {reduction!r} has no definition")
    need_numbers(x.dtype)
    return _joined(out, x, shape, hits, update, join)


LAST = te.comm_reducer(te.maximum, lambda kind: te.const(-1, kind), "last")


def _updated(
    out: Result, x: te.Tensor, shape: Sequence[Scalar], hits: Any, update: Any
) -> te.Tensor:
    """The data with each element replaced by the last update that goes there."""
    k = te.reduce_axis((0, product(shape)), name="k")
    numbers = unflat(shape, k)
    last = te.compute(
        out.shape,
        lambda *i: LAST(te.if_then_else(hits(numbers, i), te.cast("int64", k), int64(-1)), axis=k),
        name="T_last",
    )

    def chosen(*i: Scalar) -> Scalar:
        at = last(*i)
        return te.if_then_else(at >= int64(0), update(unflat(shape, at), i), x(*i))

    return filled(out, chosen)


def _joined(
    out: Result, x: te.Tensor, shape: Sequence[Scalar], hits: Any, update: Any, join: Any
) -> te.Tensor:
    """The data with all updates that go to an element joined with it."""
    k = te.reduce_axis((0, product(shape)), name="k")
    numbers = unflat(shape, k)

    def pair(a: tuple[Scalar, Scalar], b: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        both_count = te.if_then_else(b[0], join(a[1], b[1]), a[1])
        return te.any(a[0], b[0]), te.if_then_else(a[0], both_count, b[1])

    joined = te.comm_reducer(
        pair, lambda some, kind: (te.const(False, some), te.const(0, kind)), "joined"
    )

    def element(*i: Scalar) -> Any:
        return joined((hits(numbers, i), wide(update(numbers, i))), axis=k)

    found = te.compute(out.shape, element, name="T_joined")

    def with_data(*i: Scalar) -> Scalar:
        own = wide(x(*i))
        return convert(te.if_then_else(found[0](*i), join(own, found[1](*i)), own), out.dtype)

    return filled(out, with_data)


def scatter_elements(
    out: Result,
    x: te.Tensor,
    indices: te.Tensor,
    updates: te.Tensor,
    axis: int,
    reduction: str,
) -> te.Tensor:
    """The data with each update at the index along the axis."""
    along = axis_of(axis, x.ndim)
    places = line(x.shape[along])
    at = te.compute(
        indices.shape,
        lambda *j: places(counted(indices(*j), x.shape[along])),
        name="T_at",
    )

    def hits(j: Sequence[Scalar], i: Sequence[Scalar]) -> Scalar:
        found = equals(at(*j), i[along])
        for k in range(x.ndim):
            if k != along:
                found = both(found, equals(j[k], i[k]))
        return found

    return _put(out, x, indices.shape, hits, lambda j, i: updates(*j), reduction)


def scatter_nd(
    out: Result, x: te.Tensor, indices: te.Tensor, updates: te.Tensor, reduction: str
) -> te.Tensor:
    """The data with each update at its tuple of indices."""
    depth = indices.shape[-1].value
    assert isinstance(depth, int)  # the rank of the result depends on it
    at = [_checked(indices, k, x.shape[k]) for k in range(depth)]

    def hits(j: Sequence[Scalar], i: Sequence[Scalar]) -> Scalar:
        return every(equals(place(*j), i[k]) for k, place in enumerate(at))

    return _put(out, x, indices.shape[:-1], hits, lambda j, i: updates(*j, *i[depth:]), reduction)


def _checked(indices: te.Tensor, number: int, length: Scalar) -> te.Tensor:
    places = line(length, f"T_line_{number}")
    return te.compute(  # type: ignore[no-any-return]
        indices.shape[:-1],
        lambda *j: places(counted(indices(*j, int64(number)), length)),
        name=f"T_at_{number}",
    )


def index_put(
    out: Result,
    x: te.Tensor,
    indices: Sequence[te.Tensor],
    values: te.Tensor,
    accumulate: int,
) -> te.Tensor:
    """The data with values at positions given by one index for every axis."""
    shape = _common(indices)

    def placed(number: int) -> te.Tensor:
        places = line(x.shape[number], f"T_line_{number}")
        return te.compute(  # type: ignore[no-any-return]
            shape,
            lambda *j: places(counted(broadcast(indices[number], j), x.shape[number])),
            name=f"T_at_{number}",
        )

    at = [placed(number) for number in range(len(indices))]

    def hits(j: Sequence[Scalar], i: Sequence[Scalar]) -> Scalar:
        return every(equals(place(*j), i[k]) for k, place in enumerate(at))

    def update(j: Sequence[Scalar], i: Sequence[Scalar]) -> Scalar:
        whole = [*j, *i[len(at) :]]
        return broadcast(values, whole)

    return _put(out, x, shape, hits, update, "add" if accumulate else "update")


def _common(tensors: Sequence[te.Tensor]) -> list[Scalar]:
    """The shape that tensors broadcast to."""
    one = int64(1)
    from_last = zip_longest(*(reversed(tensor.shape) for tensor in tensors), fillvalue=one)
    found = [reduce(lambda a, b: a if is_one(b) else b, dims, one) for dims in from_last]
    return [*reversed(found)]


# ---------------------------------------------------------------- searching


def bucketize(
    out: Result, x: te.Tensor, boundaries: te.Tensor, narrow: int, right: int
) -> te.Tensor:
    """The number of boundaries below each element."""
    from rlx.grammar.nodes.dtype import BOOL

    if x.dtype != boundaries.dtype:
        decline("its operands have two types")
    if x.dtype == BOOL:
        decline("it is not defined for Booleans")
    length = boundaries.shape[0]
    # Two lines of one place: what does not ascend is read behind it, where the run stops.
    one = line(int64(1))

    def ascends(k: Scalar) -> Scalar:
        a, b = wide(boundaries(te.maximum(k - 1, int64(0)))), wide(boundaries(k))
        return te.if_then_else(b >= a, int64(0), int64(1))

    checked = te.compute((length,), lambda k: one(ascends(k)), name="T_ascending")
    k = te.reduce_axis((0, length), name="k")

    def element(*i: Scalar) -> Any:
        value, limit = wide(x(*i)), wide(boundaries(k))
        below = limit <= value if right else limit < value
        if value.dtype.is_float:
            below = te.any(below, te.isnan(value))
        return te.sum(te.if_then_else(below, int64(1) + checked(k), checked(k)), axis=k)

    made = te.compute(out.shape, element, name="T_bucket")
    return filled(out, lambda *i: convert(made(*i), out.dtype))
