"""The order of types: subtyping, least upper bounds and greatest lower bounds."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes.dtype import VOID
from rlx.old.repeated import once_for_each
from rlx.old.types import OBJECT, DynTensorType, FuncType, ObjectType, TupleType, Type
from rlx.spec.registry import refuted, rule


@once_for_each
def is_subtype(one: Type, other: Type) -> bool:
    """Whether every value of ``one`` can be used where ``other`` is expected (``one <: other``)."""
    if one == other:
        return True
    match one, other:
        case _, ObjectType():
            return below_object(one)
        case DynTensorType(), DynTensorType():
            return tensor_below(one, other)
        case TupleType(), TupleType():
            return tuple_below(one, other)
        case FuncType(), FuncType():
            return function_below(one, other)
    return False


def _no(code: str) -> bool:
    refuted(code)
    return False


@rule("OSUB-object", "older subtyping")
def below_object(one: Type) -> bool:
    """Every type is below Object."""
    return True


@rule("OSUB-tensor", "older subtyping")
def tensor_below(one: DynTensorType, other: DynTensorType) -> bool:
    """Rank and element type may each be forgotten (ledger OLDTENSOR)."""
    if other.ndim not in (-1, one.ndim):
        return _no("OSUB-tensor-rank")
    return other.dtype in (VOID, one.dtype) or _no("OSUB-tensor-dtype")


@rule("OSUB-tuple", "older subtyping")
def tuple_below(one: TupleType, other: TupleType) -> bool:
    """Tuples of one length, field by field."""
    if len(one.fields) != len(other.fields):
        return _no("OSUB-tuple-length")
    fields = zip(one.fields, other.fields, strict=True)
    return all(is_subtype(a, b) for a, b in fields) or _no("OSUB-tuple-field")


@rule("OSUB-func", "older subtyping")
def function_below(one: FuncType, other: FuncType) -> bool:
    """A function that takes more, returns less and is pure may stand for one that is not."""
    if len(one.arg_types) != len(other.arg_types):
        return _no("OSUB-func-arity")
    if other.pure and not one.pure:
        return _no("OSUB-func-pure")
    taken = zip(other.arg_types, one.arg_types, strict=True)
    if not all(is_subtype(a, b) for a, b in taken):
        return _no("OSUB-func-argument")
    return is_subtype(one.ret_type, other.ret_type) or _no("OSUB-func-result")


@once_for_each
@rule("OLUB", "procedure")
def find_lub(T1: Type, T2: Type) -> Type:
    """The least type above both."""
    if T1 == T2:
        return T1
    match T1, T2:
        case DynTensorType(), DynTensorType():
            ndim = T1.ndim if T1.ndim == T2.ndim else -1
            return DynTensorType(ndim, T1.dtype if T1.dtype == T2.dtype else VOID)
        case TupleType(fields=one), TupleType(fields=other) if len(one) == len(other):
            return TupleType(tuple(map(find_lub, one, other)))
        case FuncType(arg_types=one), FuncType(arg_types=other) if len(one) == len(other):
            met = _all_met(one, other)
            if met is not None:
                return FuncType(met, find_lub(T1.ret_type, T2.ret_type), T1.pure and T2.pure)
    return OBJECT


@once_for_each
@rule("OT-glb", "procedure")
def find_glb(T1: Type, T2: Type) -> Type | None:
    """The greatest type below both; None if there is none."""
    if T1 == T2 or isinstance(T1, ObjectType):
        return T2
    if isinstance(T2, ObjectType):
        return T1
    found: Type | None = None
    match T1, T2:
        case DynTensorType(), DynTensorType():
            found = _glb_of_tensors(T1, T2)
        case TupleType(fields=one), TupleType(fields=other) if len(one) == len(other):
            met = _all_met(one, other)
            found = None if met is None else TupleType(met)
        case FuncType(arg_types=one), FuncType(arg_types=other) if len(one) == len(other):
            ret = find_glb(T1.ret_type, T2.ret_type)
            if ret is not None:
                found = FuncType(tuple(map(find_lub, one, other)), ret, T1.pure or T2.pure)
    if found is None:
        refuted("OT-glb-meet")
    return found


def _all_met(one: Sequence[Type], other: Sequence[Type]) -> tuple[Type, ...] | None:
    """The greatest types below both, type by type; None if one of them is missing."""
    met = [found for a, b in zip(one, other, strict=True) if (found := find_glb(a, b)) is not None]
    return tuple(met) if len(met) == len(one) else None


def _glb_of_tensors(one: DynTensorType, other: DynTensorType) -> DynTensorType | None:
    """A dimension that one tensor type leaves open is taken from the other (ledger OLDGLB)."""
    ndim = other.ndim if one.ndim == -1 else one.ndim
    dtype = other.dtype if one.dtype.is_void else one.dtype
    if other.ndim not in (-1, ndim) or other.dtype not in (VOID, dtype):
        return None
    return DynTensorType(ndim, dtype)
