"""Losses, and gradients that are operators themselves."""

from __future__ import annotations

from typing import Any

from rlx import te
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    axis_of,
    convert,
    equals,
    filled,
    int64,
    need_floats,
    wide,
)
from rlx.transform.legalization.families.indexing import by_mode, line
from rlx.transform.legalization.result import Result, decline


def cross_entropy_with_logits(out: Result, predictions: te.Tensor, labels: te.Tensor) -> te.Tensor:
    """The mean cross entropy of two distributions."""
    need_floats(predictions.dtype, labels.dtype)
    over = [te.reduce_axis((0, dim), name=f"k{a}") for a, dim in enumerate(predictions.shape)]
    total = te.compute(
        (), lambda: te.sum(wide(predictions(*over)) * wide(labels(*over)), axis=over), name="T_sum"
    )

    def element() -> Scalar:
        found = -total()
        if predictions.ndim > 1:
            found = found / te.cast(found.dtype, predictions.shape[0])
        return convert(found, out.dtype)

    return filled(out, element)


class _Picked:
    """The class and the weight of each target; the weight is 0 where the target is ignored."""

    def __init__(
        self, predictions: te.Tensor, targets: te.Tensor, weights: te.Tensor | None, ignore: int
    ) -> None:
        self.axis = 0 if predictions.ndim == 1 else 1
        self.shape = targets.shape
        classes = predictions.shape[self.axis]
        kind = wide(predictions(*([int64(0)] * predictions.ndim))).dtype
        places = line(classes)

        def counts(*i: Scalar) -> Scalar:
            return ~equals(te.cast("int64", targets(*i)), int64(ignore))

        self.chosen: te.Tensor = te.compute(
            targets.shape,
            lambda *i: places(te.if_then_else(counts(*i), te.cast("int64", targets(*i)), int64(0))),
            name="T_class",
        )

        def weight(*i: Scalar) -> Scalar:
            own = te.const(1, kind) if weights is None else wide(weights(self.chosen(*i)))
            return te.cast(kind, te.if_then_else(counts(*i), own, te.const(0, own.dtype)))

        self.weight: te.Tensor = te.compute(targets.shape, weight, name="T_weight")

    def total(self) -> te.Tensor:
        """The sum of the weights."""
        return _whole(self.weight, "T_weights")


def _whole(x: te.Tensor, name: str) -> te.Tensor:
    over = [te.reduce_axis((0, dim), name=f"k{a}") for a, dim in enumerate(x.shape)]
    if not over:
        return x
    return te.compute((), lambda: te.sum(x(*over), axis=over), name=name)  # type: ignore[no-any-return]


def nll_loss(
    out: Result,
    predictions: te.Tensor,
    targets: te.Tensor,
    weights: te.Tensor | None,
    reduction: str,
    ignore: int,
) -> te.Tensor:
    """The negative log likelihood of the targets' classes: each, their weighted mean or sum."""
    need_floats(predictions.dtype)
    picked = _Picked(predictions, targets, weights, ignore)

    def each_of(*i: Scalar) -> Scalar:
        at = [*i[: picked.axis], picked.chosen(*i), *i[picked.axis :]]
        return -wide(predictions(*at)) * picked.weight(*i)

    each = te.compute(picked.shape, each_of, name="T_loss")
    match reduction:
        case "none":
            return filled(out, lambda *i: convert(each(*i), out.dtype))
        case "sum":
            total = _whole(each, "T_total")
            return filled(out, lambda: convert(total(), out.dtype))
    total, weight = _whole(each, "T_total"), picked.total()
    return filled(out, lambda: convert(total() / weight(), out.dtype))


def nll_loss_backward(
    out: Result,
    gradient: te.Tensor,
    predictions: te.Tensor,
    targets: te.Tensor,
    weights: te.Tensor | None,
    reduction: str,
    ignore: int,
) -> te.Tensor:
    """The gradient of :func:`nll_loss` with respect to the predictions."""
    need_floats(predictions.dtype, gradient.dtype)
    picked = _Picked(predictions, targets, weights, ignore)
    total = picked.total() if reduction == "mean" else None

    def each_of(*i: Scalar) -> Scalar:
        g = wide(gradient(*i) if gradient.ndim else gradient())
        value = -picked.weight(*i) * g
        return te.cast(g.dtype, value / total() if total is not None else value)

    each = te.compute(picked.shape, each_of, name="T_each")

    def element(*i: Scalar) -> Scalar:
        rest = [*i[: picked.axis], *i[picked.axis + 1 :]]
        found = each(*rest)
        hit = equals(picked.chosen(*rest), i[picked.axis])
        return convert(te.if_then_else(hit, found, te.const(0, found.dtype)), out.dtype)

    return filled(out, element)


def take_backward(
    out: Result,
    gradient: te.Tensor,
    x: te.Tensor,
    indices: te.Tensor,
    axis: int | None,
    mode: str,
) -> te.Tensor:
    """The gradient of `take` with respect to its first operand."""
    along = axis_of(axis or 0, x.ndim)
    length = x.shape[along]
    if mode == "nan":
        decline("in mode 'nan' it has no definition")
    places = line(length)

    def index(*j: Scalar) -> Scalar:
        at = te.cast("int64", indices(*j))
        return places(by_mode(at, length, mode))

    at = te.compute(indices.shape, index, name="T_at")
    over = [te.reduce_axis((0, dim), name=f"k{a}") for a, dim in enumerate(indices.shape)]

    def element(*i: Scalar) -> Any:
        value = wide(gradient(*i[:along], *over, *i[along + 1 :]))
        hit = equals(at(*over), i[along])
        held = te.if_then_else(hit, value, te.const(0, value.dtype))
        return te.sum(held, axis=over) if over else held

    made = te.compute(x.shape, element, name="T_taken")
    return filled(out, lambda *i: convert(made(*i), out.dtype))
