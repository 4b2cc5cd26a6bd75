"""Selection of elements by conditions, and their indices and counts."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import INT32, INT64
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.binary import shaped
from rlx.operators.dim_arithmetic import ONE, const
from rlx.operators.parameters import IntExpr, Prim, Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import (
    agree,
    axis,
    elements,
    fields,
    like,
    rank,
    ranked,
    resized,
    tensor,
)
from rlx.operators.site import Dims, Site


@operator(
    "relax.where",
    calls="""
    bool(a, b), x(a, b) | x(b) | x() | x(1, b), x(a, b) | x(a, 1) | x()
    bool(), x(a), x(a)
    """,
)
def where(site: Site, condition: Tensor, x1: Tensor, x2: Tensor) -> StructInfo:
    """Elements of one tensor where a condition holds, of another elsewhere."""
    elements(site, condition, 0, "bool")
    return shaped(site, (condition, x1, x2), agree(site, (x1, x2), (1, 2)))


@operator("relax.nonzero", calls="x(a, b) | x(a)")
def nonzero(site: Site, x: Tensor) -> StructInfo:
    """The indices of the nonzero elements: one row per axis, one column per element."""
    ndim = site.rank(x)
    if ndim is None:
        return ranked(2, INT64, x.vdevice)
    return tensor((const(max(ndim, 1)), site.ctx.fresh_dim("nonzero")), INT64, x.vdevice)


@operator("relax.bucketize", calls="f(a, b) | f(a), f(5), out_int32=None | True, right=None | True")
def bucketize(
    site: Site,
    input_tensor: Tensor,
    boundaries: Tensor,
    out_int32: int = False,
    right: int = False,
) -> StructInfo:
    """The number of boundaries below each element."""
    rank(site, boundaries, 1, 1)
    return like(input_tensor, INT32 if out_int32 else INT64)


@operator(
    "relax.unique",
    calls="""
    x(a), sorted=None | True, return_index=None | True, return_inverse=None | True, return_counts=None | True
    x(a, b), axis=0 | None
    """,
)
def unique(
    site: Site,
    x: Tensor,
    sorted_: Prim = ONE,
    return_index: IntExpr = False,
    return_inverse: IntExpr = False,
    return_counts: IntExpr = False,
    axis_: IntExpr | None = None,
) -> StructInfo:
    """The distinct elements (or slices along an axis), and optionally their indices and counts."""
    ndim, dims = site.rank(x), site.dims(x)
    along = axis(site, axis_, ndim) if axis_ is not None and ndim is not None else 0
    number: PrimExpr = ONE if ndim == 0 else site.ctx.fresh_dim("unique")
    every: Dims | None
    if axis_ is None:
        values, every = tensor((number,), x.dtype, x.vdevice), None
    elif ndim is None or dims is None:
        values, every = ranked(ndim, x.dtype, x.vdevice), None
    else:
        values = resized(x, (*dims[:along], number, *dims[along + 1 :]), ndim)
        every = (dims[along],)
    results = [values]
    if return_index:
        results.append(tensor((number,), INT64, x.vdevice))
    if return_inverse:
        results.append(
            ranked(1, INT64, x.vdevice) if every is None else tensor(every, INT64, x.vdevice)
        )
    if return_counts:
        results.append(tensor((number,), INT64, x.vdevice))
    return results[0] if len(results) == 1 else fields(results)
