"""Losses, and gradients that are operators themselves."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.indexing import take
from rlx.operators.parameters import Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import agree, choice, elements, gradient, rank, tensor
from rlx.operators.site import Behind, Site, show, show_shape
from rlx.spec.registry import rule


@operator(
    "relax.nn.cross_entropy_with_logits",
    calls="""
    f(a, b), f(a, b)
    f(a), f(a)
    """,
)
def cross_entropy(site: Site, predictions: Tensor, labels: Tensor) -> StructInfo:
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


@rule("OBL-loss", "758909c0", "obligation")
def losses(site: Site, wanted: Sequence[PrimExpr], found: Sequence[PrimExpr], index: int) -> None:
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
)
def nll_loss(
    site: Site,
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
    if reduction != "none":
        return tensor((), predictions.dtype, predictions.vdevice)
    if dims is not None:
        return tensor((*dims[:1], *dims[2:]) if len(dims) > 1 else (), predictions.dtype)
    return TensorStructInfo(targets.shape, predictions.dtype, targets.ndim, predictions.vdevice)


@operator(
    "relax.grad.nll_loss_backward",
    calls="""
    f(), f(a, b), i(a)
    f(), f(a, b), i(a), f(b)
    """,
)
def nll_loss_backward(
    site: Site,
    output_grad: Tensor,
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> StructInfo:
    """The gradient of the negative log likelihood with respect to the predictions."""
    inner = Behind(site.operator, site.call, site.ctx)
    found = nll_loss(inner, predictions, targets, weights, reduction, ignore_index)
    gradient(site, output_grad, found)
    return predictions


@operator(
    "relax.grad.take_backward",
    calls="""
    f(c, b), f(a, b), i(c), axis=0
    f(a, c), f(a, b), i(c), axis=1
    """,
)
def take_backward(
    site: Site,
    output_grad: Tensor,
    x: Tensor,
    indices: Tensor,
    axis: int | None = None,
    mode: str = "fast",
) -> StructInfo:
    """The gradient of `take` with respect to the data."""
    inner = Behind(site.operator, site.call, site.ctx)
    gradient(site, output_grad, take(inner, x, indices, axis, mode))
    return x
