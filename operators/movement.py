"""The same elements in another shape: reshaping, permuting, inserting and removing axes, joining, dividing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rlx.grammar.ast import Expr, ShapeExpr, StructInfo, TensorStructInfo
from rlx.grammar.dtype import VOID
from rlx.grammar.tir import EQ, GE, FloorMod, Or, PrimExpr
from rlx.operators.declare import operator
from rlx.operators.dims import (
    ONE,
    ZERO,
    ceildiv,
    const,
    exact,
    floordiv,
    literal,
    minimum,
    mul,
    product,
    same,
    sub,
    total,
)
from rlx.operators.kinds import Tensors
from rlx.operators.messages import show, show_shape
from rlx.operators.site import OBJECT, Dims, Site, Together
from rlx.operators.tensors import (
    Tensor,
    agree,
    axes,
    axis,
    fields,
    place,
    rank,
    ranked,
    resized,
    tensor,
)
from rlx.spec.registry import rule

Factors = tuple[int, list[PrimExpr]]


def _remaining(a: Dims, b: Dims) -> tuple[Factors, Factors]:
    """The factors of two products without those that both have."""
    left, right = _factors(a), _factors(b)
    common = [dim for dim in left[1] if dim in right[1]]
    for dim in common:
        if dim in right[1]:
            left[1].remove(dim)
            right[1].remove(dim)
    return left, right


def _factors(dims: Dims) -> Factors:
    whole, symbolic = 1, []
    for dim in dims:
        value = literal(dim)
        if value is None:
            symbolic.append(dim)
        else:
            whole *= value
    return whole, symbolic


@rule("OBL-reshape", "061c7d54")
def target(site: Site, x: TensorStructInfo, wanted: Dims, best: Tensor) -> Dims:
    """The shape that a reshape asks for: -1 inferred, 0 copied, the number of elements kept."""
    old = site.dims(x)
    holes = [k for k, dim in enumerate(wanted) if literal(dim) == -1]
    if len(holes) > 1:
        shown = show_shape(wanted)
        site.fail("OBL-reshape-infer", f"more than one dimension of {shown} is -1", 1, best)
    if old is None:
        if holes:
            site.fail(
                "OBL-reshape-infer",
                f"-1 cannot be inferred, because the shape of {site.shown(0)} is unknown",
                1,
                best,
            )
        return wanted
    if any(literal(dim) == 0 for dim in wanted):
        wanted = tuple(_copied(old, k, dim) for k, dim in enumerate(wanted))
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
        ),
        1,
    )
    return wanted


def _copied(old: Dims, k: int, dim: PrimExpr) -> PrimExpr:
    return old[k] if literal(dim) == 0 and k < len(old) else dim


def _infer(site: Site, old: Dims, wanted: Dims, hole: int, best: Tensor) -> Dims:
    others = wanted[:hole] + wanted[hole + 1 :]
    (count, left), (other_count, right) = _remaining(old, others)
    if other_count == 0:
        site.fail("OBL-reshape-infer", "-1 cannot be inferred next to a dimension of 0", 1, best)
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


@operator("relax.reshape", "x, shape: shape")
def reshape(site: Site, x: TensorStructInfo, shape: Expr) -> StructInfo:
    """The elements in row-major order in another shape."""
    if not isinstance(shape, ShapeExpr):
        return in_shape(site, x, shape)
    wanted = shape.values
    dims = target(site, x, wanted, ranked(len(wanted), x.dtype, x.vdevice))
    if dims is wanted:
        return TensorStructInfo(shape, x.dtype, len(dims), x.vdevice)
    return tensor(dims, x.dtype, x.vdevice)


def in_shape(site: Site, x: TensorStructInfo, shape: Expr) -> Tensor:
    """A tensor like ``x`` in a shape that an expression gives."""
    if isinstance(shape, ShapeExpr):
        return TensorStructInfo(shape, x.dtype, len(shape.values), x.vdevice)
    info = site.ctx.info(shape)
    ndim: int = getattr(info, "ndim", -1)
    return TensorStructInfo(shape, x.dtype, ndim, x.vdevice)


@operator("relax.flatten", "x")
def flatten(site: Site, x: TensorStructInfo) -> StructInfo:
    """All elements along one axis."""
    dims = site.dims(x)
    if dims is not None and len(dims) == 1:
        return x
    return resized(x, None if dims is None else (product(dims),), 1)


@operator("relax.nn.batch_flatten", "data")
def batch_flatten(site: Site, data: TensorStructInfo) -> StructInfo:
    """All axes but the first along one."""
    rank(site, data, 0, 2, -1)
    dims = site.dims(data)
    if dims is not None and len(dims) == 2:
        return data
    return resized(data, None if dims is None else (dims[0], product(dims[1:])), 2)


@rule("OBL-permute", "78324054")
def permutation(site: Site, order: Sequence[int], ndim: int) -> list[int]:
    """The axes of a permutation: each axis once."""
    if len(order) != ndim:
        site.fail(
            "OBL-permute-axes",
            f"{len(order)} axes {list(order)} are given for rank {ndim} {site.of(0)}",
        )
    return axes(site, order, ndim)


@operator("relax.permute_dims", "x, axes: ints? = None")
def permute_dims(site: Site, x: TensorStructInfo, order: tuple[int, ...] | None) -> StructInfo:
    """The axes in another order; reversed if none is given."""
    ndim = site.rank(x)
    if ndim is None:
        return ranked(None if order is None else len(order), x.dtype, x.vdevice)
    found = range(ndim)[::-1] if order is None else permutation(site, order, ndim)
    if list(found) == list(range(ndim)):
        return x
    dims = site.dims(x)
    return resized(x, dims and tuple([dims[k] for k in found]), ndim)


@operator("relax.expand_dims", "x, axis: ints")
def expand_dims(site: Site, x: TensorStructInfo, given: tuple[int, ...]) -> StructInfo:
    """Axes of length 1 inserted."""
    ndim = site.rank(x)
    if ndim is None:
        return ranked(None, x.dtype, x.vdevice)
    new = axes(site, given, ndim + len(given))
    dims = site.dims(x)
    if dims is None:
        return ranked(ndim + len(given), x.dtype, x.vdevice)
    rest = iter(dims)
    return resized(x, tuple(ONE if k in new else next(rest) for k in range(ndim + len(new))), None)


@rule("OBL-squeeze", "9070da52")
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
                lambda dim=dim, k=k: f"axis {k} has length {show(dim)} {site.of(0)}, not 1",  # type: ignore[misc]
            )
    ones.settle()
    return tuple(kept)


@operator("relax.squeeze", "x, axis: ints? = None")
def squeeze(site: Site, x: TensorStructInfo, given: tuple[int, ...] | None) -> StructInfo:
    """Axes of length 1 removed: the named ones, or all."""
    ndim, dims = site.rank(x), site.dims(x)
    if given is None:
        if dims is None or any(literal(dim) is None for dim in dims):
            return ranked(None, x.dtype, x.vdevice)
        return resized(x, tuple(dim for dim in dims if literal(dim) != 1), None)
    if ndim is None:
        return ranked(None, x.dtype, x.vdevice)
    gone = axes(site, given, ndim)
    if dims is None:
        return ranked(ndim - len(gone), x.dtype, x.vdevice)
    return resized(x, removed(site, dims, gone), None)


@rule("OBL-concat", "def74735")
def joined(site: Site, tensors: Sequence[Tensor], along: int | None) -> Dims | None:
    """The shapes of tensors of one rank that are equal but for the axis joined along.

    Returns
    -------
    Dims or None
        The dimensions of the first, with the sum of the lengths along the axis; None where a shape is unknown or two
        dimensions are not proved equal.
    """
    shapes = [(t, site.dims(t)) for t in tensors]
    known = [(t, dims) for t, dims in shapes if dims is not None]
    if not known:
        return None
    head, first = known[0]
    lengths = site.together("OBL-concat-dims", 0)
    for other, dims in known[1:]:
        for k, (a, b) in enumerate(zip(first, dims, strict=True)):
            if k != along:
                lengths.equal(a, b, partial(_unequal, (a, b), k, (head, other)))
    if not lengths.settle() or len(known) < len(shapes) or not _all_proved(site, lengths):
        return None
    if along is None:
        return first
    length = total(dims[along] for _, dims in known)
    return (*first[:along], length, *first[along + 1 :])


def _all_proved(site: Site, lengths: Together) -> bool:
    """Whether what has been asked for holds always."""
    return all(site.ctx.prover.always(c).status == "proved" for c, _ in lengths.open)


def _unequal(pair: tuple[PrimExpr, PrimExpr], k: int, tensors: tuple[Tensor, Tensor]) -> str:
    (a, b), (head, other) = pair, tensors
    return f"the lengths along axis {k} differ: {show(a)} of {show(head)} and {show(b)} of {show(other)}"


def _common_rank(site: Site, tensors: Sequence[Tensor]) -> int | None:
    ranks = {r for r in map(site.rank, tensors) if r is not None}
    if len(ranks) > 1:
        low, high = sorted(ranks)[:2]
        site.fail(
            "OBL-rank-operand", f"tensors of rank {low} and {high} do not join {site.of(0)}", 0
        )
    return ranks.pop() if ranks else None


def _some(site: Site, tensors: Sequence[Tensor]) -> Tensor:
    """The first of the tensors with what they have in common."""
    if not tensors:
        site.fail("OBL-rank-operand", "there is no tensor to join", 0)
    kinds = agree(site, tensors) if len(tensors) > 1 else tensors[0].dtype
    return TensorStructInfo(None, kinds, -1, place(site, tensors))


@operator("relax.concat", "tensors: tensors, axis: int? = 0")
def concat(site: Site, tensors: Tensors, given: int | None) -> StructInfo:
    """Tensors one after the other along an axis; vectors if none is given."""
    if tensors is None:
        return ranked(None, VOID)
    some, ndim = _some(site, tensors), _common_rank(site, tensors)
    if ndim is None:
        return ranked(1 if given is None else None, some.dtype, some.vdevice)
    if given is None and ndim != 1:
        site.fail("OBL-rank-operand", f"without an axis only vectors join, not rank {ndim}", 0)
    along = axis(site, given or 0, ndim, ranked(ndim, some.dtype, some.vdevice))
    return resized(some, joined(site, tensors, along), ndim)


@operator("relax.stack", "tensors: tensors, axis: int? = 0")
def stack(site: Site, tensors: Tensors, given: int | None) -> StructInfo:
    """Tensors of one shape along a new axis."""
    if tensors is None:
        return ranked(None, VOID)
    some, ndim = _some(site, tensors), _common_rank(site, tensors)
    if ndim is None:
        return ranked(None, some.dtype, some.vdevice)
    along = axis(site, given or 0, ndim + 1, ranked(ndim + 1, some.dtype, some.vdevice))
    dims = joined(site, tensors, None)
    new = None if dims is None else (*dims[:along], const(len(tensors)), *dims[along:])
    return resized(some, new, ndim + 1)


@rule("OBL-split", "09df47e3")
def parts(site: Site, length: PrimExpr, cut: int | tuple[int, ...]) -> list[PrimExpr]:
    """The lengths of the parts that a length is cut into, none negative."""
    if isinstance(cut, int):
        return _sections(site, length, cut)
    if list(cut) != sorted(cut) or any(k < 0 for k in cut):
        site.fail(
            "OBL-split-indices", f"the indices {list(cut)} must ascend from 0, or parts overlap", 0
        )
    bounds = [minimum(const(k), length) for k in cut]
    return [sub(high, low) for low, high in zip([ZERO, *bounds], [*bounds, length], strict=True)]


def _sections(site: Site, length: PrimExpr, count: int) -> list[PrimExpr]:
    if count < 1:
        site.fail(
            "OBL-split-sections", f"the number of sections is {count}, expected at least 1", 0
        )
    whole = exact(length, count)
    if whole is not None:
        site.ctx.discharged += 1
        return [whole] * count
    each = ceildiv(length, const(count))
    last = sub(length, mul(each, const(count - 1)))
    if (literal(last) or -1) >= 0:
        site.ctx.discharged += 1
    else:
        site.require(
            "OBL-split-sections",
            GE(last, ZERO),
            lambda: (
                f"{count - 1} sections of length {show(each)} are longer than the axis, "
                f"whose length is {show(length)} {site.of(0)}"
            ),
            0,
        )
    return [each] * (count - 1) + [last]


@operator("relax.split", "x, indices_or_sections: int_or_ints, axis: int = 0")
def split(site: Site, x: TensorStructInfo, cut: int | tuple[int, ...], given: int) -> StructInfo:
    """An axis cut into equal sections (the last may be shorter), or at indices. One section is the tensor itself."""
    count = cut if isinstance(cut, int) else len(cut) + 1
    ndim, dims = site.rank(x), site.dims(x)
    best = fields([ranked(ndim, x.dtype, x.vdevice)] * max(count, 0))
    along = 0 if ndim is None else axis(site, given, ndim, best)
    if dims is None:
        return best.fields[0] if cut == 1 else best
    lengths = parts(site, dims[along], cut)
    shapes = [(*dims[:along], length, *dims[along + 1 :]) for length in lengths]
    results = [tensor(shape, x.dtype, x.vdevice) for shape in shapes]
    return results[0] if cut == 1 else fields(results)


@operator("relax.broadcast_to", "x, shape: shape")
def broadcast_to(site: Site, x: TensorStructInfo, shape: Expr) -> StructInfo:
    """The tensor repeated along axes of length 1 and new leading axes."""
    result, dims = in_shape(site, x, shape), site.dims(x)
    if isinstance(shape, ShapeExpr) and dims is not None:
        expands(site, dims, shape.values, 0, result)
    return result


@rule("OBL-expand", "4f5ab356")
def expands(site: Site, dims: Dims, wanted: Dims, index: int, best: Tensor) -> None:
    """A shape broadcasts to another: aligned at the end, each dimension is equal or 1."""
    if len(dims) > len(wanted):
        site.fail(
            "OBL-expand-rank",
            f"rank {len(dims)} {site.of(index)} does not broadcast to rank {len(wanted)}",
            index,
            best,
        )
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


@operator("relax.collapse_sum_to", "data, shape: shape")
def collapse_sum_to(site: Site, data: TensorStructInfo, shape: Expr) -> StructInfo:
    """The reverse of a broadcast: sums over the axes that it would repeat."""
    result, dims = in_shape(site, data, shape), site.dims(data)
    if isinstance(shape, ShapeExpr) and dims is not None:
        expands(site, shape.values, dims, 0, result)
    return result


@operator("relax.collapse_sum_like", "data, collapse_target")
def collapse_sum_like(site: Site, data: TensorStructInfo, aim: TensorStructInfo) -> StructInfo:
    """The reverse of a broadcast, to the shape of another tensor."""
    dims, wanted = site.dims(data), site.dims(aim)
    result = TensorStructInfo(aim.shape, data.dtype, aim.ndim, data.vdevice)
    if dims is not None and wanted is not None:
        expands(site, wanted, dims, 1, result)
    return result


@operator("relax.flip", "data, axis: int")
@operator("relax.reverse_sequence", "data, seq_lengths, seq_axis: int = 1, batch_axis: int = 0")
def along_axis(site: Site, data: TensorStructInfo, *rest: object) -> StructInfo:
    """Elements that change places along an axis."""
    ndim = site.rank(data)
    if ndim is not None:
        axes(site, [value for value in rest if isinstance(value, int)], ndim, data)
    return data


@rule("OBL-repeat", "f3a16938")
def counts(site: Site, given: Sequence[int]) -> None:
    """No number of repetitions is negative."""
    if any(count < 0 for count in given):
        site.fail("OBL-repeat-count", f"the repetitions {list(given)} must not be negative")


@operator("relax.tile", "data, repeats: ints")
def tile(site: Site, data: TensorStructInfo, repeats: tuple[int, ...]) -> StructInfo:
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


@operator("relax.repeat", "data, repeats: int, axis: int? = None")
def repeat(site: Site, data: TensorStructInfo, times: int, given: int | None) -> StructInfo:
    """Each element repeated along an axis; of all elements in a row if none is given."""
    counts(site, (times,))
    ndim, dims = site.rank(data), site.dims(data)
    along = given if given is None or ndim is None else axis(site, given, ndim, data)
    if dims is None:
        return ranked(1 if given is None else ndim, data.dtype, data.vdevice)
    if along is None:
        return resized(data, (mul(product(dims), const(times)),), 1)
    length = mul(dims[along], const(times))
    return resized(data, (*dims[:along], length, *dims[along + 1 :]), ndim)


@operator("relax.meshgrid", "tensors: tensors, indexing: str? = 'ij'")
def meshgrid(site: Site, tensors: Tensors, indexing: str | None) -> StructInfo:
    """For each vector, its elements spread over the product of all."""
    if tensors is None:
        return OBJECT
    some = _some(site, tensors)
    for vector in tensors:
        rank(site, vector, 0, 0, 1)
    shapes = [site.dims(vector) for vector in tensors]
    if any(shape is None for shape in shapes):
        return fields([ranked(len(tensors), some.dtype, some.vdevice)] * len(tensors))
    dims = [shape[0] if shape else ONE for shape in shapes if shape is not None]
    return fields([tensor(dims, some.dtype, some.vdevice)] * len(tensors))


@operator("relax.nn.pixel_shuffle", "data, upscale_factor: int")
def pixel_shuffle(site: Site, data: TensorStructInfo, factor: int) -> StructInfo:
    """Groups of channels spread over the two spatial axes."""
    ndim, dims = rank(site, data, 0, 3, -1), site.dims(data)
    if dims is None:
        return ranked(ndim, data.dtype, data.vdevice)
    *lead, channels, height, width = dims
    shuffled(site, channels, factor)
    size = const(factor)
    grown = (floordiv(channels, const(factor * factor)), mul(height, size), mul(width, size))
    return resized(data, (*lead, *grown), ndim)


@rule("OBL-shuffle", "ced7703b")
def shuffled(site: Site, channels: PrimExpr, factor: int) -> None:
    """The factor is positive and its square divides the number of channels."""
    if factor < 1:
        site.fail("OBL-shuffle-factor", f"upscale_factor is {factor}, expected at least 1")
    site.require(
        "OBL-shuffle-channels",
        EQ(FloorMod(channels, const(factor * factor)), ZERO),
        lambda: f"{show(channels)} channels {site.of(0)} are not a multiple of {factor}²",
        0,
    )


@operator("relax.layout_transform", "x, index_map: expr, pad_value: expr? = None")
def layout_transform(
    site: Site, x: TensorStructInfo, index_map: object, pad_value: object
) -> StructInfo:
    """The elements at the places that an index map names."""
    return ranked(None, x.dtype, x.vdevice)
