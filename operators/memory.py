"""Storage and tensors in it, in lowered programs."""

from __future__ import annotations

from rlx.grammar.nodes.ast import (
    DataTypeImm,
    Expr,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.nodes.dtype import VOID, DataType
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import LE, PrimExpr
from rlx.operators.call import UNIT
from rlx.operators.dim_arithmetic import ZERO, add, const, mul, product
from rlx.operators.parameters import Prim, Shape, StrExpr, Tensor, TypeExpr, Whole, WholeShape
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import integral, ranked, shaped
from rlx.operators.site import Dims, Site, show
from rlx.spec.registry import rule


def allocated(site: Site, shape: Expr, kind: DataType | None) -> TensorStructInfo:
    """A tensor of a shape that an expression gives, and of a known element type."""
    if kind is None:
        site.fail("OBL-element-type", "a new tensor needs an element type, but dtype is void")
    return shaped(site, shape, kind or VOID)


@operator(
    "relax.builtin.alloc_tensor",
    calls="shape(a, b) | shape(4), dtype('float32') | dtype('int64'), prim(0)",
)
def alloc(
    site: Site,
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
    "relax.memory.alloc_storage", calls="shape(4096), prim(0), string('global'), dtype('uint8')"
)
def alloc_storage(
    site: Site, size: Shape, virtual_device_index: Prim, storage_scope: StrExpr, dtype: TypeExpr
) -> StructInfo:
    """A new piece of memory."""
    return OBJECT


@operator("relax.vm.alloc_storage", calls="shape(4096), prim(0), dtype('uint8')")
def vm_alloc_storage(
    site: Site,
    shape: Shape,
    runtime_device_index: Prim,
    dtype: TypeExpr,
    storage_scope: StrExpr = "global",
) -> StructInfo:
    """A new piece of memory."""
    return OBJECT


@operator(
    "relax.memory.alloc_tensor",
    calls="made('memory.alloc_storage'), prim(0), shape(8, 16) | shape(4), dtype('float32')",
)
def alloc_tensor(
    site: Site,
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
    calls="made('vm.alloc_storage'), prim(0), shape(8, 16) | shape(4), dtype('float32')",
)
def vm_alloc_tensor(
    site: Site,
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


@operator("relax.memory.kill_storage", pure=False, calls="made('memory.alloc_storage')")
def kill_storage(site: Site, storage: Whole) -> StructInfo:
    """The end of the lifetime of a piece of memory."""
    return UNIT


@operator("relax.memory.kill_tensor", pure=False, calls="made('builtin.alloc_tensor')")
def kill_tensor(site: Site, tensor: Whole) -> StructInfo:
    """The end of the lifetime of a tensor."""
    return UNIT


@operator("relax.vm.kill_object", pure=False, calls="made('vm.alloc_storage')")
def kill_object(site: Site, obj: Whole) -> StructInfo:
    """The end of the lifetime of any object."""
    return UNIT


@operator("relax.memory.ensure_zero_offset")
def ensure_zero_offset(site: Site, data: Tensor) -> StructInfo:
    """The tensor at the start of its memory, copied if necessary."""
    return data


@operator(
    "relax.memory.view",
    calls="""
    x(a, 4), shape(a, 2, 2) | shape(a * 4) | shape(4, a)
    float32(a, 4), dtype='int32'
    """,
)
def view(
    site: Site,
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
    dims, old = site.dims(data), site.dims(data)
    if shape is not None:
        dims = shape.values if isinstance(shape, ShapeExpr) else None
    if dims is not None and old is not None and not dtype.is_void and not data.dtype.is_void:
        within(site, (old, data.dtype), (dims, dtype), relative_byte_offset)
    if isinstance(shape, ShapeExpr):
        return TensorStructInfo(shape, dtype, len(shape.values), data.vdevice)
    if shape is None:
        return TensorStructInfo(data.shape, dtype, data.ndim, data.vdevice)
    info = site.ctx.info(shape)
    return ranked(info.ndim if isinstance(info, ShapeStructInfo) else None, dtype, data.vdevice)


@rule("OBL-view", "e1db3349", "obligation")
def within(
    site: Site, old: tuple[Dims, DataType], new: tuple[Dims, DataType], offset: PrimExpr | None
) -> None:
    """Check that a view does not extend beyond the memory of its tensor."""
    if old[0] is new[0] and old[1] == new[1] and offset is None:
        site.ctx.discharged += 1
        return
    held, needed = _bytes(*old), add(offset or ZERO, _bytes(*new))
    site.require(
        "OBL-view-size",
        LE(needed, held),
        lambda: (
            f"the view ends at byte {show(needed)}, but the tensor has {show(held)} bytes"
            f" {site.of(0)}"
        ),
        1,
    )


def _bytes(dims: Dims, kind: DataType) -> PrimExpr:
    return mul(product(dims), const((kind.bits * kind.lanes + 7) // 8))
