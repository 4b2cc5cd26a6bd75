"""Slices of tensors, and replacement of slices."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.tir import (
    GE,
    LE,
    LT,
    NE,
    FloorDiv,
    PrimExpr,
    Select,
    Var,
)
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import (
    MINUS_ONE,
    ONE,
    ZERO,
    add,
    ceildiv,
    const,
    literal,
    maximum,
    minimum,
    sub,
)
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.indexing import fit
from rlx.operators.late import np, scalars, te
from rlx.operators.operator_call import Dims, OperatorCall, show
from rlx.operators.parameters import Prim, Prims, Tensor
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import (
    agree,
    axes,
    axis,
    elements,
    integral,
    need_known,
    rank,
    ranked,
    stated,
    tensor,
)
from rlx.solver.prim_exprs import natural
from rlx.spec.registry import need, rule

_TO_THE_END = (1 << 63) - 1
"""The end that programs write for an axis of any length: no length is larger."""


def clamped(index: PrimExpr, length: PrimExpr, forward: bool, signed: Collection[Var]) -> PrimExpr:
    """A slice bound: counted from the end if negative, then clamped to the axis."""
    value = literal(index)
    if value is not None and value >= _TO_THE_END:
        return length if forward else sub(length, ONE)
    if value is not None and value < 0:
        index = add(length, index)
        if forward:
            return maximum(index, ZERO)
    elif value is None and not natural(index, signed):
        index = Select(LT(index, ZERO), add(index, length), index)
    low, high = (ZERO, length) if forward else (MINUS_ONE, sub(length, ONE))
    if index is length and forward:
        return length
    if not natural(index, signed):
        index = maximum(index, low)
    return minimum(index, high)


@rule("OBL-slice", "obligation")
def extent(
    site: OperatorCall,
    length: PrimExpr,
    begin: PrimExpr,
    end: PrimExpr,
    stride: PrimExpr,
    inbound: bool,
) -> PrimExpr:
    """The number of elements of a slice, after a check that its stride is not 0 and its end is not
    before its begin.

    If the slice is declared to be in bounds, begin and end must be within the axis; otherwise they
    are clamped.
    """
    step, signed = literal(stride), site.ctx.signed
    if step is None:
        return _symbolic(site, length, begin, end, stride)
    if step == 0:
        site.fail("OBL-slice-stride", "a stride is 0")
    ordered = not inbound and _ordered(begin, end, step)
    if inbound:
        _inside(site, length, begin, end, step)
    else:
        begin, end = (clamped(e, length, step > 0, signed) for e in (begin, end))
    distance = sub(end, begin) if step > 0 else sub(begin, end)
    count = ceildiv(distance, const(abs(step)))
    if (
        ordered
        or (literal(count) or -1) >= 0
        or count is ZERO
        or (step > 0 and begin is ZERO and natural(end, signed))
    ):
        site.ctx.discharged += 1
        return count
    site.require(
        "OBL-slice-order",
        GE(count, ZERO),
        lambda: f"the slice ends at {show(end)}, before it begins at {show(begin)}",
    )
    return count


def _ordered(begin: PrimExpr, end: PrimExpr, step: int) -> bool:
    """Whether begin and end are numbers counted from the same side in the order of the stride, or
    the end is that of the axis: then they are in this order after clamping, whatever the length.
    """
    first, last = literal(begin), literal(end)
    if first is None or last is None:
        return False
    if step > 0 and last >= _TO_THE_END:
        return True
    return (first < 0) == (last < 0) and (last - first) * step >= 0


def _inside(
    site: OperatorCall, length: PrimExpr, begin: PrimExpr, end: PrimExpr, step: int
) -> None:
    """Begin and end of a slice that is said to be in bounds."""
    for what, index in (("begins", begin), ("ends", end)):
        if index is ZERO or index is length:
            site.ctx.discharged += 1
            continue
        low = const(-1) if step < 0 else ZERO
        site.require(
            "OBL-slice-bounds",
            (GE(index, low), LE(index, length)),
            lambda what=what, index=index: (  # type: ignore[misc]
                f"the slice {what} at {show(index)}, outside the length {show(length)} {site.of(0)}"
            ),
        )


def _symbolic(
    site: OperatorCall, length: PrimExpr, begin: PrimExpr, end: PrimExpr, stride: PrimExpr
) -> PrimExpr:
    """A slice whose stride is a variable."""
    site.require(
        "OBL-slice-stride", NE(stride, ZERO), lambda: f"the stride {show(stride)} may be 0"
    )
    signed = site.ctx.signed
    first, behind = (clamped(e, length, True, signed) for e in (begin, end))
    up = FloorDiv(sub(add(sub(behind, first), stride), ONE), stride)
    if natural(stride, signed):
        return up
    back, last = (clamped(e, length, False, signed) for e in (begin, end))
    down = FloorDiv(sub(sub(sub(back, last), stride), ONE), sub(ZERO, stride))
    return Select(LT(stride, ZERO), down, up)


@rule("OBL-slices", "obligation")
def aligned(site: OperatorCall, over: Prims, lists: tuple[Prims, ...]) -> list[int] | None:
    """Check that axes, begins, ends and strides of a slice are lists of equal length, and that the
    axes are literals.

    Returns
    -------
    list of int, or None
        The axes; None if a list is unknown.
    """
    given = [item for item in (over, *lists) if item is not None]
    if len({len(item) for item in given}) > 1:
        shown = ["unknown" if item is None else str(len(item)) for item in (over, *lists)]
        site.fail(
            "OBL-slices-length",
            f"{shown[0]} axes are given, but {', '.join(shown[1:])} begins, ends and strides",
        )
    if over is None or len(given) < 1 + len(lists):
        return None
    found = [literal(k) for k in over]
    if None in found:
        site.fail("OBL-slices-axes", "the axes must be integer literals", 1)
    return [k for k in found if k is not None]


@operator(
    "relax.strided_slice",
    calls="""
    x(a, 8), axes=[1], begin=[1] | [0] | [-3], end=[5] | [8] | [20], strides=None | [2]
    x(a, b), axes=[0], begin=[0], end=[2] | [-1], strides=None | [1]
    x(10), axes=[0], begin=[8], end=[2], strides=[-2]
    x(a, 8), axes=[1], begin=[2], end=[6], strides=[2], assume_inbound=None | True
    """,
    broken="""
    OBL-slices-length: f(a, 8), axes=[1], begin=[0, 1], end=[4]
    OBL-slice-stride: f(a, 8), axes=[1], begin=[0], end=[4], strides=[0]
    OBL-slice-order: f(a, 8), axes=[1], begin=[5], end=[2], strides=[1], assume_inbound=True
    OBL-slice-bounds: f(a, 8), axes=[1], begin=[2], end=[12], strides=[1], assume_inbound=True
    """,
)
def strided_slice(
    site: OperatorCall,
    x: Tensor,
    axes_: Prims,
    begin: Prims,
    end: Prims,
    strides: Prims | None = None,
    assume_inbound: int = False,
) -> StructInfo:
    """The elements from begin to end, in steps of the stride, along the axes."""
    ndim, dims = site.rank(x), site.dims(x)
    if strides is None:
        strides = None if axes_ is None else (ONE,) * len(axes_)
    for index, bounds in enumerate((axes_, begin, end, strides), 1):
        for bound in bounds or ():
            integral(site, bound, index)
    given = aligned(site, axes_, (begin, end, strides))
    if ndim is None or given is None:
        return ranked(ndim, x.dtype, x.vdevice)
    named = axes(site, given, ndim, ranked(ndim, x.dtype, x.vdevice))
    if dims is None:
        return ranked(ndim, x.dtype, x.vdevice)
    result: list[PrimExpr] = list(dims)
    for k, *slices in zip(named, begin or (), end or (), strides or (), strict=True):
        low, high, step = slices
        if low is None or high is None or step is None:
            return ranked(ndim, x.dtype, x.vdevice)
        result[k] = extent(site, dims[k], low, high, step, bool(assume_inbound))
    if all(a is b for a, b in zip(result, dims, strict=True)):
        return x
    return tensor(result, x.dtype, x.vdevice)


@computes("relax.strided_slice")
def strided_slice_value(
    x: Array,
    axes: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None,
    inbound: int,
) -> Array:
    steps = strides or (1,) * len(axes)
    if not len(axes) == len(begin) == len(end) == len(steps):
        raise OperatorFault(
            "E-operator-arguments",
            "begin, end, strides and axes of a slice have different lengths",
        )
    for each, low, high, step in zip(axes, begin, end, steps, strict=True):
        along = arrays.axis_of(int(each), x.ndim)
        places = indices(x.shape[along], int(low), int(high), int(step), bool(inbound))
        x = np.take(x, np.array(places, np.intp), along)
    return x.copy()


@defines("relax.strided_slice")
def strided_slice_definition(
    out: Result,
    x: te.Tensor,
    axes: Sequence[Any],
    begin: Sequence[Any],
    end: Sequence[Any],
    strides: Sequence[Any] | None,
    inbound: int,
) -> te.Tensor:
    steps = strides or (1,) * len(axes)
    if any(isinstance(step, te.Scalar) for step in (*steps, *axes)):
        decline("its strides are not constants")
    starts: dict[int, tuple[te.Scalar, int]] = {}
    for each, low, step in zip(axes, begin, steps, strict=True):
        along = exprs.axis_of(int(each), x.ndim)
        starts[along] = _start(low, x.shape[along], int(step), bool(inbound)), int(step)

    def element(*i: te.Scalar) -> te.Scalar:
        at = []
        for k, v in enumerate(i):
            start, step = starts.get(k, (exprs.int64(0), 1))
            at.append(start + v * exprs.int64(step))
        return x(*at)

    return exprs.filled(out, element)


@operator(
    "relax.dynamic_strided_slice",
    kept="the shape of its result depends on data",
    calls="""
    x(a, b), int64(2), int64(2), int64(2)
    x(a), int64(1), int64(1), int64(1)
    """,
    broken="""
    OBL-listed-axis: f(a, b), int64(3), int64(2), int64(2)
    OBL-listed-stride: f(a), int64(1), int64(1), const([0], 'int64')
    """,
)
def dynamic_strided_slice(
    site: OperatorCall, x: Tensor, begin: Tensor, end: Tensor, strides: Tensor
) -> StructInfo:
    """Like ``strided_slice``, with bounds that are known only at run time."""
    ndim = site.rank(x)
    bounds = list(enumerate((begin, end, strides), 1))
    for index, info in bounds:
        elements(site, info, index, "int64")
        rank(site, info, index, 1)
    need_known(site, "shape", *bounds)
    need_known(site, "dtype", *bounds)
    listed(site, ndim, bounds)
    if ndim is None:
        return ranked(None, x.dtype, x.vdevice)
    dims: Dims = tuple(site.ctx.fresh_dim(f"slice{k}") for k in range(ndim))
    return tensor(dims, x.dtype, x.vdevice)


@computes("relax.dynamic_strided_slice")
def dynamic_strided_slice_value(x: Array, begin: Array, end: Array, strides: Array) -> Array:
    """Like ``strided_slice`` over the leading axes, with bounds given by tensors."""
    axes = range(len(begin))
    return strided_slice_value(x, axes, begin.tolist(), end.tolist(), strides.tolist(), 0)


@rule("OBL-listed", "obligation")
def listed(
    site: OperatorCall, ndim: int | None, bounds: list[tuple[int, TensorStructInfo]]
) -> None:
    """Check that there is one begin, end and stride for each axis, and that their number is a
    literal.
    """
    for index, info in bounds:
        dims = site.dims(info)
        if not dims:
            continue
        count = literal(dims[0])
        if count is None:
            words = (
                f"the length of {site.shown(index)} must be a literal: one element for each axis"
            )
            site.warn("OBL-listed-literal", words, index)
        elif ndim is not None and count != ndim:
            words = f"{site.shown(index)} has {count} elements for rank {ndim} {site.of(0)}"
            site.fail("OBL-listed-axis", words, index)
    if not need("OBL-listed-stride", 0 not in stated(site, site.argument(3))):
        site.warn_of_fault("OBL-listed-stride", "a stride is 0", 3)


@operator(
    "relax.slice_scatter",
    calls="""
    x(a, 4), x(a, 2), prim(1), prim(3), prim(1), axis=1
    x(8), x(4), prim(0), prim(8), prim(2)
    """,
    broken="""
    OBL-replace-dims: f(a, 8), f(a, 3), prim(1), prim(3), prim(1), axis=1
    OBL-ascending-step: f(a, 8), f(a, 2), prim(1), prim(3), prim(0), axis=1
    OBL-ascending-order: f(a, 8), f(a, 2), prim(5), prim(3), prim(1), axis=1
    """,
)
def slice_scatter(
    site: OperatorCall,
    input_tensor: Tensor,
    src: Tensor,
    start: Prim,
    end: Prim,
    step: Prim,
    axis_: int = 0,
) -> StructInfo:
    """The tensor with a slice along an axis replaced by another tensor."""
    agree(site, (input_tensor, src))
    for index, given_prim in enumerate((start, end, step), 2):
        integral(site, given_prim, index)
    ascending(site, start, end, step)
    ndim, dims = site.rank(input_tensor), site.dims(input_tensor)
    if ndim is None:
        return input_tensor
    along = axis(site, axis_, ndim, input_tensor)
    rank(site, src, 1, ndim)
    found = site.dims(src)
    if dims is None or found is None or start is None or end is None or step is None:
        return input_tensor
    length = extent(site, dims[along], start, end, step, False)
    replaced(site, (*dims[:along], length, *dims[along + 1 :]), found)
    return input_tensor


@computes("relax.slice_scatter")
def slice_scatter_value(x: Array, src: Array, start: int, end: int, step: int, axis: int) -> Array:
    along = arrays.axis_of(axis, x.ndim)
    places = indices(x.shape[along], int(start), int(end), int(step))
    wanted = (*x.shape[:along], len(places), *x.shape[along + 1 :])
    fit(src, wanted)
    result = x.copy()
    np.moveaxis(result, along, 0)[np.array(places, np.intp)] = np.moveaxis(src, along, 0)
    return result


@defines("relax.slice_scatter")
def slice_scatter_definition(
    out: Result, x: te.Tensor, src: te.Tensor, start: Any, end: Any, step: Any, axis: int
) -> te.Tensor:
    along = exprs.axis_of(axis, x.ndim)
    if isinstance(step, te.Scalar):
        decline("its stride is not a constant")
    begin = _start(start, x.shape[along], step, False)

    def element(*i: te.Scalar) -> te.Scalar:
        off = i[along] - begin
        number = off // exprs.int64(step)
        inside = exprs.both(
            exprs.both(
                off >= exprs.int64(0), exprs.equals(off % exprs.int64(step), exprs.int64(0))
            ),
            number < src.shape[along],
        )
        new = src(*(number if k == along else v for k, v in enumerate(i)))
        return te.if_then_else(inside, new, x(*i))

    return exprs.filled(out, element)


@rule("OBL-ascending", "obligation")
def ascending(
    site: OperatorCall, start: PrimExpr | None, end: PrimExpr | None, step: PrimExpr | None
) -> None:
    """Check that a replaced slice has a positive step and that its end is not before its start."""
    if step is not None and (literal(step) or 0) < 1:
        words = f"the step is {show(step)}, not positive"
        if not site.require("OBL-ascending-step", GE(step, ONE), lambda: words):
            site.stop()
    low, high = literal(start), literal(end)
    if low is not None and high is not None and low > high:
        site.fail("OBL-ascending-order", f"the slice ends at {high}, before it starts at {low}")


@rule("OBL-replace", "obligation")
def replaced(site: OperatorCall, wanted: Dims, found: Dims) -> None:
    """Check that the replacement of a slice has the shape of the slice."""
    alike = site.together("OBL-replace-dims", 1)
    for k, (a, b) in enumerate(zip(wanted, found, strict=True)):
        alike.equal(
            a,
            b,
            lambda k=k, a=a, b=b: (  # type: ignore[misc]
                f"axis {k} of the slice has length {show(a)}, but {show(b)} {site.of(1)}"
            ),
        )
    alike.settle()


# ---------------------------------------------------------------- values


@rule("E-slice", "computation")
def indices(length: int, begin: int, end: int, step: int, inbound: bool = False) -> range:
    """The indices of a slice.

    Negative bounds count from the end, and bounds out of range are clamped (E-slice). If the slice
    is declared to be in bounds, they must be in range.
    """
    if step == 0:
        raise OperatorFault("E-slice-stride", "a stride is 0")
    low, high = (0, length) if step > 0 else (-1, length - 1)
    if inbound:
        floor = -1 if step < 0 else 0
        for bound in (begin, end):
            if not floor <= bound <= length:
                raise OperatorFault(
                    "E-slice-bounds", f"the bound {bound} is outside an axis of length {length}"
                )
    else:
        begin, end = (
            min(max(bound + length if bound < 0 else bound, low), high) for bound in (begin, end)
        )
    return range(begin, end, step)


# ---------------------------------------------------------------- definitions


def _start(begin: Any, length: te.Scalar, step: int, inbound: bool) -> te.Scalar:
    """The start of a slice: negative bounds count from the end, bounds outside are moved to it."""
    at = te.cast("int64", scalars.scalar(begin))
    if inbound:
        return at
    if at.value is not None:
        found = at + length if at.value < 0 else at
    else:
        found = te.select(at < exprs.int64(0), at + length, at)
    low, high = (exprs.int64(0), length) if step > 0 else (exprs.int64(-1), length - 1)
    return te.minimum(te.maximum(found, low), high)
