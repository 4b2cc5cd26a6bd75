"""Reductions over axes, arguments of extrema, scans."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import INT64
from rlx.operators.dim_arithmetic import ONE, product
from rlx.operators.parameters import Ints, Tensor, Type
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import axes, axis, fields, like, ranked, resized
from rlx.operators.site import Dims, Site

PLAIN = "max mean min prod std sum variance"
_CALLS = """
t(a, b), axis=None | 0 | -1 | [0, 1], keepdims=None | True
f(a, 3, b), axis=None | 1 | [0, 2] | [-1], keepdims=None | True
"""


def reduced(
    site: Site, x: Tensor, axis: Ints | None = None, keepdims: int = False
) -> TensorStructInfo:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""
    ndim, dims = site.rank(x), site.dims(x)
    if ndim is None:
        return ranked(0 if axis is None and not keepdims else None, x.dtype, x.vdevice)
    over = set(range(ndim)) if axis is None else set(axes(site, axis, ndim))
    if dims is None:
        if len(over) == ndim:
            return resized(x, (ONE,) * ndim if keepdims else (), None)
        return ranked(ndim if keepdims else ndim - len(over), x.dtype, x.vdevice)
    if keepdims:
        return resized(x, tuple([ONE if k in over else dim for k, dim in enumerate(dims)]), None)
    return resized(x, tuple([dim for k, dim in enumerate(dims) if k not in over]), None)


for _name in PLAIN.split():
    operator(f"relax.{_name}", calls=_CALLS)(reduced)


@operator(
    "relax.argmax",
    calls="""
    t(a, b), axis=None | 0 | -1, keepdims=None | True
    f(a, 3, b), axis=1 | None
    """,
)
@operator(
    "relax.argmin",
    calls="""
    t(a, b), axis=None | 0 | -1, keepdims=None | True
    f(a, 3, b), axis=1 | None
    """,
)
def arg_reduced(
    site: Site, x: Tensor, axis: int | None = None, keepdims: int = False
) -> StructInfo:
    """The index of the extremum along an axis (of all elements if no axis is named)."""
    return like(reduced(site, x, None if axis is None else (axis,), keepdims), INT64)


@operator(
    "relax.median",
    calls=_CALLS,
)
def median(site: Site, x: Tensor, axis: Ints | None = None, keepdims: int = False) -> StructInfo:
    """The median; along one axis, also its index."""
    values = reduced(site, x, axis, keepdims)
    if axis is None or len(axis) > 1:
        return values
    return fields((values, like(values, INT64)))


@operator(
    "relax.cumsum",
    calls="""
    t(a, b), axis=None | 0 | -1, dtype=None | 'float32' | 'int64', exclusive=None | True
    f(a)
    """,
)
@operator(
    "relax.cumprod",
    calls="""
    t(a, b), axis=None | 0 | -1, dtype=None | 'float32' | 'int64', exclusive=None | True
    f(a)
    """,
)
def scan(
    site: Site,
    data: Tensor,
    axis_: int | None = None,
    dtype: Type | None = None,
    exclusive: int | None = False,
) -> StructInfo:
    """Cumulative sums or products along an axis, or of the flattened tensor if no axis is named."""
    ndim, dims = site.rank(data), site.dims(data)
    result = data if dtype is None else like(data, dtype)
    if axis_ is None:
        flat: Dims | None = None if dims is None else (product(dims),)
        return result if ndim == 1 else resized(result, flat, 1)
    if ndim is not None:
        axis(site, axis_, ndim, result)
    return result
