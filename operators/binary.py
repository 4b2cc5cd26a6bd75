"""Binary operators on operands of the same element type, with broadcasting."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from rlx.grammar.nodes.ast import PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.tir import EQ, FloatImm, IntImm, Or, PrimExpr
from rlx.operators import registry
from rlx.operators.dim_arithmetic import ONE, literal, same
from rlx.operators.parameters import Operand, Tensor
from rlx.operators.rule_helpers import agree, place, ranked, tensor
from rlx.operators.site import Dims, Site, show, show_shape
from rlx.spec.registry import rule

ARITHMETIC = """add divide floor_divide floor_mod log_add_exp maximum minimum mod multiply power subtract atan2
bitwise_and bitwise_or bitwise_xor left_shift logical_and logical_or logical_xor right_shift"""
_BITS = "i(a, b), i(a, b) | i(b) | i() | i(1, b)\ni(), i(a)\nint8(a), int8(a)"
_CALLS = {
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _BITS + "\nbool(a, b), bool(b)"),
    **dict.fromkeys(("left_shift", "right_shift"), _BITS),
}
"""Legal calls of the operators that do not take every element type."""
COMPARISON = "equal greater greater_equal less less_equal not_equal"

_WITH_BOOLEANS = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "floor_mod",
        "mod",
        "maximum",
        "minimum",
        "power",
    ]
)
"""Arithmetic in which TVM's code treats later Boolean operands as numbers."""

_SCALAR: Dims = (ONE,)


@rule("OBL-broadcast", "1aeeecb7", "obligation")
def broadcast(site: Site, a: Dims, b: Dims, i: int = 0, j: int = 1) -> Dims | None:
    """The shape that two shapes broadcast to; None if it depends on which dimension is 1.

    Parameters
    ----------
    i, j
        The arguments with these shapes.
    """
    if len(a) < len(b):
        a, b, i, j = b, a, j, i
    lead = len(a) - len(b)
    result: list[PrimExpr] | None = list(a)
    fits = site.together("OBL-broadcast-dims", j)
    for k, y in enumerate(b, lead):
        x = a[k]
        if same(x, y) or literal(y) == 1:
            site.ctx.discharged += 1
        elif literal(x) == 1:
            site.ctx.discharged += 1
            if result is not None:
                result[k] = y
        elif not _proved_equal(site, x, y):
            fits.require(
                equal_or_one(x, y),
                lambda x=x, y=y: (  # type: ignore[misc]
                    f"the shapes {show_shape(a)} {site.of(i)} and {show_shape(b)} {site.of(j)} "
                    f"do not broadcast: {show(x)} against {show(y)}"
                ),
            )
            result = None
    fits.settle()
    if result is None:
        return None
    return a if all(map(operator.is_, result, a)) else tuple(result)


def _proved_equal(site: Site, x: PrimExpr, y: PrimExpr) -> bool:
    if literal(x) is not None and literal(y) is not None:
        return False
    if site.ctx.prover.equal(x, y).status == "proved":
        site.ctx.discharged += 1
        return True
    return False


def equal_or_one(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The condition that two dimensions are equal, or one that is not a literal is 1."""
    condition: PrimExpr = EQ(a, b)
    for dim in (a, b):
        if literal(dim) is None:
            condition = Or(condition, EQ(dim, ONE))
    return condition


def binary(site: Site, x1: Operand, x2: Operand) -> StructInfo:
    """Arithmetic on operands of the same element type. A literal number takes the width of the
    other operand.
    """
    x1, x2 = _wide_as(site, 0, x1, x2), _wide_as(site, 1, x2, x1)
    _narrow(site, (x1, x2))
    kind = agree(site, (x1, x2), booleans=site.name in _WITH_BOOLEANS)
    if type(x1) is PrimStructInfo and type(x2) is PrimStructInfo:
        return PrimStructInfo(kind)
    return shaped(site, (x1, x2), kind)


_WIDTHS = {"int": IntImm, "float": FloatImm}


def _wide_as(site: Site, at: int, x: Operand, other: Operand) -> Operand:
    """A literal of 64 bits beside an operand of 32 is one of 32: texts do not say how wide a number
    is.
    """
    if site.call.spelled.get(at) == "R.prim_value":
        return x
    kind = other.dtype
    literal_of = _WIDTHS.get(kind.code)
    if literal_of is None or kind.bits != 32 or not isinstance(x, PrimStructInfo):
        return x
    wide = isinstance(x.value, literal_of) and x.dtype.bits == 64
    return PrimStructInfo(kind, replace(x.value, dtype=kind)) if wide and x.value else x


def _narrow(site: Site, operands: tuple[Operand, Operand]) -> None:
    """Warn of a number in the text beside an operand of 64 bits: TVM 0.27 reads it as one of 32."""
    spelled = [site.call.spelled.get(k) == "number" for k in range(2)]
    if spelled[0] is spelled[1]:
        return
    at = spelled.index(True)
    x, other = operands[at], operands[1 - at]
    if isinstance(x, PrimStructInfo) and x.dtype == other.dtype and other.dtype.bits == 64:
        shown = f"{show(x.value) if x.value is not None else 'it'}"
        words = f'TVM reads the number {shown} as 32 bits: write R.const({shown}, "{other.dtype}")'
        site.warn("OBL-agree-dtype", words, at)


def comparison(site: Site, x1: Operand, x2: Operand) -> StructInfo:
    """A comparison of any element types; the result is Boolean."""
    if type(x1) is PrimStructInfo and type(x2) is PrimStructInfo:
        return PrimStructInfo(BOOL)
    return shaped(site, (x1, x2), BOOL)


def shaped(site: Site, infos: Sequence[Operand], kind: DataType) -> Tensor:
    """A tensor of the shape that all operands broadcast to."""
    head = infos[0]
    device = place(site, infos)
    if type(head) is TensorStructInfo and _one_shape(head, infos):
        if head.dtype is kind and head.vdevice is device:
            return head
        return TensorStructInfo(head.shape, kind, head.ndim, device)
    dims: Dims | None = _dims(site, head)
    for index, info in enumerate(infos[1:], 1):
        other = _dims(site, info)
        if dims is None or other is None:
            dims = None
            break
        dims = broadcast(site, dims, other, index - 1, index)
    if dims is None:
        return ranked(_rank(site, infos), kind, device)
    for info in infos:
        if isinstance(info, TensorStructInfo) and _keeps(info, dims, kind, device):
            return info
    return tensor(dims, kind, device)


def _one_shape(head: Tensor, infos: Sequence[Operand]) -> bool:
    """Whether all have the same shape, known or held by the same variable."""
    shape = head.shape
    return shape is not None and all(getattr(x, "shape", None) is shape for x in infos)


def _keeps(info: Tensor, dims: Dims, kind: DataType, device: object) -> bool:
    """Whether an operand's struct info is already the result's."""
    values = getattr(info.shape, "values", None)
    return values is dims and info.dtype is kind and info.vdevice is device


def _dims(site: Site, info: Operand) -> Dims | None:
    return _SCALAR if isinstance(info, PrimStructInfo) else site.dims(info)


def _rank(site: Site, infos: Sequence[Operand]) -> int | None:
    ranks = [1 if isinstance(x, PrimStructInfo) else site.rank(x) for x in infos]
    return None if None in ranks else max(r for r in ranks if r is not None)


for _name in ARITHMETIC.split():
    registry.operator(f"relax.{_name}", calls=_CALLS.get(_name, ""))(binary)
for _name in COMPARISON.split():
    registry.operator(f"relax.{_name}")(comparison)
