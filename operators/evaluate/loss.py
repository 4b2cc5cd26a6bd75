"""Losses, and gradients that are operators themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, axis_of, back, need_numbers, quiet, wide
from rlx.operators.evaluate.indexing import from_zero
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-loss", "92cf728d", "computation")
def _agree(found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if found != wanted:
        raise OperatorFault(
            "E-loss-dims", (f"targets of shape {found} do not fit predictions of shape {wanted}")
        )


def cross_entropy_with_logits(predictions: Array, labels: Array) -> Array:
    """The mean cross entropy of two distributions."""
    _agree(labels.shape, predictions.shape)
    p = wide(predictions)
    total = -np.sum(p * wide(labels))
    if p.ndim > 1:
        total = quiet(np.divide, total, p.dtype.type(p.shape[0]))
    return back(total, predictions.dtype)


def _picked(
    predictions: Array, targets: Array, weights: Array | None, ignore: int
) -> tuple[Array, Array, Array]:
    """Of each target, its class, its weight (0 where it is ignored), and whether it counts."""
    classes = predictions.shape[0 if predictions.ndim == 1 else 1]
    lead = predictions.shape[:1] if predictions.ndim > 1 else ()
    _agree(targets.shape, (*lead, *predictions.shape[2:]))
    counts = targets != ignore
    chosen = from_zero(np.where(counts, targets, 0), classes, negative=False)
    p = wide(predictions)
    weight = np.ones(classes, p.dtype) if weights is None else wide(weights)
    return chosen, np.where(counts, weight[chosen], 0).astype(p.dtype), counts


def nll_loss(
    predictions: Array, targets: Array, weights: Array | None, reduction: str, ignore: int
) -> Array:
    """The negative log likelihood of the targets' classes: for each, or their weighted mean or
    sum.
    """
    need_numbers("nll_loss", predictions)
    chosen, weight, _ = _picked(predictions, targets, weights, ignore)
    p = wide(predictions)
    axis = 0 if p.ndim == 1 else 1
    picked = np.take_along_axis(p, np.expand_dims(chosen, axis), axis)
    each = -np.squeeze(picked, axis) * weight
    if reduction == "none":
        return back(each, predictions.dtype)
    total = np.sum(each)
    return back(
        total if reduction == "sum" else quiet(np.divide, total, np.sum(weight)), predictions.dtype
    )


def nll_loss_backward(
    gradient: Array,
    predictions: Array,
    targets: Array,
    weights: Array | None,
    reduction: str,
    ignore: int,
) -> Array:
    """The gradient of :func:`nll_loss` with respect to the predictions."""
    need_numbers("nll_loss_backward", predictions, gradient)
    chosen, weight, _ = _picked(predictions, targets, weights, ignore)
    g = wide(gradient)
    each = -weight * g if reduction != "mean" else quiet(np.divide, -weight * g, np.sum(weight))
    axis = 0 if predictions.ndim == 1 else 1
    result = np.zeros(predictions.shape, g.dtype)
    np.put_along_axis(
        result, np.expand_dims(chosen, axis), np.expand_dims(each.astype(g.dtype), axis), axis
    )
    return back(result, predictions.dtype)


def take_backward(gradient: Array, x: Array, indices: Array, axis: int | None, mode: str) -> Array:
    """The gradient of `take` with respect to its first operand."""
    along = axis_of(axis or 0, x.ndim)
    given = indices
    if mode == "wrap":
        given = np.mod(indices, x.shape[along])
    elif mode == "clip":
        given = np.clip(indices, 0, x.shape[along] - 1)
    result = np.zeros(x.shape, wide(x).dtype)
    where: Any = (*[slice(None)] * along, from_zero(given, x.shape[along], negative=False))
    np.add.at(result, where, wide(gradient))
    return back(result, x.dtype)
