"""Windows that move over spatial axes: pools, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rlx import te
from rlx.operators.windows import SPATIAL
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    LARGEST,
    both,
    equals,
    every,
    int64,
    least,
    need_floats,
    need_numbers,
    product,
    wide,
)
from rlx.transform.legalization.families.reduction import FIRST_LARGEST
from rlx.transform.legalization.layouts import (
    WindowView,
    arranged,
    lengths_of,
    sides,
    spread,
    window_axes,
    within,
)
from rlx.transform.legalization.result import Result, decline

Definition = Callable[..., Any]


class Plan:
    """The layout of a pool's windows over the data.

    Attributes
    ----------
    sizes, steps, spacing, around
        For each axis: the size of a window, the stride, the dilation, the padding.
    window
        The reduction axes of a window.
    """

    def __init__(
        self,
        count: int,
        size: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
    ) -> None:
        self.sizes, self.steps = spread(size, count), spread(strides, count)
        self.spacing, self.around = spread(dilation, count), sides(padding, count)
        if any(side < 0 for pair in self.around for side in pair):
            decline("its padding is negative")
        self.window = window_axes(self.sizes)

    def places(self, position: Sequence[Scalar], within: Sequence[Scalar]) -> list[Scalar]:
        """The positions of a window in the data; positions before 0 and after the end are
        padding.
        """
        return [
            p * int64(s) + w * int64(d) - int64(b)
            for p, w, s, d, (b, _) in zip(
                position, within, self.steps, self.spacing, self.around, strict=True
            )
        ]

    def counts(self, shape: Sequence[Scalar], position: Sequence[Scalar], padding: int) -> Scalar:
        """The number of positions of a window in the data, and in the padding if that is included;
        at least 1.
        """
        found = int64(1)
        for k, (length, p) in enumerate(zip(shape, position, strict=True)):
            before, after = self.around[k] if padding else (0, 0)
            begin = p * int64(self.steps[k]) - int64(self.around[k][0])
            line = int64(0)
            for w in range(self.sizes[k]):
                at = begin + int64(w * self.spacing[k])
                inside = both(at >= int64(-before), at < length + int64(after))
                line = line + te.if_then_else(inside, int64(1), int64(0))
            found = found * line
        return te.maximum(found, int64(1))


def _pool(
    kind: str,
    count: int,
    out: Result,
    data: te.Tensor,
    size: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: int,
    count_padding: int,
    layout: str,
    out_layout: str | None,
) -> te.Tensor:
    axes = SPATIAL[count]
    if kind == "avg":
        need_numbers(data.dtype)
    x = WindowView(data, layout, f"NC{axes}")
    lengths = lengths_of(out, out_layout or layout, f"NC{axes}")
    plan = Plan(count, size, strides, padding, dilation)

    def element(*i: Scalar) -> Any:
        at = plan.places(i[2:], plan.window)
        inside = within(at, x.shape[2:], [True] * count)
        value = wide(x(*i[:2], *at))
        if kind == "max":
            held = te.if_then_else(inside, value, least(value.dtype))
            return LARGEST(held, axis=plan.window)
        return te.sum(te.if_then_else(inside, value, te.const(0, value.dtype)), axis=plan.window)

    made: te.Tensor = te.compute(lengths, element, name=f"T_{kind}_pool")

    def final(*i: Scalar) -> Scalar:
        found = made(*i)
        if kind == "max":
            return found
        number = plan.counts(x.shape[2:], i[2:], count_padding)
        if found.dtype.is_float:
            return found / te.cast(found.dtype, number)
        return te.cast(found.dtype, te.truncdiv(te.cast("int64", found), number))

    return arranged(out, final, out_layout or layout, f"NC{axes}")


def _adaptive(
    count: int,
    out: Result,
    data: te.Tensor,
    size: Sequence[int] | None,
    layout: str,
    out_layout: str | None,
) -> te.Tensor:
    axes = SPATIAL[count]
    need_floats(data.dtype)
    x = WindowView(data, layout, f"NC{axes}")
    lengths = lengths_of(out, out_layout or layout, f"NC{axes}")
    if size is None:
        return arranged(out, lambda *i: wide(x(*i)), out_layout or layout, f"NC{axes}")
    wanted = lengths[2:]
    window = window_axes([te.ceildiv(n, m) + 1 for n, m in zip(x.shape[2:], wanted, strict=True)])

    def bounds(k: int, p: Scalar) -> tuple[Scalar, Scalar]:
        n, m = x.shape[2 + k], wanted[k]
        return p * n // m, te.ceildiv((p + 1) * n, m)

    def element(*i: Scalar) -> Any:
        ends = [bounds(k, i[2 + k]) for k in range(count)]
        at = [low + w for (low, _), w in zip(ends, window, strict=True)]
        inside = every(place < high for place, (_, high) in zip(at, ends, strict=True))
        value = wide(x(*i[:2], *at))
        return te.sum(te.if_then_else(inside, value, te.const(0, value.dtype)), axis=window)

    made: te.Tensor = te.compute(lengths, element, name="T_adaptive")

    def final(*i: Scalar) -> Scalar:
        ends = [bounds(k, i[2 + k]) for k in range(count)]
        number = product([high - low for low, high in ends])
        return made(*i) / te.cast(made.dtype, number)

    return arranged(out, final, out_layout or layout, f"NC{axes}")


def _pool_backward(
    kind: str,
    out: Result,
    gradient: te.Tensor,
    data: te.Tensor,
    size: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: int,
    count_padding: int,
    layout: str,
    out_layout: str | None,
) -> te.Tensor:
    need_floats(data.dtype)
    x, g = WindowView(data, layout, "NCHW"), WindowView(gradient, out_layout or layout, "NCHW")
    plan = Plan(2, size, strides, padding, dilation)
    best = _best(x, g, plan) if kind == "max" else None

    def element(*i: Scalar) -> Any:
        meets = te.const(True, "bool")
        at: list[Scalar] = []
        for k in range(2):
            far = i[2 + k] + int64(plan.around[k][0]) - plan.window[k] * int64(plan.spacing[k])
            step = int64(plan.steps[k])
            at.append(far // step)
            meets = both(meets, equals(far % step, int64(0)))
        inside = both(meets, within(at, g.shape[2:], [True, True]))
        value = wide(g(*i[:2], *at))
        zero = te.const(0, value.dtype)
        if best is not None:
            own = plan.window[0] * int64(plan.sizes[1]) + plan.window[1]
            share = te.if_then_else(equals(best(*i[:2], *at), own), value, zero)
        else:
            number = plan.counts(x.shape[2:], at, count_padding)
            share = value / te.cast(value.dtype, number)
        return te.sum(te.if_then_else(inside, share, zero), axis=plan.window)

    made = te.compute(x.shape, element, name="T_backward")
    return arranged(out, made, layout, "NCHW")


def _best(x: WindowView, g: WindowView, plan: Plan) -> te.Tensor:
    """Which place of each window holds its maximum, the first of equal ones."""
    window = window_axes(plan.sizes)

    def element(*i: Scalar) -> Any:
        at = plan.places(i[2:], window)
        inside = within(at, x.shape[2:], [True, True])
        value = wide(x(*i[:2], *at))
        number = window[0] * int64(plan.sizes[1]) + window[1]
        held = te.if_then_else(inside, value, least(value.dtype))
        return FIRST_LARGEST((te.cast("int64", number), held), axis=window)

    place, _ = te.compute(g.shape, element, name="T_best")
    return place  # type: ignore[no-any-return]


OPERATORS: dict[str, Definition] = {
    **{
        f"nn.{kind}_pool{n}d": partial(_pool, kind, n) for kind in ("max", "avg") for n in (1, 2, 3)
    },
    **{f"nn.adaptive_avg_pool{n}d": partial(_adaptive, n) for n in (1, 2, 3)},
    **{f"grad.{kind}_pool2d_backward": partial(_pool_backward, kind) for kind in ("max", "avg")},
}
"""The operators that functions of this file make or share, by name."""
