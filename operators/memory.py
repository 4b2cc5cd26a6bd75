"""Storage and tensors in it, in lowered programs."""

from __future__ import annotations

from math import prod
from typing import Any

from rlx.grammar.nodes.ast import (
    DataTypeImm,
    Expr,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.nodes.dtype import INT32, INT64, VOID, DataType, dtype
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import GE, LE, IntImm, PrimExpr
from rlx.operators import arrays
from rlx.operators.arrays import Array
from rlx.operators.call import UNIT
from rlx.operators.dim_arithmetic import ZERO, add, const, literal, mul, product
from rlx.operators.evaluation import OperatorFault, data_type
from rlx.operators.evaluation_arguments import same as same_value
from rlx.operators.late import np
from rlx.operators.operator_call import Dims, OperatorCall, show
from rlx.operators.parameters import Prim, Shape, StrExpr, Tensor, TypeExpr, Whole, WholeShape
from rlx.operators.registry import Compute, Rule, computes, operator
from rlx.operators.rule_helpers import axis, integral, ranked, shaped
from rlx.spec.registry import rule

_ON_MEMORY = "it works on memory, not on elements"
_NO_TENSOR = "its result is not a tensor"


def allocated(site: OperatorCall, shape: Expr, kind: DataType | None) -> TensorStructInfo:
    """A tensor of a shape that an expression gives, and of a known element type."""
    if kind is None:
        site.fail("OBL-element-type", "a new tensor needs an element type, but dtype is void")
    return shaped(site, shape, kind or VOID)


@operator(
    "relax.builtin.alloc_tensor",
    kept=_ON_MEMORY,
    calls="shape(a, b) | shape(4), dtype('float32') | dtype('int64'), prim(0)",
)
def alloc(
    site: OperatorCall,
    shape: WholeShape,
    dtype: TypeExpr,
    runtime_device_index: Prim,
    storage_scope: StrExpr = "global",
) -> StructInfo:
    """A new tensor."""
    found = allocated(site, shape, dtype)
    if not isinstance(site.argument(0), ShapeExpr):
        site.warn("OBL-known-shape", "the shape must be written in the call: R.shape([…])", 0)
    return found


@operator(
    "relax.memory.alloc_storage",
    kept=_ON_MEMORY,
    calls="shape(4096), prim(0), string('global'), dtype('uint8')",
)
def alloc_storage(
    site: OperatorCall,
    size: Shape,
    virtual_device_index: Prim,
    storage_scope: StrExpr,
    dtype: TypeExpr,
) -> StructInfo:
    """A new piece of memory."""
    return OBJECT


@operator("relax.vm.alloc_storage", kept=_ON_MEMORY, calls="shape(4096), prim(0), dtype('uint8')")
def vm_alloc_storage(
    site: OperatorCall,
    shape: Shape,
    runtime_device_index: Prim,
    dtype: TypeExpr,
    storage_scope: StrExpr = "global",
) -> StructInfo:
    """A new piece of memory."""
    return OBJECT


@operator(
    "relax.memory.alloc_tensor",
    kept=_ON_MEMORY,
    calls="made('memory.alloc_storage'), prim(0), shape(8, 16) | shape(4), dtype('float32')",
)
def alloc_tensor(
    site: OperatorCall,
    storage: Whole,
    offset: Prim,
    shape: WholeShape,
    dtype: TypeExpr,
    runtime_device_ind: Prim = ZERO,
) -> StructInfo:
    """A tensor in a piece of memory."""
    return allocated(site, shape, dtype)


@operator(
    "relax.vm.alloc_tensor",
    kept=_ON_MEMORY,
    calls="made('vm.alloc_storage'), prim(0), shape(8, 16) | shape(4), dtype('float32')",
)
def vm_alloc_tensor(
    site: OperatorCall,
    storage: Whole,
    offset: Prim,
    shape: WholeShape,
    dtype: TypeExpr,
    runtime_device_ind: Prim = ZERO,
) -> StructInfo:
    """A tensor in a piece of memory; if its shape is computed at run time, only the rank is
    known.
    """
    found = allocated(site, shape, dtype)
    return found if isinstance(shape, ShapeExpr) else ranked(found.ndim, found.dtype)


@operator(
    "relax.memory.kill_storage", kept=_ON_MEMORY, pure=False, calls="made('memory.alloc_storage')"
)
def kill_storage(site: OperatorCall, storage: Whole) -> StructInfo:
    """The end of the lifetime of a piece of memory."""
    return UNIT


@operator(
    "relax.memory.kill_tensor", kept=_ON_MEMORY, pure=False, calls="made('builtin.alloc_tensor')"
)
def kill_tensor(site: OperatorCall, tensor: Whole) -> StructInfo:
    """The end of the lifetime of a tensor."""
    return UNIT


@operator("relax.vm.kill_object", kept=_ON_MEMORY, pure=False, calls="made('vm.alloc_storage')")
def kill_object(site: OperatorCall, obj: Whole) -> StructInfo:
    """The end of the lifetime of any object."""
    return UNIT


@operator(
    "relax.memory.ensure_zero_offset",
    kept="it is a hint for the compiler and returns its operand",
    shares="perhaps",
    compute=same_value,
)
def ensure_zero_offset(site: OperatorCall, data: Tensor) -> StructInfo:
    """The tensor at the start of its memory, copied if necessary."""
    return data


@operator(
    "relax.memory.view",
    kept=_ON_MEMORY,
    shares="surely",
    calls="""
    x(a, 4), shape(a, 2, 2) | shape(a * 4) | shape(4, a)
    float32(a, 4), dtype='int32'
    """,
    broken="OBL-view-size: float32(4), shape(9)",
)
def view(
    site: OperatorCall,
    data: Tensor,
    shape: Shape | None = None,
    dtype: TypeExpr | None = None,
    relative_byte_offset: Prim | None = None,
) -> StructInfo:
    """The memory of a tensor from an offset on, reinterpreted with another shape or element
    type.
    """
    integral(site, relative_byte_offset, 3)
    given = site.argument(2)
    void = isinstance(given, DataTypeImm) and given.value.is_void
    if void or site.call.attrs.get("dtype") in ("", "void"):
        site.fail("OBL-element-type", "the element type of a view cannot be void", 2)
    dtype = dtype or data.dtype
    dims = old = site.dims(data)
    if shape is not None:
        dims = shape.values if isinstance(shape, ShapeExpr) else None
    if old is not None and (dims is not None or relative_byte_offset is not None):
        within(site, (old, data.dtype), (dims, dtype), relative_byte_offset)
    if isinstance(shape, ShapeExpr):
        return TensorStructInfo(shape, dtype, len(shape.values), data.vdevice)
    if shape is None:
        return TensorStructInfo(data.shape, dtype, data.ndim, data.vdevice)
    info = site.ctx.info(shape)
    return ranked(info.ndim if isinstance(info, ShapeStructInfo) else None, dtype, data.vdevice)


@computes("relax.memory.view")
@rule("E-view", "computation")
def view_value(
    x: Array, shape: tuple[int, ...] | None, kind: DataType | None, offset: Any
) -> Array:
    """The bytes of a tensor from an offset on, reinterpreted with another shape or element type, in
    the memory of the tensor.
    """
    made = arrays.kind_of(kind, x.dtype)
    wanted = x.shape if shape is None else arrays.sizes(shape)
    start, held = int(offset or 0), x.nbytes
    end = start + prod(wanted) * made.itemsize
    if start < 0 or end > held:
        raise OperatorFault(
            "E-view-size", f"the view covers bytes {start} to {end}, but the tensor has {held}"
        )
    return np.ascontiguousarray(x).reshape(-1).view("uint8")[start:end].view(made).reshape(wanted)


@rule("OBL-view", "obligation")
def within(
    site: OperatorCall,
    old: tuple[Dims, DataType],
    new: tuple[Dims | None, DataType],
    offset: PrimExpr | None,
) -> None:
    """Check that a view lies in the memory of its tensor.

    Of an element type that is not known, elements have 1 to 8 bytes; of a shape that is not known,
    none.
    """
    if old[0] is new[0] and old[1] == new[1] and offset is None:
        site.ctx.discharged += 1
        return
    begin = ZERO if offset is None else offset
    held, end = _bytes(*old, _WIDEST), add(begin, _bytes(*new, _WIDEST))
    unknown = old[1].is_void or new[1].is_void
    even_if = f", even if an element has {_WIDEST}" if unknown else ""
    decided = site.require(
        "OBL-view-size",
        [LE(end, held)] if offset is None else [GE(begin, ZERO), LE(end, held)],
        lambda: (
            f"the view covers bytes {show(begin)} to {show(end)}, but the tensor has {show(held)}"
            f" bytes{even_if} {site.of(0)}"
        ),
        1,
    )
    fits = LE(add(begin, _bytes(*new, 1)), _bytes(*old, 1))
    if decided and unknown and not site.ctx.prover.always(fits).proved:
        words = (
            f"the view may be larger than the tensor, whose element type is not known {site.of(0)}"
        )
        site.warn("OBL-view-size", words, 1)


_WIDEST = 8
"""The bytes of the widest element."""


def _bytes(dims: Dims | None, kind: DataType, unknown: int) -> PrimExpr:
    """The bytes of a tensor; ``unknown`` are those of an element whose type is not known."""
    if dims is None:
        return ZERO
    size = unknown if kind.is_void else (kind.bits * kind.lanes + 7) // 8
    return mul(product(dims), const(size))


FIELDS = {
    "relax.inspect.tensor_byte_offset": "uint64",
    "relax.inspect.tensor_dtype_bits": "uint8",
    "relax.inspect.tensor_dtype_code": "uint8",
    "relax.inspect.tensor_dtype_lanes": "uint16",
    "relax.inspect.tensor_elem_offset": "uint64",
}


def _field(kind: DataType) -> Rule:
    def field(site: OperatorCall, tensor: Tensor) -> StructInfo:
        """A field of the tensor's descriptor."""
        return PrimStructInfo(kind)

    return field


for _name, _kind in FIELDS.items():
    operator(_name, kept=_NO_TENSOR)(_field(dtype(_kind)))


@operator("relax.inspect.tensor_ndim", kept=_NO_TENSOR)
def tensor_ndim(site: OperatorCall, tensor: Tensor) -> StructInfo:
    """The rank."""
    ndim = site.rank(tensor)
    return PrimStructInfo(INT32, None if ndim is None else IntImm(ndim, INT32))


@operator(
    "relax.inspect.tensor_shape_i",
    kept=_NO_TENSOR,
    calls="""
    x(a, b), prim(0) | prim(1)
    x(a), prim(0)
    """,
)
def tensor_shape_i(site: OperatorCall, tensor: Tensor, axis: Prim) -> StructInfo:
    """The length of an axis."""
    along, dims = _along(site, tensor, axis), site.dims(tensor)
    return PrimStructInfo(INT64, None if along is None or dims is None else dims[along])


@computes("relax.inspect.tensor_shape_i")
def tensor_shape_i_value(x: Array, axis: Any) -> Any:
    return np.int64(x.shape[_axis(x, axis)])


@operator(
    "relax.inspect.tensor_stride_i",
    kept=_NO_TENSOR,
    calls="""
    x(a, b), prim(0) | prim(1)
    x(a), prim(0)
    """,
)
def tensor_stride_i(site: OperatorCall, tensor: Tensor, axis: Prim) -> StructInfo:
    """The stride of an axis in elements."""
    _along(site, tensor, axis)
    return PrimStructInfo(INT64)


@computes("relax.inspect.tensor_stride_i")
def tensor_stride_i_value(x: Array, axis: Any) -> Any:
    return np.int64(prod(x.shape[_axis(x, axis) + 1 :]))


def _along(site: OperatorCall, tensor: TensorStructInfo, index: PrimExpr | None) -> int | None:
    ndim, given = site.rank(tensor), literal(index)
    if given is not None and given < 0:
        site.fail("OBL-axis-range", f"axis {given} must not be negative {site.of(0)}", 1)
    if ndim is None or given is None:
        return None
    return axis(site, given, ndim, PrimStructInfo(INT64))


# ---------------------------------------------------------------- values


@rule("E-inspect", "computation")
def _axis(x: Array, axis: Any) -> int:
    if not 0 <= int(axis) < x.ndim:
        raise OperatorFault("E-inspect-axis", f"axis {axis} is out of range for rank {x.ndim}")
    return int(axis)


TYPE_CODES = {
    "int": 0,
    "uint": 1,
    "float": 2,
    "bfloat": 4,
    "bool": 6,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
    "float6_e2m3fn": 15,
    "float6_e3m2fn": 16,
    "float4_e2m1fn": 17,
}
"""DLPack's type codes, without the numbers of bits."""


def type_code(x: Array) -> int:
    name = str(data_type(x.dtype))
    return TYPE_CODES[name if "_" in name else name.rstrip("0123456789")]


_FIELDS: dict[str, Compute] = {
    "byte_offset": lambda x: np.uint64(0),
    "elem_offset": lambda x: np.uint64(0),
    "dtype_bits": lambda x: np.uint8(data_type(x.dtype).bits),
    "dtype_lanes": lambda x: np.uint16(1),
    "dtype_code": lambda x: np.uint8(type_code(x)),
    "ndim": lambda x: np.int32(x.ndim),
}
"""The fields of a tensor's descriptor."""
for _name, _compute in _FIELDS.items():
    computes(f"relax.inspect.tensor_{_name}")(_compute)
