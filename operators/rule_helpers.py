"""Helpers of operators' rules: results, element types, ranks, axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import iter_unpack

from rlx.grammar.nodes.ast import (
    Constant,
    Expr,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    Tuple,
    TupleGetItem,
    TupleStructInfo,
    Var,
    VDevice,
)
from rlx.grammar.nodes.dtype import BOOL, VOID, DataType
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import FloatImm, IntImm, PrimExpr, type_of
from rlx.operators.argument_kinds import UNKNOWN, constant
from rlx.operators.operator_call import Dims, OperatorCall, show
from rlx.operators.parameters import Operand, Tensor
from rlx.solver.order.substitute import same_device
from rlx.spec.registry import need, rule


def tensor(dims: Iterable[PrimExpr], kind: DataType, vdevice: VDevice | None = None) -> Tensor:
    """A tensor of these dimensions."""
    values = tuple(dims)
    return TensorStructInfo(ShapeExpr(values), kind, len(values), vdevice)


def shaped(
    site: OperatorCall, shape: Expr, dtype: DataType, vdevice: VDevice | None = None
) -> TensorStructInfo:
    """A tensor with the shape given by an expression; of unknown shape if the expression may not be
    a shape.
    """
    if isinstance(shape, ShapeExpr):
        return TensorStructInfo(shape, dtype, len(shape.values), vdevice)
    info = site.ctx.info(shape)
    if not isinstance(info, ShapeStructInfo):
        return TensorStructInfo(None, dtype, -1, vdevice)
    return TensorStructInfo(shape, dtype, info.ndim, vdevice)


def ranked(ndim: int | None, kind: DataType, vdevice: VDevice | None = None) -> Tensor:
    """A tensor with at most a known rank."""
    return TensorStructInfo(None, kind, -1 if ndim is None else ndim, vdevice)


def like(info: Tensor, kind: DataType) -> Tensor:
    """A tensor of the same shape and device, with another element type."""
    if info.dtype == kind:
        return info
    return TensorStructInfo(info.shape, kind, info.ndim, info.vdevice)


def resized(info: Tensor, dims: Dims | None, ndim: int | None) -> Tensor:
    """A tensor of the same element type and device, with other dimensions."""
    if dims is None:
        return ranked(ndim, info.dtype, info.vdevice)
    return tensor(dims, info.dtype, info.vdevice)


def fields(infos: Iterable[StructInfo]) -> TupleStructInfo:
    return TupleStructInfo(tuple(infos))


_GROUPS: dict[str, tuple[Callable[[DataType], bool], str]] = {
    "float": (lambda kind: kind.is_computable_float, "floating-point numbers of at least 16 bits"),
    "narrow float": (lambda kind: kind.is_float, "floating-point numbers"),
    "integer": (lambda kind: kind.is_integer, "integers"),
    "signed": (lambda kind: kind.code == "int", "signed integers"),
    "bool": (lambda kind: kind == BOOL, "Booleans"),
}


@rule("OBL-element", "obligation")
def elements(site: OperatorCall, info: Operand, index: int, group: str) -> None:
    """Check that the operand's element type is in a group of types (a key of the table), or is one
    of the named types.
    """
    kind = info.dtype
    known = _GROUPS.get(group)
    if known is None:
        if not need("OBL-element-type", kind.is_void or str(kind) in group.split()):
            words = f"{site.shown(index)} must have elements of {' or '.join(group.split())}"
            site.fail("OBL-element-type", words, index)
        return
    label = f"OBL-element-{group.rpartition(' ')[2]}"
    if not need(label, kind.is_void or known[0](kind)):
        site.fail(label, f"{site.shown(index)} must have elements that are {known[1]}", index)


@rule("OBL-known", "obligation")
def need_known(site: OperatorCall, what: str, *operands: tuple[int, Tensor]) -> None:
    """Check that the rank, shape or element type of these operands is known; at most one is
    reported.
    """
    label = f"OBL-known-{what}"
    for index, info in operands:
        if need(label, info is UNKNOWN or not _missing(site, what, info)):
            continue
        word = "element type" if what == "dtype" else what
        shown = site.shown(index, info)
        site.warn(label, f"needs the {word} of {shown}, which is not known", index)
        return


def _missing(site: OperatorCall, what: str, info: Tensor) -> bool:
    if what == "dtype":
        return info.dtype.is_void
    return (site.rank if what == "rank" else site.dims)(info) is None


@rule("OBL-agree", "obligation")
def agree(
    site: OperatorCall,
    infos: Sequence[Operand],
    at: Sequence[int] | None = None,
    booleans: bool = False,
) -> DataType:
    """Check that these operands have the same element type, and return it, or Void if one of them
    is unknown.

    If ``booleans`` is set, later Boolean operands count as numbers of the first operand's type,
    with a warning.
    """
    kind = infos[0].dtype
    if [info.dtype for info in infos].count(kind) == len(infos):
        return kind
    first = next((n for n, info in enumerate(infos) if not info.dtype.is_void), 0)
    kind = infos[first].dtype
    for number, info in enumerate(infos[first + 1 :], first + 1):
        if info.dtype is kind or info.dtype == kind or info.dtype.is_void:
            continue
        one, index = (first, number) if at is None else (at[first], at[number])
        words = (
            f"the element types differ: {kind} {site.of(one, infos[first])} and {info.dtype} "
            f"{site.of(index, info)}"
        )
        if not (booleans and info.dtype == BOOL):
            help = _of_one_type(site, (one, infos[first]), (index, info))
            site.fail("OBL-agree-dtype", words, index, help=help)
        site.warn("OBL-agree-dtype", words, index)
    return VOID if any(info.dtype.is_void for info in infos) else kind


def _of_one_type(site: OperatorCall, *given: tuple[int, Operand]) -> str:
    """The help for two operands of different element types: that of the tensor, or of the first."""
    (a, first), (b, second) = given
    if isinstance(first, PrimStructInfo) and isinstance(second, Tensor):
        (a, first), (b, second) = (b, second), (a, first)
    value = site.argument(b)
    number: object = None
    if isinstance(second, PrimStructInfo):
        number = getattr(second.value, "value", None)
    elif isinstance(value, Constant):
        number = value.data.value
    written = constant(number, first.dtype)
    if written is not None:
        return f"write {written}"
    name = "…"  # a part of an expression has a name in normal form alone, and a longer text
    if (
        isinstance(value, Var)
        and value.span
        and value.span[1] - value.span[0] == len(value.name_hint)
    ):
        name = value.name_hint
    return f'convert one of them: R.astype({name}, "{first.dtype}")'


@rule("OBL-place", "obligation")
def place(
    site: OperatorCall, infos: Sequence[Operand], at: Sequence[int] | None = None
) -> VDevice | None:
    """Check that the operands are on the same virtual device, as far as their devices are known."""
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
                f"the operands are on different devices: {show(found)} and {show(device)}",
                number if at is None else at[number],
            )
    return found


@rule("OBL-rank", "obligation")
def rank(
    site: OperatorCall, info: Tensor, index: int, low: int, high: int | None = None
) -> int | None:
    """Check that the operand's rank is ``low``, or between ``low`` and ``high`` (-1: no limit).

    Returns
    -------
    int or None
        The rank, or None if it is unknown.
    """
    found = site.rank(info)
    high = low if high is None else high
    if found is None or (low <= found and (found <= high or high < 0)):
        return found
    wanted = f"{low}" if low == high else f"at least {low}" if high < 0 else f"{low} to {high}"
    site.fail("OBL-rank-operand", f"{site.shown(index)} has rank {found}, expected {wanted}", index)


@rule("OBL-axis", "obligation")
def axes(
    site: OperatorCall, given: Iterable[int], ndim: int, best: StructInfo = OBJECT
) -> list[int]:
    """Axes counted from 0, after a check that each is within the rank and none is repeated."""
    found: list[int] = []
    for axis in given:
        if not -ndim <= axis < ndim:
            site.fail(
                "OBL-axis-range",
                f"axis {axis} is out of range for rank {ndim}{_of_first(site)}",
                site.position_of_axes(),
                best,
            )
        axis %= ndim
        if axis in found:
            site.fail(
                "OBL-axis-repeated",
                f"axis {axis} is given twice{_of_first(site)}",
                site.position_of_axes(),
                best,
            )
        found.append(axis)
    return found


def axis(site: OperatorCall, given: int, ndim: int, best: StructInfo = OBJECT) -> int:
    """An axis counted from 0."""
    if 0 <= given < ndim:
        return given
    return axes(site, (given,), ndim, best)[0]


def _of_first(site: OperatorCall) -> str:
    return f" {site.of(0)}" if site.call.args else ""


@rule("OBL-choice", "obligation")
def choice(site: OperatorCall, name: str, given: str | None, words: Sequence[str]) -> None:
    """Check that an attribute names one of the operator's variants."""
    if given not in words and not (given is None and None in words):
        site.fail(
            "OBL-choice-word",
            f"{name} is {given!r}, expected {', '.join(map(repr, words[:-1]))} or {words[-1]!r}",
        )


@rule("OBL-gradient", "obligation")
def gradient(site: OperatorCall, given: Tensor, result: StructInfo) -> None:
    """Check that the gradient of a result has the result's element type and shape."""
    if not isinstance(result, TensorStructInfo):
        return
    agree(site, (given, result), (0, 1))
    wanted, found = site.rank(result), site.rank(given)
    if wanted is not None and found is not None and wanted != found:
        words = f"{site.shown(0)} has rank {found}, but the result has rank {wanted}"
        site.fail("OBL-gradient-rank", words, 0)
    alike = site.together("OBL-gradient-dims", 0)
    for k, (a, b) in enumerate(zip(site.dims(result) or (), site.dims(given) or (), strict=False)):
        alike.equal(
            a,
            b,
            lambda k=k, a=a, b=b: (  # type: ignore[misc]
                f"axis {k} of {site.shown(0)} has length {show(b)}, but the result"
                f" requires {show(a)}"
            ),
        )
    alike.settle()


def value_of(site: OperatorCall, given: Expr | None, seen: set[Expr] | None = None) -> Expr | None:
    """The value of an operand that is given by names and fields of tuples. These may form a circle:
    ``seen`` has those that were met.
    """
    seen = set() if seen is None else seen
    while isinstance(given, Var | TupleGetItem) and given not in seen:
        seen.add(given)
        if isinstance(given, Var):
            found = site.ctx.bound(given)
        else:
            whole, at = value_of(site, given.tuple_value, seen), given.index
            fields = whole.fields if isinstance(whole, Tuple) else ()
            found = fields[at] if 0 <= at < len(fields) else None
        given = found or given
    return given


def stated(site: OperatorCall, given: Expr | None) -> list[int | float]:
    """The numbers of an operand whose value the text states, in row-major order; none of another."""
    info = None if given is None else site.ctx.info(given)
    if isinstance(info, PrimStructInfo):
        number = info.value
        return [number.value] if isinstance(number, IntImm | FloatImm) else []
    value = value_of(site, given)
    if not isinstance(value, Constant):
        return []
    data = value.data
    stored = _STORED.get(str(data.dtype))
    if data.content is not None and stored is not None:
        return [number for (number,) in iter_unpack(f"<{stored}", bytes(data.content))]
    return [*numbers_in(data.value)]


_STORED = {
    **{f"int{bits}": letter for bits, letter in zip((8, 16, 32, 64), "bhiq", strict=True)},
    **{f"uint{bits}": letter for bits, letter in zip((8, 16, 32, 64), "BHIQ", strict=True)},
    **{f"float{bits}": letter for bits, letter in zip((16, 32, 64), "efd", strict=True)},
}
"""The letters of element types in the module `struct`."""


def numbers_in(value: object) -> Iterator[int | float]:
    """The numbers of a constant that a text writes, in row-major order."""
    if isinstance(value, tuple):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, int | float):
        yield value


def scalar_type(site: OperatorCall, value: PrimExpr | None, index: int) -> DataType:
    """The data type of a scalar argument; for a variable, the derived one."""
    given = site.argument(index)
    info = None if given is None else site.ctx.info(given)
    if isinstance(given, Var) and isinstance(info, PrimStructInfo):
        return info.dtype
    return VOID if value is None else type_of(value)


def integral(site: OperatorCall, dim: PrimExpr | None, index: int) -> None:
    """Check that a scalar used as a dimension is an integer."""
    if dim is not None and not (kind := type_of(dim)).is_integer:
        site.fail("D14-argument", f"{site.shown(index)} must be an integer, not {kind}", index)
