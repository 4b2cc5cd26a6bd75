"""Windows over spatial axes, shared by convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import GE, PrimExpr
from rlx.operators.dim_arithmetic import (
    ZERO,
    add,
    ceildiv,
    const,
    floordiv,
    literal,
    minimum,
    mul,
    sub,
)
from rlx.operators.operator_call import OperatorCall, show
from rlx.spec.registry import rule

Sides = list[tuple[int, int]]
"""The padding before and after along each axis."""
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
"""The names of the spatial axes by their number."""


@rule("OBL-window", "obligation")
def spread(site: OperatorCall, name: str, given: Sequence[int], count: int) -> tuple[int, ...]:
    """One number for all axes, or one for each; strides and dilations are positive."""
    if len(given) not in (1, count):
        site.fail("OBL-window-length", f"{name} has {len(given)} elements, expected 1 or {count}")
    if name != "output_padding" and any(k < 1 for k in given):
        site.fail("OBL-window-positive", f"{name} is {list(given)}, expected positive numbers")
    return per_axis(given, count)


@rule("OBL-padding", "obligation")
def padding(site: OperatorCall, given: Sequence[int], count: int) -> tuple[int, ...]:
    """The total padding of each axis, from one number, one per axis, or all befores and all
    afters.
    """
    if len(given) == 1:
        return (2 * given[0],) * count
    if len(given) == count:
        return tuple(2 * k for k in given)
    if len(given) == 2 * count:
        return tuple(a + b for a, b in zip(given[:count], given[count:], strict=True))
    site.fail(
        "OBL-padding-length",
        f"the padding has {len(given)} elements, expected 1, {count} or {2 * count}",
    )


@rule("OBL-output", "obligation")
def positions(
    site: OperatorCall,
    length: PrimExpr,
    window: PrimExpr,
    pad: int,
    stride: int,
    dilation: int,
    after: int | None = None,
    best: StructInfo = OBJECT,
    sized_by: int = 0,
) -> PrimExpr:
    """The number of positions of a window along an axis, after a check that it is not negative, and
    that the window has an element.

    ``after`` is the trailing padding, if an incomplete last window also counts; ``sized_by`` is the
    position of the argument that has the window's size.
    """
    if (literal(window) or 0) < 1 and not site.require(
        "OBL-output-window",
        GE(window, const(1)),
        lambda: f"a window has {show(window)} elements along an axis {site.of(sized_by)}",
        sized_by,
    ):
        site.stop(best)
    reach = add(mul(sub(window, const(1)), const(dilation)), const(1))
    slack = pad + (stride - 1 if after is not None else 0)
    size = literal(reach)
    if size is None:
        result = add(floordiv(sub(add(length, const(slack)), reach), const(stride)), const(1))
    else:
        whole, part = divmod(slack - size, stride)
        result = add(floordiv(add(length, const(part)), const(stride)), const(whole + 1))
        if after is not None:
            result = _begun(result, add(length, const(pad - after)), after, size, stride)
    if result is length or (literal(result) or 0) > 0:
        site.ctx.discharged += 1
        return result
    held = site.require(
        "OBL-output-size",
        GE(result, ZERO),
        lambda: (
            f"a window of {show(reach)} does not fit into the length {show(length)} with "
            f"padding {pad} {site.of(0)}"
        ),
        0,
    )
    if not held:
        site.stop(best)
    return result


def _begun(count: PrimExpr, length: PrimExpr, after: int, reach: int, stride: int) -> PrimExpr:
    """The number of begun windows that do not begin in the padding behind."""
    if after >= reach:
        return sub(count, const(1))
    if after + stride <= reach:
        return count
    return minimum(count, ceildiv(length, const(stride)))


def behind(given: Sequence[int], count: int) -> tuple[int, ...]:
    """The trailing padding of each axis."""
    after = given[count:] if len(given) == 2 * count else (*given,) * (count // len(given))
    return tuple(after)


def sides(given: Sequence[int], count: int) -> Sides:
    """The padding before and after along each axis, from one number, one per axis, or all befores
    and all afters.
    """
    if len(given) == 1:
        return [(given[0], given[0])] * count
    if len(given) == count:
        return [(k, k) for k in given]
    return list(zip(given[:count], given[count:], strict=True))


def per_axis(given: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(given) * count if len(given) == 1 else tuple(given)
