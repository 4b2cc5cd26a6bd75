"""Normalisation over axes, with learned scales and offsets; softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx import te
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    LARGEST,
    axes_of,
    axis_of,
    broadcast,
    convert,
    filled,
    int64,
    means,
    need_floats,
    reduced,
    summed,
    wide,
)
from rlx.transform.legalization.result import Result


def _dropped(indices: Sequence[Scalar], axes: Sequence[int]) -> list[Scalar]:
    """Indices in a tensor whose axes are of length 1."""
    return [int64(0) if a in axes else v for a, v in enumerate(indices)]


def _along(parameter: te.Tensor, axes: Sequence[int], indices: Sequence[Scalar]) -> Scalar:
    """The element of a learnt tensor over some axes."""
    return wide(parameter(*(indices[a] for a in axes)))


def _normed(x: te.Tensor, over: Sequence[int], epsilon: float) -> te.Tensor:
    """Zero mean and unit variance over axes; the variance is that of the elements themselves."""
    middle = means(x, over, "T_mean")
    off = te.compute(x.shape, lambda *i: wide(x(*i)) - middle(*_dropped(i, over)), name="T_centred")
    spread = means(off, over, "T_variance", lambda v: v * v)
    root = te.compute(
        spread.shape,
        lambda *i: te.sqrt(spread(*i) + te.const(epsilon, spread.dtype)),
        name="T_deviation",
    )
    return te.compute(  # type: ignore[no-any-return]
        x.shape, lambda *i: off(*i) / root(*_dropped(i, over)), name="T_normed"
    )


def _scaled(
    value: Scalar,
    gamma: te.Tensor,
    beta: te.Tensor,
    axes: Sequence[int],
    indices: Sequence[Scalar],
    center: int,
    scale: int,
) -> Scalar:
    if scale:
        value = value * _along(gamma, axes, indices)
    return value + _along(beta, axes, indices) if center else value


def layer_norm(
    out: Result,
    x: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    over: Sequence[int],
    epsilon: float,
    center: int,
    scale: int,
) -> te.Tensor:
    """Zero mean and unit variance over the axes, then scale and offset."""
    need_floats(x.dtype)
    axes = axes_of(over, x.ndim)
    made = _normed(x, axes, epsilon)
    return filled(
        out, lambda *i: convert(_scaled(made(*i), gamma, beta, axes, i, center, scale), out.dtype)
    )


def rms_norm(
    out: Result, x: te.Tensor, weight: te.Tensor, over: Sequence[int], epsilon: float
) -> te.Tensor:
    """Unit mean square over the axes, then scale."""
    need_floats(x.dtype)
    axes = axes_of(over, x.ndim)
    square = means(x, axes, "T_square", lambda v: wide(v) * wide(v))

    def element(*i: Scalar) -> Scalar:
        mean = square(*_dropped(i, axes))
        made = wide(x(*i)) / te.sqrt(mean + te.const(epsilon, mean.dtype))
        return convert(made * _along(weight, axes, i), out.dtype)

    return filled(out, element)


def group_norm(
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
    """Zero mean and unit variance over groups of channels, then scale and offset."""
    need_floats(x.dtype)
    axis = axis_of(channel, x.ndim)
    each = x.shape[axis] // int64(groups)
    shape = [*x.shape[:axis], int64(groups), each, *x.shape[axis + 1 :]]
    split = te.compute(
        shape,
        lambda *i: x(*i[:axis], i[axis] * each + i[axis + 1], *i[axis + 2 :]),
        name="T_groups",
    )
    axes = [axis + 1, *(k if k < axis else k + 1 for k in axes_of(over, x.ndim) if k != axis)]
    made = _normed(split, axes, epsilon)

    def element(*i: Scalar) -> Scalar:
        at = [*i[:axis], i[axis] // each, i[axis] % each, *i[axis + 1 :]]
        return convert(_scaled(made(*at), gamma, beta, (axis,), i, center, scale), out.dtype)

    return filled(out, element)


def instance_norm(
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
    """Zero mean and unit variance for each channel of each example, then scale and offset."""
    need_floats(x.dtype)
    axis = axis_of(channel, x.ndim)
    made = _normed(x, axes_of(over, x.ndim), epsilon)
    return filled(
        out,
        lambda *i: convert(_scaled(made(*i), gamma, beta, (axis,), i, center, scale), out.dtype),
    )


def batch_norm(
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
    """Zero mean and unit variance for each channel, and the new running mean and variance."""
    need_floats(x.dtype)
    axis = axis_of(channel, x.ndim)
    rest = [k for k in range(x.ndim) if k != axis]
    used: tuple[te.Tensor, te.Tensor] = (mean, variance)
    if training:
        used = _moments(x, rest, axis)

    def element(*i: Scalar) -> Scalar:
        centred = wide(x(*i)) - wide(used[0](i[axis]))
        made = centred / te.sqrt(wide(used[1](i[axis])) + te.const(epsilon, centred.dtype))
        return convert(_scaled(made, gamma, beta, (axis,), i, center, scale), out[0].dtype)

    def running(target: Result, old: te.Tensor, new: te.Tensor, name: str) -> te.Tensor:
        def value(i: Scalar) -> Scalar:
            before, now = wide(old(i)), wide(new(i))
            if not training:
                return convert(before, target.dtype)
            step = te.const(momentum, now.dtype)
            return convert((te.const(1, now.dtype) - step) * before + step * now, target.dtype)

        return filled(target, value, name)

    return (
        filled(out[0], element),
        running(out[1], mean, used[0], "T_running_mean"),
        running(out[2], variance, used[1], "T_running_variance"),
    )


def _moments(x: te.Tensor, rest: Sequence[int], axis: int) -> tuple[te.Tensor, te.Tensor]:
    """Mean and variance of each channel."""
    middle = means(x, rest, "T_mean")
    off = te.compute(x.shape, lambda *i: wide(x(*i)) - middle(*_dropped(i, rest)), name="T_centred")
    spread = means(off, rest, "T_variance", lambda v: v * v)

    def line(of: te.Tensor, name: str) -> Any:
        return te.compute(
            (x.shape[axis],),
            lambda i: of(*(i if k == axis else int64(0) for k in range(x.ndim))),
            name=name,
        )

    return line(middle, "T_channel_mean"), line(spread, "T_channel_variance")


def _off_largest(x: te.Tensor, along: int) -> te.Tensor:
    top = reduced(x, (along,), LARGEST, "T_top")
    return te.compute(  # type: ignore[no-any-return]
        x.shape, lambda *i: wide(x(*i)) - top(*_dropped(i, (along,))), name="T_off"
    )


def softmax(out: Result, x: te.Tensor, axis: int) -> te.Tensor:
    """Positive elements that sum to 1 along an axis."""
    need_floats(x.dtype)
    along = axis_of(axis, x.ndim)
    off = _off_largest(x, along)
    raised = te.compute(x.shape, lambda *i: te.exp(off(*i)), name="T_exp")
    whole = summed(raised, (along,), "T_total")
    return filled(out, lambda *i: convert(raised(*i) / whole(*_dropped(i, (along,))), out.dtype))


def log_softmax(out: Result, x: te.Tensor, axis: int) -> te.Tensor:
    """The logarithms of the softmax."""
    need_floats(x.dtype)
    along = axis_of(axis, x.ndim)
    off = _off_largest(x, along)
    whole = summed(off, (along,), "T_total", te.exp)
    return filled(
        out, lambda *i: convert(off(*i) - te.log(whole(*_dropped(i, (along,)))), out.dtype)
    )


def prelu(out: Result, x: te.Tensor, alpha: te.Tensor, axis: int) -> te.Tensor:
    """Negative elements scaled by a learned slope for each channel."""
    need_floats(x.dtype)
    along = axis_of(axis, x.ndim)

    def element(*i: Scalar) -> Scalar:
        value = wide(x(*i))
        slope = wide(broadcast(alpha, (i[along],)))
        return convert(te.select(value > te.const(0, value.dtype), value, value * slope), out.dtype)

    return filled(out, element)
