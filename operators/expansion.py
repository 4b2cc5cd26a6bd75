"""Broadcasting to a shape, and its reverse."""

from __future__ import annotations

from rlx.grammar.nodes.ast import ShapeExpr, StructInfo, TensorStructInfo
from rlx.grammar.nodes.tir import EQ, Or
from rlx.operators.dim_arithmetic import (
    ONE,
    literal,
    same,
)
from rlx.operators.parameters import Shape, Tensor
from rlx.operators.registry import operator
from rlx.operators.reshaping import in_shape
from rlx.operators.site import Dims, Site, show, show_shape
from rlx.spec.registry import rule


@operator(
    "relax.broadcast_to",
    calls="""
    x(a) | x(1, a) | x(b, 1) | x(), shape(b, a)
    x(a, 1), shape(3, a, b)
    """,
)
def broadcast_to(site: Site, x: Tensor, shape: Shape) -> StructInfo:
    """The tensor repeated along axes of length 1 and new leading axes."""
    result, dims = in_shape(site, x, shape), site.dims(x)
    if isinstance(shape, ShapeExpr):
        expands(site, dims, shape.values, 0, result, site.rank(x))
    return result


@rule("OBL-expand", "11439d54", "obligation")
def expands(
    site: Site, dims: Dims | None, wanted: Dims, index: int, best: Tensor, ndim: int | None = None
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
    "relax.collapse_sum_to", calls="t(a, b), shape(b) | shape(1, b) | shape(a, 1) | shape(a, b)"
)
def collapse_sum_to(site: Site, data: Tensor, shape: Shape) -> StructInfo:
    """The reverse of a broadcast: sums over the axes that it would repeat."""
    result, dims = in_shape(site, data, shape), site.dims(data)
    if isinstance(shape, ShapeExpr) and dims is not None:
        expands(site, shape.values, dims, 0, result)
    return result


@operator("relax.collapse_sum_like", calls="t(a, b), t(b) | t(1, b) | t(a, 1) | t(a, b)")
def collapse_sum_like(site: Site, data: Tensor, collapse_target: Tensor) -> StructInfo:
    """The reverse of a broadcast, to the shape of another tensor."""
    dims, wanted = site.dims(data), site.dims(collapse_target)
    result = TensorStructInfo(collapse_target.shape, data.dtype, collapse_target.ndim, data.vdevice)
    if dims is not None and wanted is not None:
        expands(site, wanted, dims, 1, result)
    return result
