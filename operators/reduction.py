"""Many elements to one: reductions over axes, arguments of extrema, running sums."""

from __future__ import annotations

from rlx.grammar.ast import StructInfo, TensorStructInfo
from rlx.grammar.dtype import INT64, DataType
from rlx.operators.declare import operator
from rlx.operators.dims import ONE, product
from rlx.operators.evaluation import late
from rlx.operators.site import Dims, Site
from rlx.operators.tensors import axes, axis, fields, like, ranked, resized

PLAIN = "max mean min prod std sum variance"


def reduced(
    site: Site, x: TensorStructInfo, given: tuple[int, ...] | None, keepdims: int
) -> TensorStructInfo:
    """The tensor without the axes reduced over (all if none is named), or with length 1 there."""
    ndim, dims = site.rank(x), site.dims(x)
    if ndim is None:
        return ranked(0 if given is None and not keepdims else None, x.dtype, x.vdevice)
    over = set(range(ndim)) if given is None else set(axes(site, given, ndim))
    if dims is None:
        if len(over) == ndim:
            return resized(x, (ONE,) * ndim if keepdims else (), None)
        return ranked(ndim if keepdims else ndim - len(over), x.dtype, x.vdevice)
    if keepdims:
        return resized(x, tuple([ONE if k in over else dim for k, dim in enumerate(dims)]), None)
    return resized(x, tuple([dim for k, dim in enumerate(dims) if k not in over]), None)


for _name in PLAIN.split():
    operator(
        f"relax.{_name}",
        "x, axis: ints? = None, keepdims: int = False",
        evaluate=late("reduction.reduction", _name),
    )(reduced)


@operator(
    "relax.argmax",
    "x, axis: int? = None, keepdims: int = False",
    evaluate=late("reduction.arg_reduction", "argmax"),
)
@operator(
    "relax.argmin",
    "x, axis: int? = None, keepdims: int = False",
    evaluate=late("reduction.arg_reduction", "argmin"),
)
def arg_reduced(site: Site, x: TensorStructInfo, given: int | None, keepdims: int) -> StructInfo:
    """Where the extremum along an axis (of all elements if none is named) stands."""
    return like(reduced(site, x, None if given is None else (given,), keepdims), INT64)


@operator(
    "relax.median",
    "x, axis: ints? = None, keepdims: int = False",
    evaluate=late("reduction.median"),
)
def median(
    site: Site, data: TensorStructInfo, given: tuple[int, ...] | None, keepdims: int
) -> StructInfo:
    """The median; along one axis also where it stands."""
    values = reduced(site, data, given, keepdims)
    if given is None or len(given) > 1:
        return values
    return fields((values, like(values, INT64)))


@operator(
    "relax.cumsum",
    "data, axis: int? = None, dtype: dtype? = None, exclusive: int = False",
    evaluate=late("reduction.scan", "cumsum"),
)
@operator(
    "relax.cumprod",
    "data, axis: int? = None, dtype: dtype? = None, exclusive: int = False",
    evaluate=late("reduction.scan", "cumprod"),
)
def scan(
    site: Site,
    data: TensorStructInfo,
    given: int | None,
    kind: DataType | None,
    exclusive: int,
) -> StructInfo:
    """Running sums or products along an axis; of all elements in a row if none is named."""
    ndim, dims = site.rank(data), site.dims(data)
    result = data if kind is None else like(data, kind)
    if given is None:
        flat: Dims | None = None if dims is None else (product(dims),)
        return result if ndim == 1 else resized(result, flat, 1)
    if ndim is not None:
        axis(site, given, ndim, result)
    return result
