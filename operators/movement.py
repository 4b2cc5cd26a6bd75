"""The same elements in another shape: reshaping, permuting, inserting and removing axes, joining,
dividing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rlx.grammar.nodes.ast import Call, Expr, ShapeExpr, StructInfo, TensorStructInfo, Var
from rlx.grammar.nodes.tir import EQ, LE, Add, FloorMod, IntImm, Mul, Or, PrimExpr, interned
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.binding import plan
from rlx.operators.context import OperatorContext
from rlx.operators.dim_arithmetic import ONE, ZERO, const, floordiv, literal, mul, product, same
from rlx.operators.evaluation import OperatorFault
from rlx.operators.evaluation_arguments import COPIED, INFERRED
from rlx.operators.exprs import Result, decline
from rlx.operators.late import np, te
from rlx.operators.operator_call import Dims, OperatorCall, Violation, show, show_shape
from rlx.operators.parameters import IntList, Ints, Longs, NewShape, Shape, Tensor
from rlx.operators.registry import computes, defines, lookup, operator
from rlx.operators.rule_helpers import (
    axes,
    axis,
    elements,
    need_known,
    rank,
    ranked,
    resized,
    shaped,
    stated,
    tensor,
)
from rlx.spec.registry import rule


@operator("relax.flatten", shares="perhaps", calls="x(a, b) | x(a) | x() | x(a, 3, b)")
def flatten(site: OperatorCall, x: Tensor) -> StructInfo:
    """All elements along one axis."""
    dims = site.dims(x)
    if dims is not None and len(dims) == 1:
        return x
    return resized(x, None if dims is None else (product(dims),), 1)


@computes("relax.flatten")
def flatten_value(x: Array) -> Array:
    return x.reshape(-1).copy()


@defines("relax.flatten")
def flatten_definition(out: Result, x: te.Tensor) -> te.Tensor:
    return reshaped(out, x)


@operator("relax.nn.batch_flatten", shares="perhaps", calls="x(a, b) | x(a, 3, b)")
def batch_flatten(site: OperatorCall, data: Tensor) -> StructInfo:
    """All axes except the first merged into one."""
    rank(site, data, 0, 2, -1)
    dims = site.dims(data)
    if dims is not None and len(dims) == 2:
        return data
    return resized(data, None if dims is None else (dims[0], product(dims[1:])), 2)


@computes("relax.nn.batch_flatten")
def batch_flatten_value(x: Array) -> Array:
    rest = int(np.prod(x.shape[1:], dtype=np.int64))
    return x.reshape(x.shape[0], rest).copy()


@defines("relax.nn.batch_flatten")
def batch_flatten_definition(out: Result, x: te.Tensor) -> te.Tensor:
    return reshaped(out, x)


@rule("OBL-permute", "obligation")
def permutation(site: OperatorCall, order: Sequence[int], ndim: int) -> list[int]:
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
    broken="""
    OBL-permute-axes: f(a, b), axes=[0]
    OBL-permute-axes: f(a, b), axes=[0, 1, 2]
    """,
)
def permute_dims(site: OperatorCall, x: Tensor, axes_: IntList | None = None) -> StructInfo:
    """The axes in another order; reversed if none is given."""
    ndim = site.rank(x)
    if ndim is None:
        if axes_ is not None:
            axes(site, axes_, len(axes_))
            need_known(site, "rank", (0, x))
        return ranked(None if axes_ is None else len(axes_), x.dtype, x.vdevice)
    found = range(ndim)[::-1] if axes_ is None else permutation(site, axes_, ndim)
    if list(found) == list(range(ndim)):
        return x
    dims = site.dims(x)
    return resized(x, dims and tuple([dims[k] for k in found]), ndim)


@computes("relax.permute_dims")
@rule("E-permute", "computation")
def permute_dims_value(x: Array, order: tuple[int, ...] | None) -> Array:
    found = range(x.ndim)[::-1] if order is None else arrays.axes_of(order, x.ndim)
    if sorted(found) != list(range(x.ndim)):
        raise OperatorFault("E-permute-axes", f"{order} is not a permutation of {x.ndim} axes")
    return np.ascontiguousarray(np.transpose(x, tuple(found))).reshape([x.shape[a] for a in found])


@defines("relax.permute_dims")
def permute_dims_definition(out: Result, x: te.Tensor, axes: Sequence[int] | None) -> te.Tensor:
    order = tuple(range(x.ndim))[::-1] if axes is None else exprs.axes_of(axes, x.ndim)

    def element(*i: te.Scalar) -> te.Scalar:
        place = dict(zip(order, i, strict=True))
        return x(*(place[a] for a in range(x.ndim)))

    return exprs.filled(out, element)


@operator(
    "relax.expand_dims",
    shares="perhaps",
    calls="""
    x(a, b) | x(a) | x(), axis=0 | -1 | [0, 1]
    x(a, b), axis=[1, 3]
    """,
    broken="OBL-axis-repeated: f(a), axis=[0, 0]",
)
def expand_dims(site: OperatorCall, x: Tensor, axis: Ints) -> StructInfo:
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


@computes("relax.expand_dims")
def expand_dims_value(x: Array, given: tuple[int, ...]) -> Array:
    new = arrays.axes_of(given, x.ndim + len(given))
    rest = iter(x.shape)
    return x.reshape([1 if k in new else next(rest) for k in range(x.ndim + len(new))]).copy()


@defines("relax.expand_dims")
def expand_dims_definition(out: Result, x: te.Tensor, axis: Sequence[int]) -> te.Tensor:
    new = exprs.axes_of(axis, out.ndim)
    return exprs.filled(out, lambda *i: x(*(v for k, v in enumerate(i) if k not in new)))


def stays(dim: PrimExpr) -> bool:
    """Whether `squeeze` keeps an axis of this dimension although it is named."""
    return literal(dim) not in (None, 1)


def remaining_axes(call: Call, ctx: OperatorContext) -> tuple[int, ...] | None:
    """The axes that a call of `squeeze` names without those that stay; None if it names no axes,
    or is wrong.
    """
    declared = lookup("relax.squeeze")
    assert declared is not None
    site = OperatorCall(declared, call, ctx)
    try:
        x, named = (read(site) for read in plan(site))
        given: tuple[int, ...] | None = named
        dims = site.dims(x)
        if given is None or dims is None:
            return given
        return tuple(k for k in axes(site, given, len(dims)) if not stays(dims[k]))
    except Violation:
        return None


@rule("OBL-squeeze", "obligation")
def removed(site: OperatorCall, dims: Dims, given: Sequence[int]) -> tuple[PrimExpr, ...]:
    """The dimensions without the named ones of length 1; a literal other than 1 stays."""
    kept = []
    ones = site.together("OBL-squeeze-one", 0)
    for k, dim in enumerate(dims):
        if k not in given or stays(dim):
            kept.append(dim)
        elif literal(dim) is None:
            ones.equal(
                dim,
                ONE,
                lambda dim=dim, k=k: f"axis {k} has length {show(dim)} {site.of(0)}, expected 1",  # type: ignore[misc]
            )
    ones.settle()
    return tuple(kept)


@operator(
    "relax.squeeze",
    shares="perhaps",
    calls="""
    x(a, 1, b), axis=1 | [1] | [-2]
    x(1, 4), axis=None | [0]
    x(1, 1, a), axis=[0, 1]
    x(a, 3, 1), axis=[1, 2]
    """,
    broken="OBL-axis-repeated: f(1, 1, a), axis=[0, -3]",
)
def squeeze(site: OperatorCall, x: Tensor, axis: Ints | None = None) -> StructInfo:
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


@computes("relax.squeeze")
@rule("E-squeeze", "computation")
def squeeze_value(x: Array, given: tuple[int, ...] | None) -> Array:
    """Axes of length 1 removed: the named ones, or all; a named axis of another length is a
    fault, since those that stay are not named any more (:func:`remaining_axes`).
    """
    gone = (
        [k for k, n in enumerate(x.shape) if n == 1]
        if given is None
        else arrays.axes_of(given, x.ndim)
    )
    for k in gone:
        if x.shape[k] != 1:
            raise OperatorFault(
                "E-squeeze-one", f"axis {k} of shape {x.shape} does not have length 1"
            )
    return x.reshape([n for k, n in enumerate(x.shape) if k not in gone]).copy()


@defines("relax.squeeze")
def squeeze_definition(out: Result, x: te.Tensor, axis: Sequence[int] | None) -> te.Tensor:
    """Axes of length 1 removed."""
    gone = (
        [k for k, dim in enumerate(x.shape) if exprs.is_one(dim)]
        if axis is None
        else [k for k in exprs.axes_of(axis, x.ndim) if not stays(x.shape[k].node)]
    )

    def element(*i: te.Scalar) -> te.Scalar:
        rest = iter(i)
        return x(*(exprs.int64(0) if k in gone else next(rest) for k in range(x.ndim)))

    return exprs.filled(out, element)


@operator(
    "relax.flip",
    calls="""
    x(a, b), axis=0 | 1 | -1
    x(a), axis=0
    """,
)
def flip(site: OperatorCall, data: Tensor, axis_: int) -> StructInfo:
    """The elements in reverse order along an axis."""
    ndim = site.rank(data)
    if ndim is not None:
        axis(site, axis_, ndim, data)
    return data


@computes("relax.flip")
def flip_value(x: Array, axis: int) -> Array:
    """The elements in reverse along an axis."""
    return np.flip(x, arrays.axis_of(axis, x.ndim)).copy()


@defines("relax.flip")
def flip_definition(out: Result, x: te.Tensor, axis: int) -> te.Tensor:
    along = exprs.axis_of(axis, x.ndim)

    def element(*i: te.Scalar) -> te.Scalar:
        return x(*(x.shape[k] - 1 - v if k == along else v for k, v in enumerate(i)))

    return exprs.filled(out, element)


@operator(
    "relax.reverse_sequence",
    calls="""
    x(a, b), j(a), seq_axis=1, batch_axis=0
    x(a, b), j(b), seq_axis=0, batch_axis=1
    """,
    broken="""
    OBL-sequences-lengths: f(3, a), int64(4), seq_axis=1, batch_axis=0
    OBL-sequences-longest: f(1, 3), const([4], 'int64'), seq_axis=1, batch_axis=0
    """,
)
def reverse_sequence(
    site: OperatorCall, data: Tensor, seq_lengths: Tensor, seq_axis: int = 1, batch_axis: int = 0
) -> StructInfo:
    """The first elements of each sequence reversed, up to its length."""
    elements(site, seq_lengths, 1, "int32 int64")
    rank(site, seq_lengths, 1, 1)
    ndim = site.rank(data)
    if ndim is not None:
        along, of_batch = axes(site, (seq_axis, batch_axis), ndim, data)
        sequences(site, data, seq_lengths, along, of_batch)
    return data


@computes("relax.reverse_sequence")
def reverse_sequence_value(x: Array, lengths: Array, seq_axis: int, batch_axis: int) -> Array:
    along, batch = arrays.axis_of(seq_axis, x.ndim), arrays.axis_of(batch_axis, x.ndim)
    if lengths.dtype.kind not in "iu":
        raise arrays.undefined("a length in reverse_sequence", lengths)
    result = x.copy()
    for row, length in enumerate(lengths.reshape(-1)[: x.shape[batch]]):
        count = int(length)
        if count > x.shape[along]:
            raise OperatorFault(
                "E-index-range",
                f"a sequence has length {count}, but the axis has length {x.shape[along]}",
            )
        if count > 1:
            place: list[slice | int] = [slice(None)] * x.ndim
            place[batch], place[along] = slice(row, row + 1), slice(0, count)
            result[tuple(place)] = np.flip(x[tuple(place)], along)
    return result


@defines("relax.reverse_sequence")
def reverse_sequence_definition(
    out: Result, x: te.Tensor, lengths: te.Tensor, seq_axis: int, batch_axis: int
) -> te.Tensor:
    along, batch = exprs.axis_of(seq_axis, x.ndim), exprs.axis_of(batch_axis, x.ndim)

    def element(*i: te.Scalar) -> te.Scalar:
        count = te.cast("int64", lengths(i[batch]))
        turned = te.if_then_else(i[along] < count, count - 1 - i[along], i[along])
        return x(*(turned if k == along else v for k, v in enumerate(i)))

    return exprs.filled(out, element)


@rule("OBL-sequences", "obligation")
def sequences(
    site: OperatorCall, data: TensorStructInfo, counts: TensorStructInfo, along: int, batch: int
) -> None:
    """Check that there is one length for each sequence, and none is longer than the axis."""
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
    longest = max(map(int, stated(site, site.argument(1))), default=0)
    if dims is not None and longest > 0:
        site.require_of_value(
            "OBL-sequences-longest",
            (LE(const(longest), dims[along]),),
            lambda: (
                f"a sequence has length {longest}, but axis {along} has length {show(dims[along])}"
                f" {site.of(0)}"
            ),
            1,
        )


@rule("OBL-repeat", "obligation")
def counts(site: OperatorCall, given: Sequence[int]) -> None:
    """Check that no number of repetitions is negative."""
    if any(count < 0 for count in given):
        site.fail("OBL-repeat-count", f"the repetitions {list(given)} must not be negative")


@operator(
    "relax.tile",
    calls="""
    x(a, b), repeats=[2] | [1, 2] | [2, 1, 3]
    x(a), repeats=[2]
    """,
    broken="OBL-repeat-count: f(a), repeats=[-1]",
)
def tile(site: OperatorCall, data: Tensor, repeats: Longs) -> StructInfo:
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


@computes("relax.tile")
def tile_value(x: Array, repeats: tuple[int, ...]) -> Array:
    _counts(repeats)
    return np.tile(x, repeats)


@defines("relax.tile")
def tile_definition(out: Result, x: te.Tensor, repeats: Sequence[int]) -> te.Tensor:
    lead = out.ndim - x.ndim

    def element(*i: te.Scalar) -> te.Scalar:
        return x(*(v % dim for v, dim in zip(i[lead:], x.shape, strict=True)))

    return exprs.filled(out, element)


@operator(
    "relax.repeat",
    calls="x(a, b), repeats=2 | 1, axis=None | 0 | -1",
    broken="OBL-repeat-count: f(a, b), repeats=-2, axis=0",
)
def repeat(site: OperatorCall, data: Tensor, repeats: int, axis_: int | None = None) -> StructInfo:
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


@computes("relax.repeat")
def repeat_value(x: Array, times: int, axis: int | None) -> Array:
    _counts((times,))
    return np.repeat(x, times, None if axis is None else arrays.axis_of(axis, x.ndim))


@defines("relax.repeat")
def repeat_definition(out: Result, x: te.Tensor, times: int, axis: int | None) -> te.Tensor:
    if times == 0:
        return exprs.filled(out, lambda *i: te.const(0, out.dtype))
    if axis is None:
        return exprs.filled(out, lambda i: x(*unflat(x.shape, i // times)))
    along = exprs.axis_of(axis, x.ndim)
    return exprs.filled(
        out, lambda *i: x(*(v // exprs.int64(times) if k == along else v for k, v in enumerate(i)))
    )


@operator(
    "relax.nn.pixel_shuffle",
    calls="""
    f(a, 8, 3, b), upscale_factor=2
    f(a, 4, b, c), upscale_factor=2
    """,
    broken="""
    OBL-shuffle-factor: f(a, 4, 2, 2), upscale_factor=0
    OBL-shuffle-channels: f(a, 6, 2, 2), upscale_factor=2
    """,
)
def pixel_shuffle(site: OperatorCall, data: Tensor, upscale_factor: int) -> StructInfo:
    """Groups of channels moved to the two spatial axes."""
    ndim, dims = rank(site, data, 0, 3, -1), site.dims(data)
    if upscale_factor < 1:
        site.fail("OBL-shuffle-factor", f"upscale_factor is {upscale_factor}, expected at least 1")
    need_known(site, "rank", (0, data))
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


@computes("relax.nn.pixel_shuffle")
def pixel_shuffle_value(x: Array, factor: int) -> Array:
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


@defines("relax.nn.pixel_shuffle")
def pixel_shuffle_definition(out: Result, x: te.Tensor, factor: int) -> te.Tensor:
    each = exprs.int64(factor)

    def element(*i: te.Scalar) -> te.Scalar:
        *lead, channel, row, column = i
        at = (channel * each + row % each) * each + column % each
        return x(*lead, at, row // each, column // each)

    return exprs.filled(out, element)


@rule("OBL-shuffle", "obligation")
def shuffled(site: OperatorCall, channels: PrimExpr, factor: int) -> None:
    """Check that the factor is positive and its square divides the number of channels."""
    site.require(
        "OBL-shuffle-channels",
        EQ(FloorMod(channels, const(factor * factor)), ZERO),
        lambda: f"{show(channels)} channels {site.of(0)} are not a multiple of {factor}²",
        0,
    )


@operator(
    "relax.broadcast_to",
    calls="""
    x(a) | x(1, a) | x(b, 1) | x(), shape(b, a)
    x(a, 1), shape(3, a, b)
    """,
    broken="""
    OBL-expand-rank: f(a, 3), shape(3)
    OBL-expand-dims: f(3), shape(a, 4)
    """,
)
def broadcast_to(site: OperatorCall, x: Tensor, shape: Shape) -> StructInfo:
    """The tensor repeated along axes of length 1 and new leading axes."""
    result, dims = in_shape(site, x, shape), site.dims(x)
    if isinstance(shape, ShapeExpr):
        expands(site, dims, shape.values, 0, result, site.rank(x))
    return result


@computes("relax.broadcast_to")
def broadcast_to_value(x: Array, shape: tuple[int, ...]) -> Array:
    wanted = arrays.sizes(shape)
    if arrays.broadcast(x, np.broadcast_to(np.int8(0), wanted)) != wanted:
        raise OperatorFault("E-broadcast-dims", f"{x.shape} does not broadcast to {wanted}")
    return np.broadcast_to(x, wanted).copy()


@defines("relax.broadcast_to")
def broadcast_to_definition(out: Result, x: te.Tensor, shape: Any) -> te.Tensor:
    return exprs.filled(out, lambda *i: exprs.broadcast(x, i, out.shape))


@rule("OBL-expand", "obligation")
def expands(
    site: OperatorCall,
    dims: Dims | None,
    wanted: Dims,
    index: int,
    best: Tensor,
    ndim: int | None = None,
) -> None:
    """Check that a shape (or only its rank) broadcasts to another: aligned at the end, each
    dimension is equal or 1.
    """
    ndim = ndim if dims is None else len(dims)
    if ndim is not None and ndim > len(wanted):
        site.fail(
            "OBL-expand-rank",
            f"rank {ndim} {site.of(index)} does not broadcast to rank {len(wanted)}",
            index,
            best,
        )
    if dims is None:
        return
    fits = site.together("OBL-expand-dims", index)
    for dim, aim in zip(dims[::-1], wanted[::-1], strict=False):
        if same(dim, aim) or literal(dim) == 1:
            site.ctx.discharged += 1
            continue
        one = EQ(dim, ONE)
        fits.require(
            EQ(dim, aim) if literal(dim) is not None else Or(EQ(dim, aim), one),
            lambda dim=dim, aim=aim: (  # type: ignore[misc]
                f"{show_shape(dims)} {site.of(index)} does not broadcast to "
                f"{show_shape(wanted)}: {show(dim)} against {show(aim)}"
            ),
        )
    fits.settle()


@operator(
    "relax.collapse_sum_to",
    calls="t(a, b), shape(b) | shape(1, b) | shape(a, 1) | shape(a, b)",
    broken="OBL-expand-dims: f(a, 4), shape(3)",
)
def collapse_sum_to(site: OperatorCall, data: Tensor, shape: Shape) -> StructInfo:
    """The reverse of a broadcast: sums over the axes that it would repeat."""
    result, dims = in_shape(site, data, shape), site.dims(data)
    if isinstance(shape, ShapeExpr) and dims is not None:
        expands(site, shape.values, dims, 0, result)
    return result


@computes("relax.collapse_sum_to")
def collapse_sum_to_value(x: Array, shape: tuple[int, ...]) -> Array:
    lead = x.ndim - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, x.shape[lead:], strict=True)):
        raise OperatorFault("E-broadcast-dims", f"{shape} does not broadcast to {x.shape}")
    w = arrays.wide(x)
    over = tuple(range(lead)) + tuple(
        k + lead for k, n in enumerate(shape) if n == 1 and x.shape[k + lead] != 1
    )
    total = np.sum(w, axis=over, keepdims=True, dtype=w.dtype) if over else w.copy()
    return arrays.back(total.reshape(shape), x.dtype)


@defines("relax.collapse_sum_to")
def collapse_sum_to_definition(out: Result, x: te.Tensor, shape: Any) -> te.Tensor:
    lead = x.ndim - out.ndim
    over = [*range(lead)]
    for k, dim in enumerate(out.shape):
        if not dim.written_as(x.shape[k + lead]):
            if not exprs.is_one(dim):
                decline("the axes that it sums over are known only at run time")
            over.append(k + lead)
    if over:
        exprs.need_numbers(x.dtype)
    if not over:
        return exprs.filled(out, x)
    return exprs.converted(out, exprs.summed(x, over, "T_sum", dropped=range(lead)))


@operator("relax.collapse_sum_like", calls="t(a, b), t(b) | t(1, b) | t(a, 1) | t(a, b)")
def collapse_sum_like(site: OperatorCall, data: Tensor, collapse_target: Tensor) -> StructInfo:
    """The reverse of a broadcast, to the shape of another tensor."""
    dims, wanted = site.dims(data), site.dims(collapse_target)
    result = TensorStructInfo(collapse_target.shape, data.dtype, collapse_target.ndim, data.vdevice)
    if dims is not None and wanted is not None:
        expands(site, wanted, dims, 1, result)
    return result


@computes("relax.collapse_sum_like")
def collapse_sum_like_value(x: Array, aim: Array) -> Array:
    return collapse_sum_to_value(x, aim.shape)


@defines("relax.collapse_sum_like")
def collapse_sum_like_definition(out: Result, x: te.Tensor, aim: te.Tensor) -> te.Tensor:
    return collapse_sum_to_definition(out, x, None)


Factors = tuple[int, list[PrimExpr]]


def _remaining(a: Dims, b: Dims) -> tuple[Factors, Factors]:
    """The factors of two products without those that both have, also as sums in another order."""
    left, right = _factors(a), _factors(b)
    kept = list(right[1])
    rest = []
    for dim in left[1]:
        addends = _addends(dim)
        same = next((k for k, other in enumerate(kept) if _addends(other) == addends), None)
        if same is None:
            rest.append(dim)
        else:
            kept.pop(same)
    return (left[0], rest), (right[0], kept)


def _factors(dims: Dims) -> Factors:
    whole, symbolic = 1, []
    for dim in dims:
        if type(dim) is IntImm:
            whole *= dim.value
            continue
        parts = (dim.a, dim.b) if type(dim) is Mul else ()
        scale = next((each for each in map(literal, (dim, *parts)) if each is not None), None)
        whole *= 1 if scale is None else scale
        if scale is None:
            symbolic.append(dim)
        else:
            symbolic += [part for part in parts if literal(part) is None]
    return whole, symbolic


def _addends(dim: PrimExpr) -> list[int]:
    """The terms of a sum, in a fixed order."""
    found, stack = [], [dim]
    while stack:
        part = stack.pop()
        if type(part) is Add:
            stack += (part.a, part.b)
        else:
            found.append(id(interned(part)))
    return sorted(found)


@rule("OBL-reshape", "obligation")
def target(site: OperatorCall, x: TensorStructInfo, wanted: Dims, best: Tensor) -> Dims:
    """The target shape of a reshape: -1 is inferred, 0 is copied, and the number of elements is
    kept.

    If a variable holds the shape, 0 and -1 have no special meaning.
    """
    old = site.dims(x)
    written = not isinstance(site.argument(1), Var)
    holes = [k for k, dim in enumerate(wanted) if literal(dim) == -1 and written]
    if len(holes) > 1:
        shown = show_shape(wanted)
        site.fail("OBL-reshape-infer", f"more than one dimension of {shown} is -1", 1, best)
    _no_less(site, wanted, -1 if written else 0, best)
    copies = written and 0 in map(literal, wanted)
    if old is None:
        if holes or copies:
            what = "-1 cannot be inferred" if holes else "a length for 0 cannot be copied"
            words = f"{what}, because the shape of {site.shown(0)} is unknown"
            site.warn("OBL-reshape-infer", words, 1)
            site.stop(best)
        return wanted
    if copies:
        wanted = tuple(
            old[k] if literal(dim) == 0 and k < len(old) else dim for k, dim in enumerate(wanted)
        )
    if holes:
        return _infer(site, old, wanted, holes[0], best)
    (count, left), (wanted_count, right) = _remaining(old, wanted)
    if not left and not right and count == wanted_count:
        site.ctx.discharged += 1
        return wanted
    site.require(
        "OBL-reshape-count",
        EQ(product((*left, const(count))), product((*right, const(wanted_count)))),
        lambda: (
            f"the number of elements changes: {show(product(old))} {site.of(0)}, "
            f"{show(product(wanted))} in the new shape {show_shape(wanted)}"
            + (", where each 0 copies the length of the axis at its place" if copies else "")
        ),
        1,
    )
    return wanted


def _no_less(site: OperatorCall, wanted: Dims, least: int, best: Tensor) -> None:
    """Check that no dimension is less than the -1 that is inferred, even where the product is right
    or unknown.
    """
    if min([literal(dim) or 0 for dim in wanted], default=0) < least:
        shown = show_shape(wanted)
        site.fail("OBL-reshape-count", f"the new shape {shown} has a negative dimension", 1, best)


def _infer(site: OperatorCall, old: Dims, wanted: Dims, hole: int, best: Tensor) -> Dims:
    others = wanted[:hole] + wanted[hole + 1 :]
    (count, left), (other_count, right) = _remaining(old, others)
    if other_count == 0:
        # Next to a length of 0 any number fits: TVM takes 0, and no element is lost.
        if all(literal(dim) != 0 for dim in old):
            site.fail(
                "OBL-reshape-infer", "-1 cannot be inferred next to a dimension of 0", 1, best
            )
        return (*wanted[:hole], ZERO, *wanted[hole + 1 :])
    if not right and count % other_count == 0:
        site.ctx.discharged += 1
        size = product((*left, const(count // other_count)))
    else:
        whole, part = product((*left, const(count))), product((*right, const(other_count)))
        site.require(
            "OBL-reshape-divides",
            EQ(FloorMod(whole, part), ZERO),
            lambda: (
                f"the {show(product(old))} elements {site.of(0)} are not a multiple of "
                f"{show(product(others))}, the other dimensions of the new shape"
            ),
            1,
        )
        size = floordiv(whole, part)
    return (*wanted[:hole], size, *wanted[hole + 1 :])


@operator(
    "relax.reshape",
    shares="perhaps",
    calls="""
    x(a, 4), shape(a * 4) | shape(a, 2, 2) | shape(4, a) | shape(2, a, 2)
    x(a, b), shape(a * b) | shape(b, a) | shape(a, 1, b)
    x(a, 4), shape(a, -1) | shape(-1, 4) | shape(-1)
    x(a + b, 4), shape(b + a, -1) | shape((a + b) * 2, -1)
    x(6), shape(2, 3) | shape(3, -1)
    x(a, 3, b), shape(a * 3, b) | shape(a, b * 3) | shape(0, 3, -1)
    """,
    broken="""
    OBL-reshape-count: f(a, 4), shape(a, 5)
    OBL-reshape-count: f(2, 3), shape(7)
    OBL-reshape-infer: f(a, 4), shape(-1, -1)
    OBL-reshape-divides: f(7), shape(3, -1)
    OBL-reshape-divides: f(2, 5), shape(-1, 4)
    D14-argument: f(a, b), f(a)
    """,
)
def reshape(site: OperatorCall, x: Tensor, shape: NewShape) -> StructInfo:
    """The elements in row-major order in another shape."""
    if not isinstance(shape, ShapeExpr):
        return in_shape(site, x, shape)
    wanted = shape.values
    dims = target(site, x, wanted, ranked(len(wanted), x.dtype, x.vdevice))
    if dims is wanted:
        return TensorStructInfo(shape, x.dtype, len(dims), x.vdevice)
    return tensor(dims, x.dtype, x.vdevice)


@computes("relax.reshape")
@rule("E-reshape", "computation")
def reshape_value(x: Array, shape: tuple[int | str, ...]) -> Array:
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
        if not (whole or others):
            whole, others = _without(x.shape, copied, wanted)
        if not others or whole % others:
            raise OperatorFault(
                "E-reshape-infer", f"{x.size} elements cannot be reshaped to {_written(shape)}"
            )
        inferred = whole // others
        sizes = [n if isinstance(n, int) else inferred for n in wanted]
    if math.prod(sizes) != x.size:
        raise OperatorFault(
            "E-reshape-count",
            f"the {x.size} elements of shape {x.shape} cannot be reshaped to {tuple(sizes)}",
        )
    return x.reshape(sizes).copy()


def _without(dims: Sequence[int], copied: set[int], wanted: Sequence[int | str]) -> tuple[int, int]:
    """The products from which -1 is inferred beside a dimension of 0: of the lengths that do not
    stand on both sides, as ``n*4 // n`` is 4 for all n. An empty axis that is added divides by 1.
    """
    old = [n for k, n in enumerate(dims) if k not in copied]
    new = [n for k, n in enumerate(wanted) if k not in copied and isinstance(n, int)]
    for n in list(new):
        if n in old:
            old.remove(n)
            new.remove(n)
    return math.prod(old), math.prod(new) or 1


def _written(shape: tuple[int | str, ...]) -> str:
    numbers: dict[int | str, int | str] = {COPIED: 0, INFERRED: -1}
    return f"({', '.join(str(numbers.get(n, n)) for n in shape)})"


@defines("relax.reshape")
def reshape_definition(out: Result, x: te.Tensor, shape: Any) -> te.Tensor:
    return reshaped(out, x)


def in_shape(site: OperatorCall, x: TensorStructInfo, shape: Expr) -> Tensor:
    """A tensor like ``x`` in a shape that an expression gives."""
    return shaped(site, shape, x.dtype, x.vdevice)


# ---------------------------------------------------------------- values


def _counts(counts: tuple[int, ...]) -> None:
    if any(count < 0 for count in counts):
        raise OperatorFault("E-lengths-negative", f"the number of repetitions is {min(counts)}")


# ---------------------------------------------------------------- definitions


def flat_index(shape: Sequence[te.Scalar], indices: Sequence[te.Scalar]) -> te.Scalar:
    """The flat index of an element in row-major order."""
    found = exprs.int64(0)
    for dim, index in zip(shape, indices, strict=True):
        found = found * dim + index
    return found


def unflat(shape: Sequence[te.Scalar], place: te.Scalar) -> list[te.Scalar]:
    """The indices of a flat index in row-major order."""
    found: list[te.Scalar] = []
    for k in range(len(shape)):
        behind = exprs.product(shape[k + 1 :])
        index = place // behind
        found.append(index if k == 0 else index % shape[k])
    return found


def reshaped(out: Result, x: te.Tensor) -> te.Tensor:
    """The elements in row-major order in the result's shape."""
    if out.ndim == x.ndim and all(a.written_as(b) for a, b in zip(out.shape, x.shape, strict=True)):
        return exprs.filled(out, x)
    return exprs.filled(out, lambda *i: x(*_source(out.shape, x.shape, i)))


def _source(
    shape: Sequence[te.Scalar], of: Sequence[te.Scalar], indices: Sequence[te.Scalar]
) -> list[te.Scalar]:
    """The indices in one shape of the element at indices in another; leading axes that are the same
    stay.
    """
    lead = 0
    while lead < min(len(shape), len(of)) and shape[lead].written_as(of[lead]):
        lead += 1
    place = flat_index(shape[lead:], indices[lead:])
    return [*indices[:lead], *unflat(of[lead:], place)]
