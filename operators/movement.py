"""The same elements in another shape: reshaping, permuting, inserting and removing axes, joining,
dividing.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.operators.dim_arithmetic import (
    ONE,
    ZERO,
    const,
    floordiv,
    literal,
    mul,
    product,
)
from rlx.operators.parameters import IntList, Ints, Longs, Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import (
    axes,
    axis,
    elements,
    known,
    rank,
    ranked,
    resized,
)
from rlx.operators.site import Dims, Site, show
from rlx.spec.registry import rule


@operator("relax.flatten", calls="x(a, b) | x(a) | x() | x(a, 3, b)")
def flatten(site: Site, x: Tensor) -> StructInfo:
    """All elements along one axis."""
    dims = site.dims(x)
    if dims is not None and len(dims) == 1:
        return x
    return resized(x, None if dims is None else (product(dims),), 1)


@operator("relax.nn.batch_flatten", calls="x(a, b) | x(a, 3, b)")
def batch_flatten(site: Site, data: Tensor) -> StructInfo:
    """All axes except the first merged into one."""
    rank(site, data, 0, 2, -1)
    dims = site.dims(data)
    if dims is not None and len(dims) == 2:
        return data
    return resized(data, None if dims is None else (dims[0], product(dims[1:])), 2)


@rule("OBL-permute", "b13bcc97", "obligation")
def permutation(site: Site, order: Sequence[int], ndim: int) -> list[int]:
    """Check that a permutation names each axis once."""
    if len(order) != ndim:
        site.fail(
            "OBL-permute-axes",
            f"{len(order)} axes {list(order)} are given for rank {ndim} {site.of(0)}",
        )
    return axes(site, order, ndim)


@operator(
    "relax.permute_dims",
    calls="""
    x(a, b) | x(a, 3, b), axes=None
    x(a, b), axes=[1, 0]
    x(a, 3, b), axes=[0, 2, 1] | [-1, 0, 1]
    """,
)
def permute_dims(site: Site, x: Tensor, axes_: IntList | None = None) -> StructInfo:
    """The axes in another order; reversed if none is given."""
    ndim = site.rank(x)
    if ndim is None:
        if axes_ is not None:
            axes(site, axes_, len(axes_))
            known(site, "rank", (0, x))
        return ranked(None if axes_ is None else len(axes_), x.dtype, x.vdevice)
    found = range(ndim)[::-1] if axes_ is None else permutation(site, axes_, ndim)
    if list(found) == list(range(ndim)):
        return x
    dims = site.dims(x)
    return resized(x, dims and tuple([dims[k] for k in found]), ndim)


@operator(
    "relax.expand_dims",
    calls="""
    x(a, b) | x(a) | x(), axis=0 | -1 | [0, 1]
    x(a, b), axis=[1, 3]
    """,
)
def expand_dims(site: Site, x: Tensor, axis: Ints) -> StructInfo:
    """Axes of length 1 inserted."""
    ndim = site.rank(x)
    if not axis:
        return x
    if ndim is None:
        return ranked(None, x.dtype, x.vdevice)
    new = axes(site, axis, ndim + len(axis))
    dims = site.dims(x)
    if dims is None:
        return ranked(ndim + len(axis), x.dtype, x.vdevice)
    rest = iter(dims)
    return resized(x, tuple(ONE if k in new else next(rest) for k in range(ndim + len(new))), None)


@rule("OBL-squeeze", "31431cee", "obligation")
def removed(site: Site, dims: Dims, given: Sequence[int]) -> tuple[PrimExpr, ...]:
    """The dimensions without the named ones of length 1; a literal other than 1 stays."""
    kept = []
    ones = site.together("OBL-squeeze-one", 0)
    for k, dim in enumerate(dims):
        value = literal(dim)
        if k not in given or value not in (None, 1):
            kept.append(dim)
        elif value is None:
            ones.equal(
                dim,
                ONE,
                lambda dim=dim, k=k: f"axis {k} has length {show(dim)} {site.of(0)}, expected 1",  # type: ignore[misc]
            )
    ones.settle()
    return tuple(kept)


@operator(
    "relax.squeeze",
    calls="""
    x(a, 1, b), axis=1 | [1] | [-2]
    x(1, 4), axis=None | [0]
    x(1, 1, a), axis=[0, 1]
    """,
)
def squeeze(site: Site, x: Tensor, axis: Ints | None = None) -> StructInfo:
    """Axes of length 1 removed: the named ones, or all."""
    ndim, dims = site.rank(x), site.dims(x)
    if axis is None:
        if dims is None or any(literal(dim) is None for dim in dims):
            return ranked(None, x.dtype, x.vdevice)
        return resized(x, tuple(dim for dim in dims if literal(dim) != 1), None)
    if not axis:
        return x
    if ndim is None:
        return ranked(None, x.dtype, x.vdevice)
    gone = axes(site, axis, ndim)
    if dims is None:
        return ranked(ndim - len(gone), x.dtype, x.vdevice)
    return resized(x, removed(site, dims, gone), None)


@operator(
    "relax.flip",
    calls="""
    x(a, b), axis=0 | 1 | -1
    x(a), axis=0
    """,
)
def flip(site: Site, data: Tensor, axis_: int) -> StructInfo:
    """The elements in reverse order along an axis."""
    ndim = site.rank(data)
    if ndim is not None:
        axis(site, axis_, ndim, data)
    return data


@operator(
    "relax.reverse_sequence",
    calls="""
    x(a, b), j(a), seq_axis=1, batch_axis=0
    x(a, b), j(b), seq_axis=0, batch_axis=1
    """,
)
def reverse_sequence(
    site: Site, data: Tensor, seq_lengths: Tensor, seq_axis: int = 1, batch_axis: int = 0
) -> StructInfo:
    """The first elements of each sequence reversed, up to its length."""
    elements(site, seq_lengths, 1, "int32 int64")
    rank(site, seq_lengths, 1, 1)
    ndim = site.rank(data)
    if ndim is not None:
        _, of_batch = axes(site, (seq_axis, batch_axis), ndim, data)
        sequences(site, data, seq_lengths, of_batch)
    return data


@rule("OBL-sequences", "41366daf", "obligation")
def sequences(site: Site, data: TensorStructInfo, counts: TensorStructInfo, batch: int) -> None:
    """Check that there is one length for each sequence."""
    dims, found = site.dims(data), site.dims(counts)
    if dims is not None and found is not None:
        site.equal(
            "OBL-sequences-lengths",
            dims[batch],
            found[0],
            lambda: (
                f"{show(found[0])} lengths are given {site.of(1)} for {show(dims[batch])} sequences"
                f" {site.of(0)}"
            ),
            1,
        )


@rule("OBL-repeat", "f825aa86", "obligation")
def counts(site: Site, given: Sequence[int]) -> None:
    """Check that no number of repetitions is negative."""
    if any(count < 0 for count in given):
        site.fail("OBL-repeat-count", f"the repetitions {list(given)} must not be negative")


@operator(
    "relax.tile",
    calls="""
    x(a, b), repeats=[2] | [1, 2] | [2, 1, 3]
    x(a), repeats=[2]
    """,
)
def tile(site: Site, data: Tensor, repeats: Longs) -> StructInfo:
    """The tensor repeated along its axes, and along new leading ones."""
    counts(site, repeats)
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is None:
        return ranked(None, data.dtype, data.vdevice)
    size = max(ndim, len(repeats))
    if dims is None:
        return ranked(size, data.dtype, data.vdevice)
    dims = (ONE,) * (size - ndim) + dims
    times = (1,) * (size - len(repeats)) + repeats
    return resized(data, tuple(mul(d, const(t)) for d, t in zip(dims, times, strict=True)), size)


@operator("relax.repeat", calls="x(a, b), repeats=2 | 1, axis=None | 0 | -1")
def repeat(site: Site, data: Tensor, repeats: int, axis_: int | None = None) -> StructInfo:
    """Each element repeated along an axis, or in the flattened tensor if no axis is given."""
    counts(site, (repeats,))
    ndim, dims = site.rank(data), site.dims(data)
    along = axis_ if axis_ is None or ndim is None else axis(site, axis_, ndim, data)
    if dims is None:
        return ranked(1 if axis_ is None else ndim, data.dtype, data.vdevice)
    if along is None:
        return resized(data, (mul(product(dims), const(repeats)),), 1)
    length = mul(dims[along], const(repeats))
    return resized(data, (*dims[:along], length, *dims[along + 1 :]), ndim)


@operator(
    "relax.nn.pixel_shuffle",
    calls="""
    f(a, 8, 3, b), upscale_factor=2
    f(a, 4, b, c), upscale_factor=2
    """,
)
def pixel_shuffle(site: Site, data: Tensor, upscale_factor: int) -> StructInfo:
    """Groups of channels moved to the two spatial axes."""
    ndim, dims = rank(site, data, 0, 3, -1), site.dims(data)
    if upscale_factor < 1:
        site.fail("OBL-shuffle-factor", f"upscale_factor is {upscale_factor}, expected at least 1")
    known(site, "rank", (0, data))
    if dims is None:
        return ranked(ndim, data.dtype, data.vdevice)
    *lead, channels, height, width = dims
    shuffled(site, channels, upscale_factor)
    size = const(upscale_factor)
    grown = (
        floordiv(channels, const(upscale_factor * upscale_factor)),
        mul(height, size),
        mul(width, size),
    )
    return resized(data, (*lead, *grown), ndim)


@rule("OBL-shuffle", "46d81ac9", "obligation")
def shuffled(site: Site, channels: PrimExpr, factor: int) -> None:
    """Check that the factor is positive and its square divides the number of channels."""
    site.require(
        "OBL-shuffle-channels",
        EQ(FloorMod(channels, const(factor * factor)), ZERO),
        lambda: f"{show(channels)} channels {site.of(0)} are not a multiple of {factor}²",
        0,
    )
