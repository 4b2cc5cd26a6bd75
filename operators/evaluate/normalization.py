"""Normalisation over axes, with learned scales and offsets; softmax."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlx.operators.evaluate.arrays import Array, axes_of, axis_of, back, mean, quiet, wide
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


def _normed(x: Array, over: tuple[int, ...], epsilon: float) -> Array:
    """Zero mean and unit variance over axes; the variance is that of the elements themselves."""
    off: Array = x - mean(x, axis=over, keepdims=True)
    variance = mean(off * off, axis=over, keepdims=True)
    off /= np.sqrt(variance + x.dtype.type(epsilon))
    return off


@rule("E-scale", "249ca993", "computation")
def _along(x: Array, parameter: Array, axes: Sequence[int]) -> Array:
    """A learnt tensor in the shape in which it broadcasts over ``x``."""
    shape = [x.shape[k] if k in axes else 1 for k in range(x.ndim)]
    wanted = tuple(x.shape[k] for k in axes)
    if parameter.shape != wanted:
        raise OperatorFault(
            "E-scale-length",
            (f"a parameter of shape {parameter.shape} does not fit axes of lengths {wanted}"),
        )
    order = np.argsort(axes, kind="stable")
    return wide(parameter).transpose(order).reshape(shape)


def _scaled(
    x: Array, gamma: Array, beta: Array, axes: Sequence[int], center: int, scale: int
) -> Array:
    """Scale and offset of an array that is new, in place."""
    if scale:
        x *= _along(x, gamma, axes)
    if center:
        x += _along(x, beta, axes)
    return x


def layer_norm(
    x: Array,
    gamma: Array,
    beta: Array,
    over: tuple[int, ...],
    epsilon: float,
    center: int,
    scale: int,
) -> Array:
    """Zero mean and unit variance over the axes, then scale and offset."""
    axes = axes_of(over, x.ndim)
    if not x.size:
        return x.copy()
    made = quiet(_normed, wide(x), axes, epsilon)
    return back(quiet(_scaled, made, gamma, beta, axes, center, scale), x.dtype)


def rms_norm(x: Array, weight: Array, over: tuple[int, ...], epsilon: float) -> Array:
    """Unit mean square over the axes, then scale."""
    axes, w = axes_of(over, x.ndim), wide(x)
    if not x.size:
        return x.copy()
    square = mean(w * w, axis=axes, keepdims=True)
    made = w / np.sqrt(square + w.dtype.type(epsilon))
    return back(quiet(lambda: made * _along(w, weight, axes)), x.dtype)


def group_norm(
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
    """Zero mean and unit variance over groups of channels, then scale and offset."""
    axis = axis_of(channel, x.ndim)
    if groups < 1 or x.shape[axis] % groups:
        raise OperatorFault(
            "E-scale-length", f"{groups} groups do not divide {x.shape[axis]} channels"
        )
    if not x.size:
        return x.copy()
    split = (*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :])
    axes = [k if k < axis else k + 1 for k in axes_of(over, x.ndim) if k != axis]
    made = quiet(_normed, wide(x).reshape(split), (axis + 1, *axes), epsilon).reshape(x.shape)
    return back(_scaled(made, gamma, beta, (axis,), center, scale), x.dtype)


def instance_norm(
    x: Array,
    gamma: Array,
    beta: Array,
    channel: int,
    over: tuple[int, ...],
    epsilon: float,
    center: int,
    scale: int,
) -> Array:
    """Zero mean and unit variance for each channel of each example, then scale and offset."""
    axis = axis_of(channel, x.ndim)
    if not x.size:
        return x.copy()
    made = quiet(_normed, wide(x), axes_of(over, x.ndim), epsilon)
    return back(_scaled(made, gamma, beta, (axis,), center, scale), x.dtype)


def batch_norm(
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
    """Zero mean and unit variance for each channel, and the new running mean and variance."""
    axis, w = axis_of(channel, x.ndim), wide(x)
    rest = tuple(k for k in range(x.ndim) if k != axis)
    old = wide(mean), wide(variance)
    used = old
    new = old
    if training:
        # Of no examples there is no mean: it is NaN.
        used = (np.mean(w, axis=rest), np.var(w, axis=rest)) if x.size else (old[0] * np.nan,) * 2
        step = w.dtype.type(momentum)
        new = tuple((1 - step) * o + step * u for o, u in zip(old, used, strict=True))
    centred = w - _along(w, used[0], (axis,))
    made = quiet(lambda: centred / np.sqrt(_along(w, used[1], (axis,)) + w.dtype.type(epsilon)))
    result = _scaled(made, gamma, beta, (axis,), center, scale)
    return back(result, x.dtype), back(new[0], mean.dtype), back(new[1], variance.dtype)


def _raised(x: Array, axis: int) -> Array:
    off = x - np.max(x, axis=axis, keepdims=True)
    return np.asarray(np.exp(off, out=off))


def softmax(x: Array, axis: int) -> Array:
    """Positive elements that sum to 1 along an axis."""
    if not x.size:
        return x.copy()
    w, along = wide(x), axis_of(axis, x.ndim)
    raised = quiet(_raised, w, along)
    raised /= np.sum(raised, axis=along, keepdims=True)
    return back(raised, x.dtype)


def log_softmax(x: Array, axis: int) -> Array:
    """The logarithms of the softmax."""
    if not x.size:
        return x.copy()
    w, along = wide(x), axis_of(axis, x.ndim)
    off = w - np.max(w, axis=along, keepdims=True)
    total = np.sum(np.exp(off), axis=along, keepdims=True)
    return back(quiet(lambda: off - np.log(total)), x.dtype)


def prelu(x: Array, alpha: Array, axis: int) -> Array:
    """Negative elements scaled by a learned slope for each channel."""
    w, along = wide(x), axis_of(axis, x.ndim)
    slope = wide(alpha) if alpha.shape == (1,) else _along(w, alpha, (along,))
    return back(np.where(w > 0, w, quiet(lambda: w * slope)), x.dtype)
