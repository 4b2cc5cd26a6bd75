"""What the rules of most operators are made of: results, element types, ranks, axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rlx.grammar.ast import (
    PrimStructInfo,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    VDevice,
)
from rlx.grammar.dtype import BOOL, VOID, DataType
from rlx.grammar.tir import PrimExpr
from rlx.operators.dims import same
from rlx.operators.site import OBJECT, Dims, Site
from rlx.spec.registry import rule

Tensor = TensorStructInfo
Operand = TensorStructInfo | PrimStructInfo


def tensor(dims: Iterable[PrimExpr], kind: DataType, vdevice: VDevice | None = None) -> Tensor:
    """A tensor of these dimensions."""
    values = tuple(dims)
    return TensorStructInfo(ShapeExpr(values), kind, len(values), vdevice)


def ranked(ndim: int | None, kind: DataType, vdevice: VDevice | None = None) -> Tensor:
    """A tensor of which at most the rank is known."""
    return TensorStructInfo(None, kind, -1 if ndim is None else ndim, vdevice)


def like(info: Tensor, kind: DataType) -> Tensor:
    """A tensor of the same shape and place, of another element type."""
    if info.dtype == kind:
        return info
    return TensorStructInfo(info.shape, kind, info.ndim, info.vdevice)


def resized(info: Tensor, dims: Dims | None, ndim: int | None) -> Tensor:
    """A tensor of the same element type and place, of other dimensions."""
    if dims is None:
        return ranked(ndim, info.dtype, info.vdevice)
    return tensor(dims, info.dtype, info.vdevice)


def fields(infos: Iterable[StructInfo]) -> TupleStructInfo:
    """A tuple of results."""
    return TupleStructInfo(tuple(infos))


_GROUPS: dict[str, tuple[Callable[[DataType], bool], str]] = {
    "float": (lambda kind: kind.is_float, "floating-point numbers"),
    "integer": (lambda kind: kind.is_integer, "integers"),
    "bool": (lambda kind: kind == BOOL, "Booleans"),
}


@rule("OBL-element", "62eb8901")
def elements(site: Site, info: Operand, index: int, group: str) -> None:
    """The operand's elements are of a group of types: ``float``, ``integer`` or ``bool``."""
    belongs, words = _GROUPS[group]
    if not info.dtype.is_void and not belongs(info.dtype):
        site.fail(f"OBL-element-{group}", f"{site.shown(index)} must hold {words}", index)


@rule("OBL-agree", "c7bfe155")
def agree(site: Site, infos: Sequence[Operand], at: Sequence[int] | None = None) -> DataType:
    """The operands (those arguments) have one element type; it, or Void where one of them is unknown."""
    kind = infos[0].dtype
    for number, info in enumerate(infos[1:], 1):
        if info.dtype is kind or info.dtype == kind:
            continue
        if info.dtype.is_void or kind.is_void:
            kind = VOID
            continue
        first, index = (0, number) if at is None else (at[0], at[number])
        site.fail(
            "OBL-agree-dtype",
            f"the element types differ: {kind} {site.of(first, infos[0])} and {info.dtype} "
            f"{site.of(index, info)}",
            index,
        )
    return kind


@rule("OBL-place", "bc961b04")
def place(site: Site, infos: Sequence[Operand], at: Sequence[int] | None = None) -> VDevice | None:
    """The operands are on one virtual device, as far as it is said."""
    found: VDevice | None = None
    for number, info in enumerate(infos):
        device = info.vdevice if isinstance(info, TensorStructInfo) else None
        if device is None or device is found:
            continue
        if found is None:
            found = device
        elif not same_device(found, device):
            site.fail(
                "OBL-place-vdevice",
                f"the operands are on different devices: {_device(found)} and {_device(device)}",
                number if at is None else at[number],
            )
    return found


def same_device(a: VDevice, b: VDevice) -> bool:
    """Whether two virtual devices are the same."""
    return (a.target, a.index, a.memory_scope) == (b.target, b.index, b.memory_scope)


def _device(device: VDevice) -> str:
    return f"{device.target}:{device.index}:{device.memory_scope}"


@rule("OBL-rank", "e6a314e3")
def rank(site: Site, info: Tensor, index: int, low: int, high: int | None = None) -> int | None:
    """The operand's rank is ``low``, or between ``low`` and ``high`` (-1: without limit).

    Returns
    -------
    int or None
        The rank, None where it is unknown.
    """
    found = site.rank(info)
    high = low if high is None else high
    if found is None or (low <= found and (found <= high or high < 0)):
        return found
    wanted = f"{low}" if low == high else f"at least {low}" if high < 0 else f"{low} to {high}"
    site.fail("OBL-rank-operand", f"{site.shown(index)} has rank {found}, expected {wanted}", index)


@rule("OBL-axis", "c86df8e6")
def axes(site: Site, given: Iterable[int], ndim: int, best: StructInfo = OBJECT) -> list[int]:
    """Axes counted from 0: each within the rank, none twice."""
    found: list[int] = []
    for axis in given:
        if not -ndim <= axis < ndim:
            site.fail(
                "OBL-axis-range",
                f"axis {axis} is out of range for rank {ndim}{_of_first(site)}",
                best=best,
            )
        axis %= ndim
        if axis in found:
            site.fail(
                "OBL-axis-repeated",
                f"axis {axis} is named twice{_of_first(site)}",
                best=best,
            )
        found.append(axis)
    return found


def axis(site: Site, given: int, ndim: int, best: StructInfo = OBJECT) -> int:
    """An axis counted from 0."""
    if 0 <= given < ndim:
        return given
    return axes(site, (given,), ndim, best)[0]


def _of_first(site: Site) -> str:
    return f" {site.of(0)}" if site.call.args else ""


def equal_dims(a: Dims, b: Dims) -> bool:
    """Whether two shapes are equal on sight."""
    return a is b or (len(a) == len(b) and all(map(same, a, b)))
