"""Windows that move over spatial axes: convolutions and their transposes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rlx import te
from rlx.grammar.nodes.dtype import DataType
from rlx.operators.windows import SPATIAL
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    both,
    convert,
    equals,
    every,
    int64,
    need_numbers,
    wide,
)
from rlx.transform.legalization.layouts import (
    WindowView,
    arranged,
    lengths_of,
    sides,
    spread,
    window_axes,
    within,
)
from rlx.transform.legalization.result import Result

Definition = Callable[..., Any]


def _convolution(
    count: int,
    out: Result,
    data: te.Tensor,
    weight: te.Tensor,
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    layout: str,
    kernel: str,
    out_layout: str | None,
    kind: DataType | None,
) -> te.Tensor:
    axes = SPATIAL[count]
    need_numbers(data.dtype, weight.dtype)
    x, w = WindowView(data, layout, f"NC{axes}"), WindowView(weight, kernel, f"OI{axes}")
    lengths = lengths_of(out, out_layout or layout, f"NC{axes}")
    around, steps = sides(padding, count), spread(strides, count)
    spacing = spread(dilation, count)
    channel = te.reduce_axis((0, w.shape[1]), name="c")
    window = window_axes(w.shape[2:])
    each = w.shape[0] // int64(groups)

    def element(*i: Scalar) -> Any:
        at = [
            i[2 + k] * int64(steps[k]) + window[k] * int64(spacing[k]) - int64(around[k][0])
            for k in range(count)
        ]
        first = channel if groups == 1 else i[1] // each * w.shape[1] + channel
        inside = within(at, x.shape[2:], [max(pair) > 0 for pair in around])
        value = wide(convert(wide(x(i[0], first, *at)), out.dtype))
        factor = wide(convert(wide(w(i[1], channel, *window)), out.dtype))
        held = te.if_then_else(inside, value, te.const(0, value.dtype))
        return te.sum(held * factor, axis=[channel, *window])

    made = te.compute(lengths, element, name="T_conv")
    return arranged(out, made, out_layout or layout, f"NC{axes}")


def _transposed(
    count: int,
    out: Result,
    data: te.Tensor,
    weight: te.Tensor,
    strides: Sequence[int],
    padding: Sequence[int],
    extra: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    layout: str,
    kernel: str,
    out_layout: str | None,
    kind: DataType | None,
) -> te.Tensor:
    axes = SPATIAL[count]
    need_numbers(data.dtype, weight.dtype)
    x, w = WindowView(data, layout, f"NC{axes}"), WindowView(weight, kernel, f"IO{axes}")
    lengths = lengths_of(out, out_layout or layout, f"NC{axes}")
    around, steps = sides(padding, count), spread(strides, count)
    spacing = spread(dilation, count)
    inputs = x.shape[1] // int64(groups)
    channel = te.reduce_axis((0, inputs), name="c")
    window = window_axes(w.shape[2:])

    def element(*i: Scalar) -> Any:
        group = i[1] // w.shape[1]
        first = group * inputs + channel
        far = [i[2 + k] + int64(around[k][0]) - window[k] * int64(spacing[k]) for k in range(count)]
        at = [t // int64(s) for t, s in zip(far, steps, strict=True)]
        meets = every(equals(t % int64(s), int64(0)) for t, s in zip(far, steps, strict=True))
        inside = both(meets, within(at, x.shape[2:], [True] * count))
        value = wide(convert(wide(x(i[0], first, *at)), out.dtype))
        factor = wide(convert(wide(w(first, i[1] % w.shape[1], *window)), out.dtype))
        held = te.if_then_else(inside, value * factor, te.const(0, value.dtype))
        return te.sum(held, axis=[channel, *window])

    made = te.compute(lengths, element, name="T_conv_transpose")
    return arranged(out, made, out_layout or layout, f"NC{axes}")


OPERATORS: dict[str, Definition] = {
    **{f"nn.conv{n}d": partial(_convolution, n) for n in (1, 2, 3)},
    **{f"nn.conv{n}d_transpose": partial(_transposed, n) for n in (1, 2, 3)},
}
"""The operators that functions of this file make or share, by name."""
