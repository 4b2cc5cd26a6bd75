"""Storage and tensors in it, as lowered programs handle them."""

from __future__ import annotations

from rlx.grammar.ast import (
    DataTypeImm,
    Expr,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.dtype import VOID, DataType
from rlx.grammar.tir import LE, PrimExpr
from rlx.operators.call import UNIT
from rlx.operators.declare import operator
from rlx.operators.dims import ZERO, add, const, mul, product
from rlx.operators.evaluation import late
from rlx.operators.messages import show
from rlx.operators.site import OBJECT, Dims, Site
from rlx.operators.tensors import integral, known, ranked
from rlx.spec.registry import rule


def allocated(site: Site, shape: Expr, kind: DataType | None) -> TensorStructInfo:
    """A tensor of a shape that an expression gives, and of a known element type."""
    if kind is None:
        site.fail("OBL-element-type", "a new tensor needs an element type, but dtype is void")
    if isinstance(shape, ShapeExpr):
        return TensorStructInfo(shape, kind or VOID, len(shape.values))
    info = site.ctx.info(shape)
    ndim = info.ndim if isinstance(info, ShapeStructInfo) else -1
    return TensorStructInfo(shape, kind or VOID, ndim)


@operator(
    "relax.builtin.alloc_tensor",
    "shape: shape, dtype: dtype, runtime_device_index: prim, storage_scope: str = 'global'",
)
def alloc(
    site: Site, shape: Expr, kind: DataType | None, device: object, scope: object
) -> StructInfo:
    """A new tensor."""
    found = allocated(site, shape, kind)
    known(site, "shape", (0, found))
    return found


@operator(
    "relax.memory.alloc_storage",
    "size: shape, virtual_device_index: prim, storage_scope: str, dtype: dtype",
)
@operator(
    "relax.vm.alloc_storage",
    "shape: shape, runtime_device_index: prim, dtype: dtype, storage_scope: str = 'global'",
)
def alloc_storage(site: Site, size: Expr, *rest: object) -> StructInfo:
    """A new piece of memory."""
    return OBJECT


@operator(
    "relax.memory.alloc_tensor",
    "storage: expr, offset: prim, shape: shape, dtype: dtype, runtime_device_ind: prim = 0",
)
def alloc_tensor(
    site: Site,
    storage: Expr,
    offset: PrimExpr | None,
    shape: Expr,
    kind: DataType | None,
    device: object,
) -> StructInfo:
    """A tensor in a piece of memory."""
    return allocated(site, shape, kind)


@operator(
    "relax.vm.alloc_tensor",
    "storage: expr, offset: prim, shape: shape, dtype: dtype, runtime_device_ind: prim = 0",
)
def vm_alloc_tensor(
    site: Site,
    storage: Expr,
    offset: PrimExpr | None,
    shape: Expr,
    kind: DataType | None,
    device: object,
) -> StructInfo:
    """A tensor in a piece of memory; of a shape computed at run time only the rank is known."""
    found = allocated(site, shape, kind)
    return found if isinstance(shape, ShapeExpr) else ranked(found.ndim, found.dtype)


@operator("relax.memory.kill_storage", "storage: expr", pure=False)
@operator("relax.memory.kill_tensor", "tensor: expr", pure=False)
@operator("relax.vm.kill_object", "obj: expr", pure=False)
def kill(site: Site, value: Expr) -> StructInfo:
    """The end of a value's use."""
    return UNIT


@operator("relax.memory.ensure_zero_offset", "data", evaluate=late("identity.same"))
def ensure_zero_offset(site: Site, data: TensorStructInfo) -> StructInfo:
    """The tensor, at the start of its memory: copied if it is not."""
    return data


@operator(
    "relax.memory.view",
    "data, shape: shape? = None, dtype: dtype_expr? = None, relative_byte_offset: prim? = None",
    evaluate=late("memory.view"),
)
def view(
    site: Site,
    data: TensorStructInfo,
    shape: Expr | None,
    kind: DataType | None,
    offset: PrimExpr | None,
) -> StructInfo:
    """The memory of a tensor read as another shape or element type, from an offset on."""
    integral(site, offset, 3)
    given = site.argument(2)
    void = isinstance(given, DataTypeImm) and given.value.is_void
    if void or site.call.attrs.get("dtype") in ("", "void"):
        site.fail("OBL-element-type", "the element type of a view cannot be void", 2)
    kind = kind or data.dtype
    dims, old = site.dims(data), site.dims(data)
    if shape is not None:
        dims = shape.values if isinstance(shape, ShapeExpr) else None
    if dims is not None and old is not None and not kind.is_void and not data.dtype.is_void:
        within(site, (old, data.dtype), (dims, kind), offset)
    if isinstance(shape, ShapeExpr):
        return TensorStructInfo(shape, kind, len(shape.values), data.vdevice)
    if shape is None:
        return TensorStructInfo(data.shape, kind, data.ndim, data.vdevice)
    info = site.ctx.info(shape)
    return ranked(info.ndim if isinstance(info, ShapeStructInfo) else None, kind, data.vdevice)


@rule("OBL-view", "db81269b")
def within(
    site: Site, old: tuple[Dims, DataType], new: tuple[Dims, DataType], offset: PrimExpr | None
) -> None:
    """A view ends no later than the memory it is a view of."""
    if old[0] is new[0] and old[1] == new[1] and offset is None:
        site.ctx.discharged += 1
        return
    held, needed = _bytes(*old), add(offset or ZERO, _bytes(*new))
    site.require(
        "OBL-view-size",
        LE(needed, held),
        lambda: f"the view ends at byte {show(needed)}, but there are {show(held)} {site.of(0)}",
        1,
    )


def _bytes(dims: Dims, kind: DataType) -> PrimExpr:
    return mul(product(dims), const((kind.bits * kind.lanes + 7) // 8))
