"""Conversions between tensors and shapes."""

from __future__ import annotations

from rlx.grammar.nodes.ast import (
    Constant,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
)
from rlx.grammar.nodes.dtype import INT64
from rlx.operators.argument_kinds import NULL
from rlx.operators.dim_arithmetic import const, literal
from rlx.operators.parameters import Tensor, WholeShape
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import elements, known, rank, ranked, tensor
from rlx.operators.site import Site


@operator("relax.shape_of", calls="x(a, b) | x(a) | x() | x(a, 3, b)")
def shape_of(site: Site, expr: Tensor) -> StructInfo:
    """The shape of a tensor."""
    dims, ndim = site.dims(expr), site.rank(expr)
    return ShapeStructInfo(dims, -1 if ndim is None else ndim)


@operator("relax.size", calls="x(a, b) | x(a) | x()")
def size(site: Site, expr: Tensor) -> StructInfo:
    """The number of elements of a tensor, as a tensor."""
    return tensor((), INT64, expr.vdevice)


@operator("relax.tensor_to_shape", calls="int64(3) | int64(2) | int64(1)")
def tensor_to_shape(site: Site, expr: Tensor) -> StructInfo:
    """The shape whose dimensions are the elements of a vector of integers."""
    elements(site, expr, 0, "integer")
    rank(site, expr, 0, 1)
    known(site, "rank", (0, expr))
    given = site.argument(0)
    if isinstance(given, Constant) and isinstance(given.data.value, tuple):
        values = given.data.value
        return ShapeStructInfo(tuple(const(value) for value in values), len(values))
    dims = site.dims(expr)
    count = None if dims is None else literal(dims[0])
    if count is None or count > 64:
        return ShapeStructInfo(None, -1 if count is None else count)
    return ShapeStructInfo(tuple(site.ctx.fresh_dim(f"dim{k}") for k in range(count)), count)


@operator("relax.shape_to_tensor", calls="shape(a, b) | shape(a) | shape(2, 3)")
def shape_to_tensor(site: Site, expr: WholeShape) -> StructInfo:
    """A vector of the dimensions of a shape."""
    if isinstance(expr, ShapeExpr):
        return tensor((const(len(expr.values)),), INT64)
    info = site.ctx.info(expr)
    if isinstance(info, ShapeStructInfo) and info.ndim >= 0:
        return tensor((const(info.ndim),), INT64)
    return ranked(1, INT64)


@operator("relax.null_value")
def null_value(site: Site) -> StructInfo:
    """The absence of a value, for optional arguments."""
    return NULL
