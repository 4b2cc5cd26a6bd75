"""What convolutions and pools share: windows that move over spatial axes."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.ast import StructInfo
from rlx.grammar.tir import GE, PrimExpr
from rlx.operators.dims import ZERO, add, const, floordiv, literal, mul, sub
from rlx.operators.messages import show
from rlx.operators.site import OBJECT, Site
from rlx.spec.registry import rule

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
"""The spatial axes by their number."""


@rule("OBL-window", "6640d0c6")
def spread(site: Site, name: str, given: Sequence[int], count: int) -> tuple[int, ...]:
    """One number for all axes, or one for each; strides and dilations are positive."""
    if len(given) not in (1, count):
        site.fail("OBL-window-length", f"{name} has {len(given)} elements, expected 1 or {count}")
    if name != "output_padding" and any(k < 1 for k in given):
        site.fail("OBL-window-positive", f"{name} is {list(given)}, expected positive numbers")
    return tuple(given) * count if len(given) == 1 else tuple(given)


@rule("OBL-padding", "9d7c32d0")
def padding(site: Site, given: Sequence[int], count: int) -> tuple[int, ...]:
    """The padding of each axis, both sides added: 1 number, one per axis, or all befores and all afters."""
    if any(k < 0 for k in given):
        site.fail("OBL-padding-negative", f"the padding {list(given)} must not be negative")
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


@rule("OBL-output", "46f318ee")
def positions(
    site: Site,
    length: PrimExpr,
    window: PrimExpr,
    pad: int,
    stride: int,
    dilation: int,
    ceil: bool = False,
    best: StructInfo = OBJECT,
) -> PrimExpr:
    """How many positions a window has along an axis; not fewer than none."""
    reach = add(mul(sub(window, const(1)), const(dilation)), const(1))
    slack = pad + (stride - 1 if ceil else 0)
    size = literal(reach)
    if size is None:
        result = add(floordiv(sub(add(length, const(slack)), reach), const(stride)), const(1))
    else:
        whole, part = divmod(slack - size, stride)
        result = add(floordiv(add(length, const(part)), const(stride)), const(whole + 1))
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
