"""What one StructInfo says, read the same way by every judgement of the order."""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.ast import (
    ShapeExpr,
    ShapeStructInfo,
    TensorStructInfo,
    Var,
    VDevice,
)
from rlx.grammar.dtype import VOID, DataType
from rlx.grammar.tir import PrimExpr

Dimensions = tuple[PrimExpr, ...]


def dimensions(info: TensorStructInfo | ShapeStructInfo) -> Dimensions | None:
    """The dimensions as far as they are said one by one; None where they are not.

    Rank 0 says that there are none, with or without a shape (ledger 27). A shape that is a variable
    has the dimensions of the variable's annotation.
    """
    if type(info) is ShapeStructInfo:
        return () if info.ndim == 0 else info.values
    assert type(info) is TensorStructInfo
    shape = info.shape
    if type(shape) is ShapeExpr:
        return shape.values
    if isinstance(shape, Var) and type(shape.struct_info_annotation) is ShapeStructInfo:
        return dimensions(shape.struct_info_annotation)
    return () if info.ndim == 0 else None


def rank(info: TensorStructInfo | ShapeStructInfo) -> int:
    """The number of dimensions, -1 where unknown."""
    if info.ndim >= 0:
        return info.ndim
    said = dimensions(info)
    if said is not None:
        return len(said)
    shape = info.shape if type(info) is TensorStructInfo else None
    if isinstance(shape, Var) and type(shape.struct_info_annotation) is ShapeStructInfo:
        return shape.struct_info_annotation.ndim
    return -1


def opaque_shape(info: TensorStructInfo) -> Var | None:
    """The variable that holds the shape, where that is all that is said of the dimensions."""
    shape = info.shape
    return shape if isinstance(shape, Var) and dimensions(info) is None else None


def same_type(a: DataType, b: DataType) -> bool:
    """Whether two data types are one; equal types are nearly always one object."""
    return a is b or a == b


def unknown_type(dtype: DataType) -> bool:
    """Whether this is Void, the data type that says nothing."""
    return dtype is VOID or dtype.is_void


def same_device(a: VDevice | None, b: VDevice | None) -> bool:
    """Whether two annotations name the same virtual device, or both none."""
    if a is b:
        return True
    return (
        a is not None
        and b is not None
        and (a.target, a.index, a.memory_scope) == (b.target, b.index, b.memory_scope)
    )


def identical(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two dimensions are visibly the same: one object, or the same number."""
    if a is b:
        return True
    kind = type(a)
    if kind is tir.IntImm:
        return type(b) is tir.IntImm and a.value == b.value  # type: ignore[attr-defined]
    return kind is tir.FloatImm and type(b) is tir.FloatImm and not apart(a, b)


def apart(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether these are two different floating-point numbers, which the prover does not compare."""
    if type(a) is tir.FloatImm and type(b) is tir.FloatImm:
        return a.value != b.value and not (a.value != a.value and b.value != b.value)
    return False


def same_text(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two expressions are written alike: the last resort where the prover knows no more."""
    from rlx.grammar.equal import structural_equal

    return structural_equal(a, b)
