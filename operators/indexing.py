"""Gathering and scattering by indices."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.grammar.nodes.ast import Constant, PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.tir import GE, LT, PrimExpr
from rlx.operators.binary import broadcast
from rlx.operators.dim_arithmetic import ZERO, const, literal, same
from rlx.operators.parameters import OneOrTensors, Operand, Prim, Tensor, Tensors
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import (
    agree,
    axis,
    elements,
    known,
    rank,
    ranked,
    resized,
    scalar_type,
    tensor,
)
from rlx.operators.site import Dims, Site, show, show_shape
from rlx.spec.registry import rule


@rule("OBL-bounds", "f37f3374", "obligation")
def within(site: Site, index: int, length: PrimExpr, negative: bool) -> None:
    """Check that the known indices are within the axis."""
    for value in _extremes(site, index):
        number = literal(value)
        if number is not None and number < 0 and negative:
            holds: tuple[PrimExpr, ...] = (GE(length, const(-number)),)
        elif number is not None and number >= 0:
            holds = (LT(value, length),)
        else:
            holds = (GE(value, ZERO), LT(value, length))
        site.require(
            "OBL-bounds-index",
            holds,
            lambda value=value: (  # type: ignore[misc]
                f"the index {show(value)} is out of bounds for an axis of length {show(length)} "
                f"{site.of(0)}"
            ),
            index,
        )


def _extremes(site: Site, index: int) -> list[PrimExpr]:
    """The smallest and largest of the indices that an argument names, where it is a literal."""
    given = site.argument(index)
    if isinstance(given, Constant):
        numbers = sorted(set(_leaves(given.data.value)))
        return [const(k) for k in dict.fromkeys((*numbers[:1], *numbers[-1:]))]
    info = None if given is None else site.ctx.info(given)
    if isinstance(info, PrimStructInfo) and info.value is not None:
        return [info.value]
    return []


def _leaves(value: object) -> Iterator[int]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, (tuple, list)):
            stack.extend(item)
        elif isinstance(item, int):
            yield item


@operator(
    "relax.take",
    calls="""
    x(a, b), i(c) | i(c, 3) | i(), axis=0 | 1 | -1, mode=None | 'clip' | 'wrap'
    x(a), i(c) | i(c, 3), axis=None | 0
    """,
)
def take(
    site: Site, x: Tensor, indices: Operand, axis_: int | None = None, mode: str = "fast"
) -> StructInfo:
    """The slices of an axis that the indices select, in the indices' shape."""
    elements(site, indices, 1, "integer")
    ndim = site.rank(x)
    if axis_ is None:
        ndim = rank(site, x, 0, 1)
        known(site, "rank", (0, x))
    if ndim is None:
        return ranked(None, x.dtype, x.vdevice)
    along = axis(site, axis_ or 0, ndim)
    dims = site.dims(x)
    if dims is not None and mode == "fast":
        within(site, 1, dims[along], negative=False)
    if isinstance(indices, PrimStructInfo):
        places: Dims | None = ()
        count: int | None = 0
    else:
        places, count = site.dims(indices), site.rank(indices)
    if dims is None or places is None:
        return ranked(None if count is None else ndim - 1 + count, x.dtype, x.vdevice)
    return resized(x, (*dims[:along], *places, *dims[along + 1 :]), None)


@rule("OBL-gather", "0c8e8928", "obligation")
def gathered(site: Site, data: TensorStructInfo, indices: TensorStructInfo, along: int) -> None:
    """Check that the indices are no longer than the data along every other axis."""
    a, b = site.dims(data), site.dims(indices)
    enough = site.together("OBL-gather-dims", 1)
    for k, (length, count) in enumerate(zip(a or (), b or (), strict=False)):
        if k == along:
            continue
        if same(length, count):
            site.ctx.discharged += 1
            continue
        enough.require(
            GE(length, count),
            lambda k=k, length=length, count=count: (  # type: ignore[misc]
                f"{show(count)} indices {site.of(1)} are given along axis {k}, which has"
                f" length {show(length)} {site.of(0)}"
            ),
        )
    enough.settle()


@operator(
    "relax.gather_elements",
    calls="""
    x(a, 4), i(a, 2) | i(a, 4), axis=1
    x(10, 4), i(3, 4), axis=0
    """,
)
def gather_elements(site: Site, data: Tensor, indices: Tensor, axis_: int = 0) -> StructInfo:
    """For each index, the element at its own position, except along the axis, where the index
    selects.
    """
    elements(site, indices, 1, "signed")
    ndim = site.rank(data)
    if ndim is None:
        return resized(data, site.dims(indices), site.rank(indices))
    along = axis(site, axis_, ndim)
    rank(site, indices, 1, ndim)
    gathered(site, data, indices, along)
    dims = site.dims(data)
    if dims is not None:
        within(site, 1, dims[along], negative=True)
    return resized(data, site.dims(indices), ndim)


def _depth(site: Site, indices: TensorStructInfo, index: int) -> int | None:
    """How many axes each index tuple of a ``*_nd`` operator names; None where unknown."""
    rank(site, indices, index, 1, -1)
    dims = site.dims(indices)
    return None if dims is None else literal(dims[-1])


@rule("OBL-tuples", "8f986502", "obligation")
def tuples(site: Site, depth: int, ndim: int, indices: int) -> None:
    """Check that the last dimension of the indices does not exceed the number of axes to index."""
    if depth > ndim:
        site.fail(
            "OBL-tuples-depth",
            (
                f"the last dimension {site.of(indices)} is {depth}, but only {ndim} axes {site.of(0)}"
                " can be indexed"
            ),
            indices,
        )


@operator(
    "relax.gather_nd",
    calls="""
    x(a, b, 5), int64(c, 2) | int64(c, 1) | int64(3, c, 3)
    x(a, b, 5), int64(a, 2), batch_dims=1
    """,
)
def gather_nd(site: Site, data: Tensor, indices: Tensor, batch_dims: int = 0) -> StructInfo:
    """The slices that the tuples along the indices' last axis select."""
    elements(site, indices, 1, "int64")
    depth, ndim = _depth(site, indices, 1), site.rank(data)
    batches(site, batch_dims, indices, data)
    if depth is None or ndim is None:
        return ranked(None, data.dtype, data.vdevice)
    tuples(site, depth, ndim - batch_dims, 1)
    places, dims = site.dims(indices), site.dims(data)
    if places is None or dims is None:
        count = site.rank(indices)
        return ranked(
            None if count is None else count - 1 + ndim - batch_dims - depth,
            data.dtype,
            data.vdevice,
        )
    return resized(data, (*places[:-1], *dims[batch_dims + depth :]), None)


@rule("OBL-batches", "edf32452", "obligation")
def batches(site: Site, batch: int, indices: TensorStructInfo, data: TensorStructInfo) -> None:
    """Check that data and indices have the shared batch axes, not counting the last axis of the
    indices.
    """
    ranks = (site.rank(indices), site.rank(data))
    most = min([r - k for r, k in zip(ranks, (1, 0), strict=True) if r is not None], default=batch)
    if not 0 <= batch <= most:
        site.fail("OBL-batches-count", f"batch_dims is {batch}, expected 0 to {max(most, 0)}")


@rule("OBL-scatter", "09b581fd", "obligation")
def scattered(site: Site, wanted: Dims, updates: TensorStructInfo, index: int, what: str) -> None:
    """Check that the updates have the shape of the positions that the indices select."""
    rank(site, updates, index, len(wanted))
    alike = site.together("OBL-scatter-updates", index)
    for k, (a, b) in enumerate(zip(wanted, site.dims(updates) or (), strict=False)):
        alike.equal(
            a,
            b,
            lambda k=k, a=a, b=b: (  # type: ignore[misc]
                f"the updates {site.of(index)} must have the shape {show_shape(wanted)} of {what}: "
                f"{show(b)} against {show(a)} along axis {k}"
            ),
        )
    alike.settle()


@operator(
    "relax.scatter_elements",
    calls="""
    t(8, 4), i(3, 4), t(3, 4), axis=None | 0, reduction=None | 'add' | 'max'
    t(a, 4), i(a, 2), t(a, 2), axis=-1 | 1, reduction=None | 'add'
    """,
)
def scatter_elements(
    site: Site,
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis_: int = 0,
    reduction: str = "update",
) -> StructInfo:
    """The data with each update at the index along the axis."""
    elements(site, indices, 1, "integer")
    agree(site, (data, updates), (0, 2))
    ndim = site.rank(data)
    if ndim is not None:
        along = axis(site, axis_, ndim, data)
        rank(site, indices, 1, ndim)
        dims = site.dims(data)
        if dims is not None:
            within(site, 1, dims[along], negative=True)
    places = site.dims(indices)
    if places is not None:
        scattered(site, places, updates, 2, "the indices")
    return data


@operator(
    "relax.scatter_nd",
    calls="""
    t(a, 4), int64(c, 1), t(c, 4), reduction=None | 'add'
    t(a, 4), int64(c, 2), t(c)
    """,
)
def scatter_nd(
    site: Site,
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    reduction: str = "update",
) -> StructInfo:
    """The data with each update at its tuple of indices."""
    elements(site, indices, 1, "integer")
    agree(site, (data, updates), (0, 2))
    known(site, "dtype", (0, data), (2, updates))
    depth, ndim = _depth(site, indices, 1), site.rank(data)
    if site.dims(indices) is not None and depth is None:
        site.warn(
            "OBL-tuples-literal",
            f"the last dimension of {site.shown(1)} must be a literal: it decides the result's"
            " rank",
            1,
        )
    if depth is not None and ndim is not None:
        tuples(site, depth, ndim, 1)
        places, dims = site.dims(indices), site.dims(data)
        if places is not None and dims is None:
            rank(site, updates, 2, len(places) - 1 + ndim - depth)
        if places is not None and dims is not None:
            scattered(site, (*places[:-1], *dims[depth:]), updates, 2, "indices and data")
    return data


@operator(
    "relax.index_tensor",
    calls="""
    x(a, b, 5), [i(c)]
    x(a, b, 5), [i(c), i(c)]
    x(a, b, 5), [i(2, 1), i(1, 3)]
    """,
)
def index_tensor(site: Site, data: Tensor, indices: Tensors) -> StructInfo:
    """Leading axes replaced by the common shape of the indices into them."""
    ndim, dims = site.rank(data), site.dims(data)
    if indices is None:
        return ranked(None, data.dtype, data.vdevice)
    if not indices:
        site.fail("OBL-rank-operand", "expected at least one tensor of indices", 1)
    for info in indices:
        elements(site, info, 1, "signed")
    if ndim is not None:
        tuples(site, len(indices), ndim, 1)
    places = _common(site, indices)
    if dims is None or places is None:
        ranks = [site.rank(info) for info in indices]
        most = None if None in ranks else max(r or 0 for r in ranks)
        left = None if ndim is None or most is None else most + ndim - len(indices)
        return ranked(left, data.dtype, data.vdevice)
    return resized(data, (*places, *dims[len(indices) :]), None)


def _common(site: Site, indices: tuple[TensorStructInfo, ...]) -> Dims | None:
    shapes = [site.dims(info) for info in indices]
    places: Dims | None = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        if places is None or shape is None:
            return None
        places = broadcast(site, places, shape, 1, 1)
    return places


@operator(
    "relax.index_put",
    calls="""
    x(a, b), [i(c), i(c)], x(c), accumulate=None | True
    x(a), [i(c)], x(c)
    """,
)
def index_put(
    site: Site,
    data: Tensor,
    indices: OneOrTensors,
    values: Tensor,
    accumulate: int = False,
) -> StructInfo:
    """The data with values at positions given by one index for every axis."""
    agree(site, (data, values), (0, 2))
    ndim = site.rank(data)
    if indices is not None:
        for info in indices:
            elements(site, info, 1, "integer")
            rank(site, info, 1, 1, -1)
        if ndim is not None:
            every(site, len(indices), ndim)
        _common(site, indices)
    return data


@rule("OBL-every", "92bf1a95", "obligation")
def every(site: Site, count: int, ndim: int) -> None:
    """Check that there is one tensor of indices for each axis."""
    if count != ndim:
        words = f"{count} tensors of indices are given for rank {ndim} {site.of(0)}"
        site.fail("OBL-every-axis", words, 1)


@operator("relax.one_hot", calls="i(a) | i(a, b), prim(1), prim(0), depth=4, axis=None | 0 | -1")
def one_hot(
    site: Site,
    indices: Tensor,
    on_value: Prim,
    off_value: Prim,
    depth: int,
    axis_: int = -1,
) -> StructInfo:
    """A new axis that has one value at the index and another elsewhere."""
    elements(site, indices, 0, "integer")
    kinds = [scalar_type(site, value, at) for at, value in ((1, on_value), (2, off_value))]
    agree(site, [PrimStructInfo(kind) for kind in kinds], (1, 2))
    _positive(site, depth)
    ndim, dims = site.rank(indices), site.dims(indices)
    if ndim is None:
        return ranked(None, kinds[0], indices.vdevice)
    along = axis(site, axis_, ndim + 1)
    if dims is None:
        return ranked(ndim + 1, kinds[0], indices.vdevice)
    return tensor((*dims[:along], const(depth), *dims[along:]), kinds[0], indices.vdevice)


@rule("OBL-depth", "8607a5e2", "obligation")
def _positive(site: Site, depth: int) -> None:
    """A one-hot encoding has at least one place."""
    if depth < 1:
        site.fail("OBL-depth-positive", f"the depth is {depth}, expected at least 1", 3)
