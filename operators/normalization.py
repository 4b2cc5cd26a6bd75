"""Normalisation over axes, with learned scales and offsets; softmax."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import ZERO, const, literal
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result
from rlx.operators.late import np, te
from rlx.operators.operator_call import OperatorCall, show
from rlx.operators.parameters import Ints, Tensor
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import agree, axes, axis, elements, fields, need_known, rank
from rlx.spec.registry import rule


@rule("OBL-scale", "obligation")
def scales(
    site: OperatorCall, data: Tensor, parameters: Sequence[Tensor], over: Sequence[int]
) -> None:
    """Check that the learned tensors have the lengths of the axes that they belong to."""
    dims = site.dims(data)
    wanted = None if dims is None else [dims[k] for k in over]
    first = 0
    for index, parameter in enumerate(parameters, 1):
        rank(site, parameter, index, len(over))
        found = site.dims(parameter)
        if found is None:
            continue
        if wanted is None:  # then the parameters are compared with each other
            wanted, first = list(found), index
            continue
        fits = site.together("OBL-scale-length", index)
        for k, length, aim in zip(over, found, wanted, strict=True):
            fits.equal(aim, length, partial(_misfit, site, (index, first), k, (aim, length)))
        if not fits.settle():
            return


def _misfit(
    site: OperatorCall, at: tuple[int, int], k: int, lengths: tuple[PrimExpr, PrimExpr]
) -> str:
    wanted, found = map(show, lengths)
    first, second = site.of(at[0]), site.of(at[1])
    return f"{found} elements {first} do not match axis {k} of length {wanted} {second}"


def _normed(
    site: OperatorCall, data: Tensor, parameters: Sequence[Tensor], over: Sequence[int]
) -> None:
    agree(site, (data, *parameters))
    elements(site, data, 0, "float")
    ndim = site.rank(data)
    operands = list(enumerate((data, *parameters)))
    need_known(site, "dtype", *operands)
    for index, parameter in operands[1:]:
        rank(site, parameter, index, len(over))
    need_known(site, "rank", *operands[1:])
    scales(site, data, parameters, over if ndim is None else axes(site, over, ndim, data))


@operator(
    "relax.nn.layer_norm",
    calls="""
    f(a, b), f(b), f(b), axes=[-1] | [1], epsilon=None | 0.01
    f(a, 4, b), f(4, b), f(4, b), axes=[1, 2]
    """,
    broken="""
    OBL-element-float: int64(a, b), int64(b), int64(b), axes=[-1]
    OBL-scale-length: f(a, 3), f(4), f(3), axes=[-1]
    """,
)
def layer_norm(
    site: OperatorCall,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    axes: Ints,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
) -> StructInfo:
    """Zero mean and unit variance over the axes, then scale and offset."""
    _normed(site, data, (gamma, beta), axes)
    return data


@computes("relax.nn.layer_norm")
def layer_norm_value(
    x: Array,
    gamma: Array,
    beta: Array,
    over: tuple[int, ...],
    epsilon: float,
    center: int,
    scale: int,
) -> Array:
    axes = arrays.axes_of(over, x.ndim)
    if not x.size:
        return x.copy()
    made = arrays.quiet(_normed_value, arrays.wide(x), axes, epsilon)
    return arrays.back(arrays.quiet(_scaled, made, gamma, beta, axes, center, scale), x.dtype)


@defines("relax.nn.layer_norm")
def layer_norm_definition(
    out: Result,
    x: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    over: Sequence[int],
    epsilon: float,
    center: int,
    scale: int,
) -> te.Tensor:
    exprs.need_floats(x.dtype)
    axes = exprs.axes_of(over, x.ndim)
    made = _normed_definition(x, axes, epsilon)
    return exprs.filled(
        out,
        lambda *i: _scaled_definition(made(*i), gamma, beta, axes, i, center, scale),
    )


@operator("relax.nn.rms_norm", calls="f(a, b), f(b), axes=[-1], epsilon=None | 0.01")
def rms_norm(
    site: OperatorCall, data: Tensor, weight: Tensor, axes: Ints = (-1,), epsilon: float = 1e-05
) -> StructInfo:
    """Unit mean square over the axes, then scale."""
    _normed(site, data, (weight,), axes)
    return data


@computes("relax.nn.rms_norm")
def rms_norm_value(x: Array, weight: Array, over: tuple[int, ...], epsilon: float) -> Array:
    axes, w = arrays.axes_of(over, x.ndim), arrays.wide(x)
    if not x.size:
        return x.copy()
    square = arrays.mean(w * w, axis=axes, keepdims=True)
    made = w / np.sqrt(square + w.dtype.type(epsilon))
    return arrays.back(arrays.quiet(lambda: made * _along(w, weight, axes)), x.dtype)


@defines("relax.nn.rms_norm")
def rms_norm_definition(
    out: Result, x: te.Tensor, weight: te.Tensor, over: Sequence[int], epsilon: float
) -> te.Tensor:
    exprs.need_floats(x.dtype)
    axes = exprs.axes_of(over, x.ndim)
    square = exprs.means(x, axes, "T_square", lambda v: exprs.wide(v) * exprs.wide(v))

    factor = _factor(square, epsilon)

    def element(*i: te.Scalar) -> te.Scalar:
        made = exprs.wide(x(*i)) * factor(*_dropped(i, axes))
        return made * _along_definition(weight, axes, i)

    return exprs.filled(out, element)


@operator(
    "relax.nn.group_norm",
    calls="f(a, 4, b), f(4), f(4), num_groups=2 | 4 | 1, channel_axis=1, axes=[2]",
    broken="""
    OBL-group-positive: f(a, 4, b), f(4), f(4), num_groups=0, channel_axis=1, axes=[2]
    OBL-group-divides: f(a, 4, b), f(4), f(4), num_groups=3, channel_axis=1, axes=[2]
    """,
)
def group_norm(
    site: OperatorCall,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    num_groups: int,
    channel_axis: int,
    axes_: Ints,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
) -> StructInfo:
    """Zero mean and unit variance over groups of channels, then scale and offset."""
    _normed(site, data, (gamma, beta), (channel_axis,))
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is not None:
        axes(site, (channel_axis, *axes_), ndim, data)
    if dims is not None:
        grouped(site, dims[channel_axis], num_groups)
    return data


@computes("relax.nn.group_norm")
def group_norm_value(
    x: Array,
    gamma: Array,
    beta: Array,
    groups: int,
    channel: int,
    over: tuple[int, ...],
    epsilon: float,
    center: int,
    scale: int,
) -> Array:
    axis = arrays.axis_of(channel, x.ndim)
    if groups < 1 or x.shape[axis] % groups:
        raise OperatorFault(
            "E-scale-length", f"{groups} groups do not divide {x.shape[axis]} channels"
        )
    if not x.size:
        return x.copy()
    split = (*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :])
    axes = [k if k < axis else k + 1 for k in arrays.axes_of(over, x.ndim) if k != axis]
    made = arrays.quiet(
        _normed_value, arrays.wide(x).reshape(split), (axis + 1, *axes), epsilon
    ).reshape(x.shape)
    return arrays.back(_scaled(made, gamma, beta, (axis,), center, scale), x.dtype)


@defines("relax.nn.group_norm")
def group_norm_definition(
    out: Result,
    x: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    groups: int,
    channel: int,
    over: Sequence[int],
    epsilon: float,
    center: int,
    scale: int,
) -> te.Tensor:
    exprs.need_floats(x.dtype)
    axis = exprs.axis_of(channel, x.ndim)
    each = x.shape[axis] // exprs.int64(groups)
    shape = [*x.shape[:axis], exprs.int64(groups), each, *x.shape[axis + 1 :]]
    split = te.compute(
        shape,
        lambda *i: x(*i[:axis], i[axis] * each + i[axis + 1], *i[axis + 2 :]),
        name="T_groups",
    )
    axes = [axis + 1, *(k if k < axis else k + 1 for k in exprs.axes_of(over, x.ndim) if k != axis)]
    made = _normed_definition(split, axes, epsilon)

    def element(*i: te.Scalar) -> te.Scalar:
        at = [*i[:axis], i[axis] // each, i[axis] % each, *i[axis + 1 :]]
        return _scaled_definition(made(*at), gamma, beta, (axis,), i, center, scale)

    return exprs.filled(out, element)


@rule("OBL-group", "obligation")
def grouped(site: OperatorCall, count: PrimExpr, groups: int) -> None:
    """Check that the number of groups is positive and divides the normalised channels."""
    if groups < 1:
        site.fail("OBL-group-positive", f"num_groups is {groups}, expected at least 1")
    whole = literal(count)
    if whole is not None and whole % groups == 0:
        site.ctx.discharged += 1
        return
    site.require(
        "OBL-group-divides",
        EQ(FloorMod(count, const(groups)), ZERO),
        lambda: f"{groups} groups do not divide {show(count)} channels {site.of(0)}",
        0,
    )


@operator(
    "relax.nn.instance_norm",
    calls="f(a, 4, b), f(4), f(4), channel_axis=1, axes=[2], epsilon=None | 0.01",
)
def instance_norm(
    site: OperatorCall,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    channel_axis: int,
    axes_: Ints,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
) -> StructInfo:
    """Zero mean and unit variance for each channel of each example, then scale and offset."""
    _normed(site, data, (gamma, beta), (channel_axis,))
    ndim = site.rank(data)
    if ndim is not None:
        axes(site, (channel_axis, *axes_), ndim, data)
    return data


@computes("relax.nn.instance_norm")
def instance_norm_value(
    x: Array,
    gamma: Array,
    beta: Array,
    channel: int,
    over: tuple[int, ...],
    epsilon: float,
    center: int,
    scale: int,
) -> Array:
    axis = arrays.axis_of(channel, x.ndim)
    if not x.size:
        return x.copy()
    made = arrays.quiet(_normed_value, arrays.wide(x), arrays.axes_of(over, x.ndim), epsilon)
    return arrays.back(_scaled(made, gamma, beta, (axis,), center, scale), x.dtype)


@defines("relax.nn.instance_norm")
def instance_norm_definition(
    out: Result,
    x: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    channel: int,
    over: Sequence[int],
    epsilon: float,
    center: int,
    scale: int,
) -> te.Tensor:
    exprs.need_floats(x.dtype)
    axis = exprs.axis_of(channel, x.ndim)
    made = _normed_definition(x, exprs.axes_of(over, x.ndim), epsilon)
    return exprs.filled(
        out,
        lambda *i: _scaled_definition(made(*i), gamma, beta, (axis,), i, center, scale),
    )


@operator(
    "relax.nn.batch_norm",
    calls="f(a, 4, b) | f(a, 4), f(4), f(4), f(4), f(4), axis=1, training=None | False",
    broken="OBL-scale-length: f(a, 3), f(4), f(3), f(3), f(3), axis=1",
)
def batch_norm(
    site: OperatorCall,
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    axis: int,
    epsilon: float = 1e-05,
    center: int = True,
    scale: int = True,
    momentum: float = 0.1,
    training: int = True,
) -> StructInfo:
    """Zero mean and unit variance for each channel, and the new running mean and variance."""
    _normed(site, data, (gamma, beta, moving_mean, moving_var), (axis,))
    return fields((data, moving_mean, moving_var))


@computes("relax.nn.batch_norm")
def batch_norm_value(
    x: Array,
    gamma: Array,
    beta: Array,
    mean: Array,
    variance: Array,
    channel: int,
    epsilon: float,
    center: int,
    scale: int,
    momentum: float,
    training: int,
) -> tuple[Array, Array, Array]:
    axis, w = arrays.axis_of(channel, x.ndim), arrays.wide(x)
    rest = tuple(k for k in range(x.ndim) if k != axis)
    old = arrays.wide(mean), arrays.wide(variance)
    used = old
    new = old
    if training:
        # Of no examples there is no mean: it is NaN.
        used = (np.mean(w, axis=rest), np.var(w, axis=rest)) if x.size else (old[0] * np.nan,) * 2
        kept, step = w.dtype.type(1 - momentum), w.dtype.type(momentum)
        new = tuple(kept * o + step * u for o, u in zip(old, used, strict=True))
    centred = w - _along(w, used[0], (axis,))
    made = arrays.quiet(
        lambda: centred / np.sqrt(_along(w, used[1], (axis,)) + w.dtype.type(epsilon))
    )
    result = _scaled(made, gamma, beta, (axis,), center, scale)
    return (
        arrays.back(result, x.dtype),
        arrays.back(new[0], mean.dtype),
        arrays.back(new[1], variance.dtype),
    )


@defines("relax.nn.batch_norm")
def batch_norm_definition(
    out: tuple[Result, Result, Result],
    x: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    mean: te.Tensor,
    variance: te.Tensor,
    channel: int,
    epsilon: float,
    center: int,
    scale: int,
    momentum: float,
    training: int,
) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    exprs.need_floats(x.dtype)
    axis = exprs.axis_of(channel, x.ndim)
    rest = [k for k in range(x.ndim) if k != axis]
    used: tuple[te.Tensor, te.Tensor] = (mean, variance)
    if training:
        used = _moments(x, rest, axis)

    def element(*i: te.Scalar) -> te.Scalar:
        centred = exprs.wide(x(*i)) - exprs.wide(used[0](i[axis]))
        made = centred / te.sqrt(exprs.wide(used[1](i[axis])) + te.const(epsilon, centred.dtype))
        return _scaled_definition(made, gamma, beta, (axis,), i, center, scale)

    def running(target: Result, old: te.Tensor, new: te.Tensor, name: str) -> te.Tensor:
        def value(i: te.Scalar) -> te.Scalar:
            before, now = exprs.wide(old(i)), exprs.wide(new(i))
            if not training:
                return before
            kept, step = (te.const(share, now.dtype) for share in (1 - momentum, momentum))
            return kept * before + step * now

        return exprs.filled(target, value, name)

    return (
        exprs.filled(out[0], element),
        running(out[1], mean, used[0], "T_running_mean"),
        running(out[2], variance, used[1], "T_running_variance"),
    )


def _moments(x: te.Tensor, rest: Sequence[int], axis: int) -> tuple[te.Tensor, te.Tensor]:
    """Mean and variance of each channel."""
    middle = exprs.means(x, rest, "T_mean")
    off = exprs.DerivedView(x, lambda *i: exprs.wide(x(*i)) - middle(*_dropped(i, rest)))
    spread = exprs.means(off, rest, "T_variance", lambda v: v * v)

    def line(of: te.Tensor, name: str) -> Any:
        return te.compute(
            (x.shape[axis],),
            lambda i: of(*(i if k == axis else exprs.int64(0) for k in range(x.ndim))),
            name=name,
        )

    return line(middle, "T_channel_mean"), line(spread, "T_channel_variance")


@operator(
    "relax.nn.softmax",
    calls="f(a, b) | f(a) | f(a, 3, b), axis=None | 0 | -1",
    broken="""
    OBL-element-float: int32(a, 4), axis=-1
    OBL-axis-range: f(a, b), axis=-3
    """,
)
@operator("relax.nn.log_softmax", calls="f(a, b) | f(a) | f(a, 3, b), axis=None | 0 | -1")
def softmax(site: OperatorCall, data: Tensor, axis_: int = -1) -> StructInfo:
    """Positive elements that sum to 1 along an axis (or their logarithms)."""
    elements(site, data, 0, "float")
    ndim = site.rank(data)
    if ndim is not None:
        axis(site, axis_, ndim, data)
    return data


def _raised(x: Array, axis: int) -> Array:
    off = x - np.max(x, axis=axis, keepdims=True)
    return np.asarray(np.exp(off, out=off))


@computes("relax.nn.softmax")
def softmax_value(x: Array, axis: int) -> Array:
    """Positive elements that sum to 1 along an axis."""
    if not x.size:
        return x.copy()
    w, along = arrays.wide(x), arrays.axis_of(axis, x.ndim)
    raised = arrays.quiet(_raised, w, along)
    raised /= np.sum(raised, axis=along, keepdims=True)
    return arrays.back(raised, x.dtype)


@computes("relax.nn.log_softmax")
def log_softmax_value(x: Array, axis: int) -> Array:
    if not x.size:
        return x.copy()
    w, along = arrays.wide(x), arrays.axis_of(axis, x.ndim)
    off = w - np.max(w, axis=along, keepdims=True)
    total = np.sum(np.exp(off), axis=along, keepdims=True)
    return arrays.back(arrays.quiet(lambda: off - np.log(total)), x.dtype)


def _off_largest(x: te.Tensor, along: int) -> exprs.DerivedView:
    top = exprs.reduced(x, (along,), exprs.largest(), "T_top")
    return exprs.DerivedView(x, lambda *i: exprs.wide(x(*i)) - top(*_dropped(i, (along,))))


@defines("relax.nn.softmax")
def softmax_definition(out: Result, x: te.Tensor, axis: int) -> te.Tensor:
    exprs.need_floats(x.dtype)
    along = exprs.axis_of(axis, x.ndim)
    off = _off_largest(x, along)
    raised = te.compute(x.shape, lambda *i: te.exp(off(*i)), name="T_exp")
    whole = exprs.summed(raised, (along,), "T_total")
    return exprs.filled(out, lambda *i: raised(*i) / whole(*_dropped(i, (along,))))


@defines("relax.nn.log_softmax")
def log_softmax_definition(out: Result, x: te.Tensor, axis: int) -> te.Tensor:
    exprs.need_floats(x.dtype)
    along = exprs.axis_of(axis, x.ndim)
    off = _off_largest(x, along)
    whole = exprs.summed(off, (along,), "T_total", te.exp)
    log = te.compute(whole.shape, lambda *i: te.log(whole(*i)), name="T_log")
    return exprs.filled(out, lambda *i: off(*i) - log(*_dropped(i, (along,))))


@operator(
    "relax.nn.prelu",
    calls="""
    f(a, 4), f(4)
    f(a, 4), f(1), axis=-1
    f(a, b), f(b)
    """,
)
def prelu(site: OperatorCall, data: Tensor, alpha: Tensor, axis_: int = 1) -> StructInfo:
    """Negative elements scaled by a learned slope for each channel."""
    elements(site, data, 0, "float16 float32 float64")
    ndim, dims = site.rank(data), site.dims(data)
    slopes = site.dims(alpha)
    if ndim is None:
        return data
    channel = axis(site, axis_, ndim, data)
    rank(site, alpha, 1, 1)
    if dims is not None and slopes is not None and literal(slopes[0]) != 1:
        scales(site, data, (alpha,), (channel,))
    return data


@computes("relax.nn.prelu")
def prelu_value(x: Array, alpha: Array, axis: int) -> Array:
    w, along = arrays.wide(x), arrays.axis_of(axis, x.ndim)
    slope = arrays.wide(alpha) if alpha.shape == (1,) else _along(w, alpha, (along,))
    return arrays.back(np.where(w > 0, w, arrays.quiet(lambda: w * slope)), x.dtype)


@defines("relax.nn.prelu")
def prelu_definition(out: Result, x: te.Tensor, alpha: te.Tensor, axis: int) -> te.Tensor:
    exprs.need_floats(x.dtype)
    along = exprs.axis_of(axis, x.ndim)

    def element(*i: te.Scalar) -> te.Scalar:
        value = exprs.wide(x(*i))
        slope = exprs.wide(exprs.broadcast(alpha, (i[along],), (x.shape[along],)))
        return te.select(value > te.const(0, value.dtype), value, value * slope)

    return exprs.filled(out, element)


# ---------------------------------------------------------------- values


def _normed_value(x: Array, over: tuple[int, ...], epsilon: float) -> Array:
    """Zero mean and unit variance over axes; the variance is that of the elements themselves."""
    off: Array = x - arrays.mean(x, axis=over, keepdims=True)
    variance = arrays.mean(off * off, axis=over, keepdims=True)
    off /= np.sqrt(variance + x.dtype.type(epsilon))
    return off


@rule("E-scale", "computation")
def _along(x: Array, parameter: Array, axes: Sequence[int]) -> Array:
    """A learnt tensor in the shape in which it broadcasts over ``x``."""
    shape = [x.shape[k] if k in axes else 1 for k in range(x.ndim)]
    wanted = tuple(x.shape[k] for k in axes)
    if parameter.shape != wanted:
        raise OperatorFault(
            "E-scale-length",
            f"a parameter of shape {parameter.shape} does not fit axes of lengths {wanted}",
        )
    order = np.argsort(axes, kind="stable")
    return arrays.wide(parameter).transpose(order).reshape(shape)


def _scaled(
    x: Array, gamma: Array, beta: Array, axes: Sequence[int], center: int, scale: int
) -> Array:
    """Scale and offset of an array that is new, in place."""
    if scale:
        x *= _along(x, gamma, axes)
    if center:
        x += _along(x, beta, axes)
    return x


# ---------------------------------------------------------------- definitions


def _dropped(indices: Sequence[te.Scalar], axes: Sequence[int]) -> list[te.Scalar]:
    """Indices in a tensor whose axes are of length 1."""
    return [exprs.int64(0) if a in axes else v for a, v in enumerate(indices)]


def _along_definition(
    parameter: te.Tensor, axes: Sequence[int], indices: Sequence[te.Scalar]
) -> te.Scalar:
    """The element of a learnt tensor over some axes."""
    return exprs.wide(parameter(*(indices[a] for a in axes)))


def _normed_definition(x: te.Tensor, over: Sequence[int], epsilon: float) -> exprs.DerivedView:
    """Zero mean and unit variance over axes; the variance is that of the elements themselves."""
    middle = exprs.means(x, over, "T_mean")
    off = exprs.DerivedView(x, lambda *i: exprs.wide(x(*i)) - middle(*_dropped(i, over)))
    spread = exprs.means(off, over, "T_variance", lambda v: v * v)
    factor = _factor(spread, epsilon)
    return exprs.DerivedView(x, lambda *i: off(*i) * factor(*_dropped(i, over)))


def _factor(spread: te.Tensor, epsilon: float) -> te.Tensor:
    """The reciprocals of deviations: a product takes less time than a quotient."""
    one, least = te.const(1, spread.dtype), te.const(epsilon, spread.dtype)

    def element(*i: te.Scalar) -> te.Scalar:
        return one / te.sqrt(spread(*i) + least)

    return te.compute(spread.shape, element, name="T_factor")  # type: ignore[no-any-return]


def _scaled_definition(
    value: te.Scalar,
    gamma: te.Tensor,
    beta: te.Tensor,
    axes: Sequence[int],
    indices: Sequence[te.Scalar],
    center: int,
    scale: int,
) -> te.Scalar:
    if scale:
        value = value * _along_definition(gamma, axes, indices)
    return value + _along_definition(beta, axes, indices) if center else value
