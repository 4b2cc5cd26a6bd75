"""Properties of a tensor at run time, as scalars."""

from __future__ import annotations

from rlx.grammar.nodes.ast import PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import INT32, INT64, DataType, dtype
from rlx.grammar.nodes.tir import IntImm, PrimExpr
from rlx.operators.dim_arithmetic import literal
from rlx.operators.parameters import Prim, Tensor
from rlx.operators.registry import Rule, operator
from rlx.operators.rule_helpers import axis
from rlx.operators.site import Site

FIELDS = {
    "byte_offset": "uint64",
    "dtype_bits": "uint8",
    "dtype_code": "uint8",
    "dtype_lanes": "uint16",
    "elem_offset": "uint64",
}


def _field(kind: DataType) -> Rule:
    def field(site: Site, tensor: Tensor) -> StructInfo:
        """A field of the tensor's descriptor."""
        return PrimStructInfo(kind)

    return field


for _name, _kind in FIELDS.items():
    operator(f"relax.inspect.tensor_{_name}")(_field(dtype(_kind)))


@operator("relax.inspect.tensor_ndim")
def tensor_ndim(site: Site, tensor: Tensor) -> StructInfo:
    """The rank."""
    ndim = site.rank(tensor)
    return PrimStructInfo(INT32, None if ndim is None else IntImm(ndim, INT32))


@operator(
    "relax.inspect.tensor_shape_i",
    calls="""
    x(a, b), prim(0) | prim(1)
    x(a), prim(0)
    """,
)
def tensor_shape_i(site: Site, tensor: Tensor, axis: Prim) -> StructInfo:
    """The length of an axis."""
    along, dims = _along(site, tensor, axis), site.dims(tensor)
    return PrimStructInfo(INT64, None if along is None or dims is None else dims[along])


@operator(
    "relax.inspect.tensor_stride_i",
    calls="""
    x(a, b), prim(0) | prim(1)
    x(a), prim(0)
    """,
)
def tensor_stride_i(site: Site, tensor: Tensor, axis: Prim) -> StructInfo:
    """The stride of an axis in elements."""
    _along(site, tensor, axis)
    return PrimStructInfo(INT64)


def _along(site: Site, tensor: TensorStructInfo, index: PrimExpr | None) -> int | None:
    ndim, given = site.rank(tensor), literal(index)
    if given is not None and given < 0:
        site.fail("OBL-axis-range", f"axis {given} must not be negative {site.of(0)}", 1)
    if ndim is None or given is None:
        return None
    return axis(site, given, ndim, PrimStructInfo(INT64))
