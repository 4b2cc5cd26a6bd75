"""Sorting along an axis, and draws from a distribution."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import INT32, INT64, VOID
from rlx.grammar.nodes.tir import GE
from rlx.operators.dim_arithmetic import const, literal
from rlx.operators.parameters import Count, Tensor, Type
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import (
    axis,
    choice,
    elements,
    fields,
    like,
    rank,
    ranked,
    resized,
)
from rlx.operators.site import Dims, Site, show
from rlx.spec.registry import rule


@operator("relax.sort", calls="t(a, b) | t(a), axis=None | 0 | -1, descending=None | True")
def sort(site: Site, x: Tensor, axis_: int = -1, descending: int = False) -> StructInfo:
    """The elements in order along an axis."""
    ndim = site.rank(x)
    if ndim is not None:
        axis(site, axis_, ndim, x)
    return x


@operator(
    "relax.argsort",
    calls="t(a, b) | t(a), axis=None | 0 | -1, descending=None | True, dtype=None | 'int64'",
)
def argsort(
    site: Site, data: Tensor, axis: int = -1, descending: int = False, dtype: Type | None = INT32
) -> StructInfo:
    """The indices of the sorted elements along an axis."""
    return like(sort(site, data, axis, descending), dtype or VOID)  # type: ignore[arg-type]


@rule("OBL-topk", "5c9418c1", "obligation")
def chosen(site: Site, dims: Dims, along: int, count: int) -> None:
    """Check that the axis has at least k elements."""
    length = dims[along]
    if literal(length) is not None and (literal(length) or 0) >= count:
        site.ctx.discharged += 1
        return
    site.require(
        "OBL-topk-count",
        GE(length, const(count)),
        lambda: f"k is {count}, but axis {along} has length {show(length)} {site.of(0)}",
        0,
    )


@operator(
    "relax.topk",
    calls="""
    f(a, 8), k=2 | 1 | 8 | -1, axis=-1 | 1, ret_type=None | 'values' | 'indices', largest=None | False, dtype=None | 'int64'
    f(8), k=3 | 0, axis=None
    """,
)
def topk(
    site: Site,
    data: Tensor,
    k: Count = 1,
    axis_: int = -1,
    ret_type: str = "both",
    largest: int = True,
    dtype: Type | None = INT32,
) -> StructInfo:
    """The first ``k`` sorted elements along an axis (all, if ``k`` is not positive), and their
    indices.
    """
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is None or dims is None:
        values = ranked(ndim, data.dtype, data.vdevice)
    else:
        along = axis(site, axis_, ndim)
        values = data
        if k > 0:
            chosen(site, dims, along, k)
            values = resized(data, (*dims[:along], const(k), *dims[along + 1 :]), ndim)
    places = like(values, dtype or VOID)
    choice(site, "ret_type", ret_type, ("both", "values", "indices"))
    return {"values": values, "indices": places}.get(ret_type) or fields((values, places))


@rule("OBL-draws", "d8e9a2f9", "obligation")
def draws(site: Site, sample: TensorStructInfo, indices: TensorStructInfo) -> None:
    """Check that samples and indices are columns of equal length."""
    a, b = site.dims(sample), site.dims(indices)
    for index, dims in ((1, a), (2, b)):
        if dims is not None:
            site.equal(
                "OBL-draws-column",
                dims[1],
                const(1),
                lambda index=index: f"{site.shown(index)} must have shape (n, 1)",  # type: ignore[misc]
                index,
            )
    if a is not None and b is not None:
        site.equal(
            "OBL-draws-count",
            a[0],
            b[0],
            lambda: (
                f"{show(a[0])} samples {site.of(1)} do not match {show(b[0])} indices {site.of(2)}"
            ),
            2,
        )


@operator(
    "relax.multinomial_from_uniform",
    calls="float32(a, b), float32(c, 1), int64(c, 1), dtype=None | 'int32'",
)
def multinomial(
    site: Site,
    prob: Tensor,
    uniform_sample: Tensor,
    sample_indices: Tensor,
    dtype: Type = INT64,
) -> StructInfo:
    """One draw from a row's distribution for each uniform sample."""
    elements(site, prob, 0, "float")
    elements(site, uniform_sample, 1, "float")
    elements(site, sample_indices, 2, "signed")
    for index, info in enumerate((prob, uniform_sample, sample_indices)):
        rank(site, info, index, 2)
    draws(site, uniform_sample, sample_indices)
    return like(uniform_sample, dtype or VOID)
