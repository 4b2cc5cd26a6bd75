"""Between tensors and shapes."""

from __future__ import annotations

from rlx.grammar.ast import (
    Constant,
    Expr,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.dtype import INT64
from rlx.operators.declare import operator
from rlx.operators.dims import const, literal
from rlx.operators.evaluation import late
from rlx.operators.kinds import NULL
from rlx.operators.site import Site
from rlx.operators.tensors import elements, known, rank, ranked, tensor


@operator("relax.shape_of", "expr", evaluate=late("creation.shape_of"))
def shape_of(site: Site, x: TensorStructInfo) -> StructInfo:
    """The shape of a tensor."""
    dims, ndim = site.dims(x), site.rank(x)
    return ShapeStructInfo(dims, -1 if ndim is None else ndim)


@operator("relax.size", "expr", evaluate=late("creation.size"))
def size(site: Site, x: TensorStructInfo) -> StructInfo:
    """The number of elements of a tensor, as a tensor."""
    return tensor((), INT64, x.vdevice)


@operator("relax.tensor_to_shape", "expr", evaluate=late("creation.tensor_to_shape"))
def tensor_to_shape(site: Site, x: TensorStructInfo) -> StructInfo:
    """The shape whose dimensions a vector of integers holds."""
    elements(site, x, 0, "integer")
    rank(site, x, 0, 1)
    known(site, "rank", (0, x))
    given = site.argument(0)
    if isinstance(given, Constant) and isinstance(given.data.value, tuple):
        values = given.data.value
        return ShapeStructInfo(tuple(const(value) for value in values), len(values))
    dims = site.dims(x)
    count = None if dims is None else literal(dims[0])
    if count is None or count > 64:
        return ShapeStructInfo(None, -1 if count is None else count)
    return ShapeStructInfo(tuple(site.ctx.fresh_dim(f"dim{k}") for k in range(count)), count)


@operator("relax.shape_to_tensor", "expr: shape", evaluate=late("creation.shape_to_tensor"))
def shape_to_tensor(site: Site, shape: Expr) -> StructInfo:
    """A vector of the dimensions of a shape."""
    if isinstance(shape, ShapeExpr):
        return tensor((const(len(shape.values)),), INT64)
    info = site.ctx.info(shape)
    if isinstance(info, ShapeStructInfo) and info.ndim >= 0:
        return tensor((const(info.ndim),), INT64)
    return ranked(1, INT64)


@operator("relax.null_value", "", evaluate=late("creation.null_value"))
def null_value(site: Site) -> StructInfo:
    """The absence of a value, for optional arguments."""
    return NULL
