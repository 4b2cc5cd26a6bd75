"""Losses, and gradients that are operators themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.indexing import by_mode, extremes, from_zero, line, take, within
from rlx.operators.late import np, te
from rlx.operators.operator_call import ForwardCall, OperatorCall, show, show_shape
from rlx.operators.parameters import Tensor
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import (
    agree,
    choice,
    elements,
    gradient,
    rank,
    stated,
    tensor,
)
from rlx.spec.registry import rule


@operator(
    "relax.nn.cross_entropy_with_logits",
    calls="""
    f(a, b), f(a, b)
    f(a), f(a)
    """,
    broken="OBL-loss-dims: f(a, 3), f(a, 4)",
)
def cross_entropy(site: OperatorCall, predictions: Tensor, labels: Tensor) -> StructInfo:
    """The mean cross entropy of two distributions: a scalar."""
    kind = agree(site, (predictions, labels), booleans=True)
    a, b = site.dims(predictions), site.dims(labels)
    ranks = (site.rank(predictions), site.rank(labels))
    if None not in ranks and ranks[0] != ranks[1]:
        words = f"{site.shown(1)} has rank {ranks[1]}, expected {ranks[0]} {site.of(0)}"
        site.fail("OBL-loss-rank", words, 1)
    if a is not None and b is not None:
        losses(site, a, b, 1)
    return tensor((), kind, predictions.vdevice)


@computes("relax.nn.cross_entropy_with_logits")
def cross_entropy_with_logits_value(predictions: Array, labels: Array) -> Array:
    """The mean cross entropy of two distributions."""
    _agree(labels.shape, predictions.shape)
    p = arrays.wide(predictions)
    total = -np.sum(p * arrays.wide(labels))
    if p.ndim > 1:
        total = arrays.quiet(np.divide, total, p.dtype.type(p.shape[0]))
    return arrays.back(total, predictions.dtype)


@defines("relax.nn.cross_entropy_with_logits")
def cross_entropy_with_logits_definition(
    out: Result, predictions: te.Tensor, labels: te.Tensor
) -> te.Tensor:
    exprs.need_floats(predictions.dtype, labels.dtype)
    over = [te.reduce_axis((0, dim), name=f"k{a}") for a, dim in enumerate(predictions.shape)]
    total = te.compute(
        (),
        lambda: te.sum(exprs.wide(predictions(*over)) * exprs.wide(labels(*over)), axis=over),
        name="T_sum",
    )

    def element() -> Any:
        found = -total()
        if predictions.ndim > 1:
            found = found / te.cast(found.dtype, predictions.shape[0])
        return found

    return exprs.filled(out, element)


@rule("OBL-loss", "obligation")
def losses(
    site: OperatorCall, wanted: Sequence[PrimExpr], found: Sequence[PrimExpr], index: int
) -> None:
    """Check that predictions and targets of a loss agree in every shared dimension."""
    if len(wanted) != len(found):
        site.fail(
            "OBL-loss-rank",
            f"{show_shape(found)} {site.of(index)}, expected {show_shape(wanted)} {site.of(0)}",
            index,
        )
    alike = site.together("OBL-loss-dims", index)
    for a, b in zip(wanted, found, strict=True):
        alike.equal(
            a,
            b,
            lambda a=a, b=b: (  # type: ignore[misc]
                f"{show(b)} of {show_shape(found)} {site.of(index)} must be {show(a)} as"
                f" in {show_shape(wanted)} {site.of(0)}"
            ),
        )
    alike.settle()


REDUCTIONS = ("none", "sum", "mean")


@operator(
    "relax.nn.nll_loss",
    calls="""
    f(a, b), i(a), reduction=None | 'sum' | 'none'
    f(a, b), i(a), f(b), reduction=None | 'none'
    f(a, 4, b), i(a, b), f(4), reduction=None | 'none'
    """,
    broken="""
    OBL-element-integer: f(a, b), float32(a)
    OBL-choice-word: f(a, 4), i(a), reduction='max'
    OBL-loss-rank: f(a, 4, b), i(a)
    OBL-loss-dims: f(3, b), i(4)
    """,
)
def nll_loss(
    site: OperatorCall,
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> StructInfo:
    """The negative log likelihood of the targets' classes: for each, or their mean or sum."""
    elements(site, targets, 1, "integer")
    ndim = rank(site, predictions, 0, 1, -1)
    choice(site, "reduction", reduction, REDUCTIONS)
    aims = site.rank(targets)
    if ndim is not None and aims is not None and aims != ndim - 1:
        words = f"{site.shown(1)} has rank {aims}, expected {ndim - 1}"
        site.fail("OBL-loss-rank", words, 1)
    if weights is not None:
        rank(site, weights, 2, 1)
        agree(site, (predictions, weights), (0, 2), booleans=True)
    dims, wanted = site.dims(predictions), site.dims(targets)
    if dims is not None:
        classes, rest = (dims[0], ()) if len(dims) == 1 else (dims[1], (*dims[:1], *dims[2:]))
        if wanted is not None:
            losses(site, rest, wanted, 1)
        if weights is not None and (found := site.dims(weights)) is not None:
            losses(site, (classes,), found, 2)
        aimed = [n for n in stated(site, site.argument(1)) if n != ignore_index]
        within(site, 1, extremes(aimed), classes, False)
    if reduction != "none":
        return tensor((), predictions.dtype, predictions.vdevice)
    if dims is not None:
        return tensor((*dims[:1], *dims[2:]) if len(dims) > 1 else (), predictions.dtype)
    return TensorStructInfo(targets.shape, predictions.dtype, targets.ndim, predictions.vdevice)


@computes("relax.nn.nll_loss")
def nll_loss_value(
    predictions: Array, targets: Array, weights: Array | None, reduction: str, ignore: int
) -> Array:
    """The negative log likelihood of the targets' classes: for each, or their weighted mean or
    sum.
    """
    arrays.need_numbers("nll_loss", predictions)
    chosen, weight, _ = _picked(predictions, targets, weights, ignore)
    p = arrays.wide(predictions)
    axis = 0 if p.ndim == 1 else 1
    picked = np.take_along_axis(p, np.expand_dims(chosen, axis), axis)
    each = -np.squeeze(picked, axis) * weight
    if reduction == "none":
        return arrays.back(each, predictions.dtype)
    total = np.sum(each)
    return arrays.back(
        total if reduction == "sum" else arrays.quiet(np.divide, total, np.sum(weight)),
        predictions.dtype,
    )


@defines("relax.nn.nll_loss")
def nll_loss_definition(
    out: Result,
    predictions: te.Tensor,
    targets: te.Tensor,
    weights: te.Tensor | None,
    reduction: str,
    ignore: int,
) -> te.Tensor:
    """The negative log likelihood of the targets' classes: each, their weighted mean or sum."""
    exprs.need_floats(predictions.dtype)
    picked = _Picked(predictions, targets, weights, ignore)

    def each_of(*i: te.Scalar) -> te.Scalar:
        at = [*i[: picked.axis], picked.chosen(*i), *i[picked.axis :]]
        return -exprs.wide(predictions(*at)) * picked.weight(*i)

    each = te.compute(picked.shape, each_of, name="T_loss")
    match reduction:
        case "none":
            return exprs.filled(out, each)
        case "sum":
            total = _whole(each, "T_total")
            return exprs.filled(out, total)
    total, weight = _whole(each, "T_total"), picked.total()
    return exprs.filled(out, lambda: total() / weight())


@operator(
    "relax.grad.nll_loss_backward",
    calls="""
    f(), f(a, b), i(a)
    f(), f(a, b), i(a), f(b)
    """,
)
def nll_loss_backward(
    site: OperatorCall,
    output_grad: Tensor,
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> StructInfo:
    """The gradient of the negative log likelihood with respect to the predictions."""
    inner = ForwardCall(site.operator, site.call, site.ctx)
    found = nll_loss(inner, predictions, targets, weights, reduction, ignore_index)
    gradient(site, output_grad, found)
    return predictions


@computes("relax.grad.nll_loss_backward")
def nll_loss_backward_value(
    gradient: Array,
    predictions: Array,
    targets: Array,
    weights: Array | None,
    reduction: str,
    ignore: int,
) -> Array:
    """The gradient of :func:`nll_loss` with respect to the predictions."""
    arrays.need_numbers("nll_loss_backward", predictions, gradient)
    chosen, weight, _ = _picked(predictions, targets, weights, ignore)
    g = arrays.wide(gradient)
    each = (
        -weight * g if reduction != "mean" else arrays.quiet(np.divide, -weight * g, np.sum(weight))
    )
    axis = 0 if predictions.ndim == 1 else 1
    result = np.zeros(predictions.shape, g.dtype)
    np.put_along_axis(
        result, np.expand_dims(chosen, axis), np.expand_dims(each.astype(g.dtype), axis), axis
    )
    return arrays.back(result, predictions.dtype)


@defines("relax.grad.nll_loss_backward")
def nll_loss_backward_definition(
    out: Result,
    gradient: te.Tensor,
    predictions: te.Tensor,
    targets: te.Tensor,
    weights: te.Tensor | None,
    reduction: str,
    ignore: int,
) -> te.Tensor:
    exprs.need_floats(predictions.dtype, gradient.dtype)
    picked = _Picked(predictions, targets, weights, ignore)
    total = picked.total() if reduction == "mean" else None

    def each_of(*i: te.Scalar) -> te.Scalar:
        g = exprs.wide(gradient(*i) if gradient.ndim else gradient())
        value = -picked.weight(*i) * g
        return te.cast(g.dtype, value / total() if total is not None else value)

    each = te.compute(picked.shape, each_of, name="T_each")

    def element(*i: te.Scalar) -> te.Scalar:
        rest = [*i[: picked.axis], *i[picked.axis + 1 :]]
        found = each(*rest)
        hit = exprs.equals(picked.chosen(*rest), i[picked.axis])
        return te.select(hit, found, te.const(0, found.dtype))

    return exprs.filled(out, element)


@operator(
    "relax.grad.take_backward",
    calls="""
    f(c, b), f(a, b), i(c), axis=0
    f(a, c), f(a, b), i(c), axis=1
    """,
    broken="OBL-gradient-dims: f(5), f(9), i(6)",
)
def take_backward(
    site: OperatorCall,
    output_grad: Tensor,
    x: Tensor,
    indices: Tensor,
    axis: int | None = None,
    mode: str = "fast",
) -> StructInfo:
    """The gradient of `take` with respect to the data."""
    inner = ForwardCall(site.operator, site.call, site.ctx)
    gradient(site, output_grad, take(inner, x, indices, axis, mode))
    return x


@computes("relax.grad.take_backward")
def take_backward_value(
    gradient: Array, x: Array, indices: Array, axis: int | None, mode: str
) -> Array:
    """The gradient of `take` with respect to its first operand."""
    along = arrays.axis_of(axis or 0, x.ndim)
    given = indices
    if mode == "wrap":
        given = np.mod(indices, x.shape[along])
    elif mode == "clip":
        given = np.clip(indices, 0, x.shape[along] - 1)
    result = np.zeros(x.shape, arrays.wide(x).dtype)
    where: Any = (*[slice(None)] * along, from_zero(given, x.shape[along], negative=False))
    np.add.at(result, where, arrays.wide(gradient))
    return arrays.back(result, x.dtype)


@defines("relax.grad.take_backward")
def take_backward_definition(
    out: Result, gradient: te.Tensor, x: te.Tensor, indices: te.Tensor, axis: int | None, mode: str
) -> te.Tensor:
    along = exprs.axis_of(axis or 0, x.ndim)
    length = x.shape[along]
    if mode == "nan":
        decline("in mode 'nan' it has no definition")
    places = line(length)

    def index(*j: te.Scalar) -> te.Scalar:
        at = te.cast("int64", indices(*j))
        return places(by_mode(at, length, mode))

    at = te.compute(indices.shape, index, name="T_at")
    over = [te.reduce_axis((0, dim), name=f"k{a}") for a, dim in enumerate(indices.shape)]

    def element(*i: te.Scalar) -> Any:
        value = exprs.wide(gradient(*i[:along], *over, *i[along + 1 :]))
        hit = exprs.equals(at(*over), i[along])
        held = te.if_then_else(hit, value, te.const(0, value.dtype))
        return te.sum(held, axis=over) if over else held

    made = te.compute(x.shape, element, name="T_taken")
    return exprs.filled(out, made)


# ---------------------------------------------------------------- values


@rule("E-loss", "computation")
def _agree(found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if found != wanted:
        raise OperatorFault(
            "E-loss-dims", f"targets of shape {found} do not fit predictions of shape {wanted}"
        )


def _picked(
    predictions: Array, targets: Array, weights: Array | None, ignore: int
) -> tuple[Array, Array, Array]:
    """The class of each target, its weight (0 where it is ignored), and whether it counts."""
    classes = predictions.shape[0 if predictions.ndim == 1 else 1]
    lead = predictions.shape[:1] if predictions.ndim > 1 else ()
    _agree(targets.shape, (*lead, *predictions.shape[2:]))
    counts = targets != ignore
    chosen = from_zero(np.where(counts, targets, 0), classes, negative=False)
    p = arrays.wide(predictions)
    weight = np.ones(classes, p.dtype) if weights is None else arrays.wide(weights)
    return chosen, np.where(counts, weight[chosen], 0).astype(p.dtype), counts


# ---------------------------------------------------------------- definitions


class _Picked:
    """The class and the weight of each target; the weight is 0 where the target is ignored."""

    def __init__(
        self, predictions: te.Tensor, targets: te.Tensor, weights: te.Tensor | None, ignore: int
    ) -> None:
        self.axis = 0 if predictions.ndim == 1 else 1
        self.shape = targets.shape
        classes = predictions.shape[self.axis]
        kind = exprs.wide(predictions(*([exprs.int64(0)] * predictions.ndim))).dtype
        places = line(classes)

        def counts(*i: te.Scalar) -> te.Scalar:
            return ~exprs.equals(te.cast("int64", targets(*i)), exprs.int64(ignore))

        self.chosen: te.Tensor = te.compute(
            targets.shape,
            lambda *i: places(
                te.if_then_else(counts(*i), te.cast("int64", targets(*i)), exprs.int64(0))
            ),
            name="T_class",
        )

        def weight(*i: te.Scalar) -> te.Scalar:
            own = te.const(1, kind) if weights is None else exprs.wide(weights(self.chosen(*i)))
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
