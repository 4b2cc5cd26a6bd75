"""Windows that move over spatial axes: convolutions, their transposes, pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import (
    Array,
    Function,
    back,
    is_float,
    kind_of,
    need_floats,
    need_numbers,
    quiet,
    smallest,
    wide,
)
from rlx.operators.evaluate.elementwise import convert
from rlx.operators.evaluate.reduction import mean_of, need_elements
from rlx.operators.evaluation import OperatorFault
from rlx.operators.layout import pieces
from rlx.operators.windows import SPATIAL
from rlx.spec.registry import rule

Sides = list[tuple[int, int]]


def canonical(x: Array, text: str, axes: str) -> Array:
    """A tensor in a layout, converted to unsplit axes in the given order."""
    if text == axes:
        return x
    order = [k for axis in axes for k, (name, _) in enumerate(pieces(text)) if name == axis]
    sizes = [
        prod(n for n, (name, _) in zip(x.shape, pieces(text), strict=True) if name == axis)
        for axis in axes
    ]
    return np.transpose(x, order).reshape(sizes)


def arranged(x: Array, text: str, axes: str) -> Array:
    """A tensor with axes in the given order, converted to a layout; split axes are padded with
    zeros.
    """
    if text == axes:
        return x
    split: list[int] = []
    places: dict[int, int] = {}
    padded: list[tuple[int, int]] = []
    for axis, size in zip(axes, x.shape, strict=True):
        own = [(at, factor) for at, (name, factor) in enumerate(pieces(text)) if name == axis]
        whole = prod(factor for _, factor in own if factor)
        count = -(-size // whole)
        padded.append((0, count * whole - size))
        for at, factor in sorted(own, key=lambda piece: piece[1] is not None):
            places[at] = len(split)
            split.append(factor or count)
    made = np.pad(x, padded).reshape(split)
    return np.transpose(made, [places[at] for at in range(len(places))])


def sides(given: Sequence[int], count: int) -> Sides:
    """The padding before and after along each axis, from one number, one per axis, or all befores
    and all afters.
    """
    if len(given) == 1:
        return [(given[0], given[0])] * count
    if len(given) == count:
        return [(k, k) for k in given]
    return list(zip(given[:count], given[count:], strict=True))


def cropped(x: Array, given: Sides) -> tuple[Array, Sides]:
    """The tensor cropped by negative padding, and the remaining padding."""
    if all(side >= 0 for pair in given for side in pair):
        return x, given
    lead = x.ndim - len(given)
    cut: list[Any] = [slice(None)] * lead
    cut += [
        slice(max(-before, 0), max(n + min(after, 0), 0))
        for n, (before, after) in zip(x.shape[lead:], given, strict=True)
    ]
    rest = [(max(before, 0), max(after, 0)) for before, after in given]
    return x[tuple(cut)], rest


def spread(given: Sequence[int], count: int) -> tuple[int, ...]:
    """One number for each axis."""
    return tuple(given) * count if len(given) == 1 else tuple(given)


@rule("E-window", "401e2441", "computation")
def windows(
    x: Array, sizes: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> Array:
    """A view of every window over the last axes: the positions of windows, then the positions in a
    window.
    """
    reach = [(n - 1) * d + 1 for n, d in zip(sizes, dilation, strict=True)]
    spatial = x.shape[-len(reach) :]
    counts = [(m - n) // s + 1 for n, m, s in zip(reach, spatial, strides, strict=True)]
    if any(n < 1 for n in sizes) or any(count < 0 for count in counts):
        raise OperatorFault(
            "E-window-size",
            (f"windows of size {tuple(reach)} do not fit axes of lengths {tuple(spatial)}"),
        )
    axes = tuple(range(x.ndim - len(reach), x.ndim))
    if 0 in counts:
        return np.zeros((*x.shape[: -len(reach)], *counts, *sizes), x.dtype)
    found = sliding_window_view(x, tuple(reach), axis=axes)
    steps = [slice(None)] * (x.ndim - len(reach))
    steps += [slice(None, None, s) for s in strides] + [slice(None, None, d) for d in dilation]
    return found[tuple(steps)]


# ---------------------------------------------------------------- convolutions


@rule("E-channels", "4f0b72d3", "computation")
def _channels(channels: int, each: int, outputs: int, groups: int) -> None:
    if groups < 1 or outputs % groups or channels != each * groups:
        raise OperatorFault(
            "E-channels-groups",
            (
                f"{channels} channels and {outputs} outputs in {groups} groups do not match"
                f" weights for {each} channels"
            ),
        )


def convolution(count: str) -> Function:
    """The evaluation of a convolution over a number of axes."""
    axes = SPATIAL[int(count)]

    def evaluate(
        data: Array,
        weight: Array,
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        groups: int,
        layout: str,
        kernel: str,
        out: str | None,
        kind: DataType | None,
    ) -> Array:
        made = kind_of(kind, data.dtype)
        x = wide(convert(canonical(data, layout, f"NC{axes}"), made))
        w = wide(convert(canonical(weight, kernel, f"OI{axes}"), made))
        _channels(x.shape[1], w.shape[1], w.shape[0], groups)
        number = len(axes)
        x, around = cropped(x, sides(padding, number))
        x = np.pad(x, [(0, 0), (0, 0), *around])
        seen = windows(x, w.shape[2:], spread(strides, number), spread(dilation, number))
        parts = [
            _mixed(part, some, number)
            for part, some in zip(
                np.split(seen, groups, axis=1), np.split(w, groups, axis=0), strict=True
            )
        ]
        result = parts[0] if groups == 1 else np.concatenate(parts, axis=1)
        return back(arranged(result, out or layout, f"NC{axes}"), made)

    return evaluate


def _mixed(seen: Array, weight: Array, number: int) -> Array:
    """Sums over channels and places of windows: (N, C, positions, places) with (O, C, places)."""
    places = tuple(range(2 + number, 2 + 2 * number))
    found = np.tensordot(seen, weight, axes=((1, *places), tuple(range(1, 2 + number))))
    return np.moveaxis(found, -1, 1)


def transposed(count: str) -> Function:
    """The evaluation of a transposed convolution over a number of axes."""
    axes = SPATIAL[int(count)]

    def evaluate(
        data: Array,
        weight: Array,
        strides: Sequence[int],
        padding: Sequence[int],
        extra: Sequence[int],
        dilation: Sequence[int],
        groups: int,
        layout: str,
        kernel: str,
        out: str | None,
        kind: DataType | None,
    ) -> Array:
        made = kind_of(kind, data.dtype)
        number = len(axes)
        x = wide(convert(canonical(data, layout, f"NC{axes}"), made))
        # The data's channels are the weight's first axis: "IO" names them from the convolution's
        # side.
        w = wide(convert(canonical(weight, kernel, f"IO{axes}"), made))
        _channels(w.shape[0], x.shape[1] // max(groups, 1), x.shape[1], groups)
        steps, spacing = spread(strides, number), spread(dilation, number)
        more = spread(extra, number)
        full = [
            max((n - 1) * s + (k - 1) * d + 1 + max(e, 0), 0)
            for n, s, k, d, e in zip(x.shape[2:], steps, w.shape[2:], spacing, more, strict=True)
        ]
        result = np.zeros((x.shape[0], w.shape[1] * groups, *full), x.dtype)
        for place in product(*map(range, w.shape[2:])) if x.size else ():
            where = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(place, spacing, x.shape[2:], steps, strict=True)
            )
            result[(slice(None), slice(None), *where)] += _spread_out(x, w, place, groups)
        pairs = zip(sides(padding, number), more, strict=True)
        result, around = cropped(result, [(-b, min(e, 0) - a) for (b, a), e in pairs])
        result = np.pad(result, [(0, 0), (0, 0), *around])
        return back(arranged(result, out or layout, f"NC{axes}"), made)

    return evaluate


def _spread_out(x: Array, w: Array, place: tuple[int, ...], groups: int) -> Array:
    """What each element adds to the outputs at one place of its window."""
    at: Any = (slice(None), slice(None), *place)
    weights = w[at]
    parts = [
        np.moveaxis(np.tensordot(part, some, axes=((1,), (0,))), -1, 1)
        for part, some in zip(np.split(x, groups, 1), np.split(weights, groups, 0), strict=True)
    ]
    return parts[0] if groups == 1 else np.concatenate(parts, axis=1)


# ---------------------------------------------------------------- pools


def pool(which: str) -> Function:
    """The evaluation of a pool: ``"max2"`` is a maximum over two axes."""
    kind, axes = which[:3], SPATIAL[int(which[3])]

    def evaluate(
        data: Array,
        size: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: int,
        count_padding: int,
        layout: str,
        out: str | None,
    ) -> Array:
        number = len(axes)
        x = wide(canonical(data, layout, f"NC{axes}"))
        plan = (spread(size, number), spread(strides, number), spread(dilation, number))
        asked = sides(padding, number)
        x, around = cropped(x, _around(x.shape[2:], asked, plan, ceil_mode))
        result = _POOLS[kind](x, around, plan, _counted(asked, count_padding))
        return back(arranged(result, out or layout, f"NC{axes}"), data.dtype)

    return evaluate


Plan = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _around(spatial: Sequence[int], given: Sides, plan: Plan, ceil_mode: int) -> Sides:
    """The padding, with as much behind as a last window needs that is only begun, but not in the
    padding itself.
    """
    found = []
    for n, (before, after), size, step, spacing in zip(spatial, given, *plan, strict=True):
        reach = (size - 1) * spacing + 1
        if ceil_mode:
            last = -(-(n + before + after - reach) // step)
            if last * step >= n + before:
                last -= 1
            after = last * step + reach - n - before
        found.append((before, after))
    return found


def _counted(asked: Sides, count_padding: int) -> Sides:
    """The padding whose places a mean counts; what negative padding takes away is none."""
    return [(max(b, 0), max(a, 0)) if count_padding else (0, 0) for b, a in asked]


def _counts(spatial: Sequence[int], around: Sides, plan: Plan, counted: Sides) -> Array:
    """How many places of each window lie in the data or in the padding that counts; 1 where none
    does.
    """
    inside = np.zeros([n + b + a for n, (b, a) in zip(spatial, around, strict=True)], np.int64)
    where = [
        slice(b - some, b + n + more)
        for n, (b, _), (some, more) in zip(spatial, around, counted, strict=True)
    ]
    inside[tuple(where)] = 1
    count = np.sum(windows(inside, *plan), axis=tuple(range(-len(around), 0)))
    return np.asarray(np.maximum(count, 1))


def _maximum(x: Array, around: Sides, plan: Plan, _: Sides) -> Array:
    padded = np.pad(x, [(0, 0), (0, 0), *around], constant_values=smallest(x.dtype))
    seen = windows(padded, *plan)
    return np.asarray(np.max(seen, axis=tuple(range(-len(around), 0))))


def _mean(x: Array, around: Sides, plan: Plan, counted: Sides) -> Array:
    need_numbers("avg_pool", x)
    places = tuple(range(-len(around), 0))
    padded = np.pad(x, [(0, 0), (0, 0), *around])
    total = np.sum(windows(padded, *plan), axis=places, dtype=x.dtype)
    count = _counts(x.shape[2:], around, plan, counted)
    if is_float(x.dtype):
        return np.asarray(total / np.asarray(count, x.dtype))
    return np.asarray(np.sign(total) * (np.abs(total) // count)).astype(x.dtype)


_POOLS: dict[str, Callable[[Array, Sides, Plan, Sides], Array]] = {"max": _maximum, "avg": _mean}


def adaptive(count: str) -> Function:
    """The evaluation of an adaptive mean over a number of axes."""
    axes = SPATIAL[int(count)]

    def evaluate(data: Array, size: Sequence[int] | None, layout: str, out: str | None) -> Array:
        x = wide(canonical(data, layout, f"NC{axes}"))
        need_numbers("adaptive_avg_pool", x)
        wanted = x.shape[2:] if size is None else spread(size, len(axes))
        for k, steps in enumerate(wanted, 2):
            n = x.shape[k]
            if steps:
                need_elements(x, (k,), "mean")
            bounds = [(at * n // steps, -(-(at + 1) * n // steps)) for at in range(steps)]
            parts = [
                mean_of(np.take(x, range(low, high), axis=k), (k,), True) for low, high in bounds
            ]
            x = quiet(np.concatenate, parts, k).astype(x.dtype) if parts else np.take(x, [], axis=k)
        return back(arranged(x, out or layout, f"NC{axes}"), data.dtype)

    return evaluate


def pool_backward(kind: str) -> Function:
    """The evaluation of the gradient of a pool over two axes."""

    def evaluate(
        gradient: Array,
        data: Array,
        size: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: int,
        count_padding: int,
        layout: str,
        out: str | None,
    ) -> Array:
        if kind == "avg":
            need_floats("avg_pool2d_backward", data)
        x = wide(canonical(data, layout, "NCHW"))
        g = wide(canonical(gradient, out or layout, "NCHW"))
        plan = (spread(size, 2), spread(strides, 2), spread(dilation, 2))
        whole = x.shape[2:]
        asked = sides(padding, 2)
        beside = _around(whole, asked, plan, ceil_mode)
        x, around = cropped(x, beside)
        result = np.zeros(
            [n + sum(pad) for n, pad in zip(x.shape, [(0, 0), (0, 0), *around], strict=True)],
            x.dtype,
        )
        share = _shares(kind, x, around, plan, _counted(asked, count_padding))
        for place in product(*map(range, plan[0])):
            where = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(place, plan[2], g.shape[2:], plan[1], strict=True)
            )
            at: Any = (..., *place)
            # An infinite gradient is none where it has no share.
            added = quiet(lambda part: np.where(part == 0, 0, g * part), share[at])
            result[(slice(None), slice(None), *where)] += added.astype(result.dtype)
        cut = [slice(b, b + n) for (b, _), n in zip(around, x.shape[2:], strict=True)]
        found = _put_back(result[(slice(None), slice(None), *cut)], whole, beside)
        return back(arranged(found, layout, "NCHW"), data.dtype)

    return evaluate


def _put_back(x: Array, whole: Sequence[int], asked: Sides) -> Array:
    """The gradient of all elements: that of those which negative padding takes away is zero."""
    lead = [max(-before, 0) for before, _ in asked]
    behind = [n - b - k for n, b, k in zip(whole, lead, x.shape[2:], strict=True)]
    return np.pad(x, [(0, 0), (0, 0), *zip(lead, behind, strict=True)])


def _shares(kind: str, x: Array, around: Sides, plan: Plan, counted: Sides) -> Array:
    """How much of a result's gradient each place of its window gets."""
    if kind == "max":
        padded = np.pad(x, [(0, 0), (0, 0), *around], constant_values=smallest(x.dtype))
        seen = windows(padded, *plan)
        flat = seen.reshape(*seen.shape[:-2], prod(seen.shape[-2:]))
        first = np.argmax(flat, axis=-1)[..., None] == np.arange(flat.shape[-1])
        return np.asarray(first.reshape(seen.shape).astype(x.dtype))
    inside = windows(np.pad(np.ones(x.shape[2:], x.dtype), around), *plan)
    return np.asarray(inside / _counts(x.shape[2:], around, plan, counted)[..., None, None])


OPERATORS: dict[str, Function] = {
    **{f"nn.conv{count}d": convolution(str(count)) for count in (1, 2, 3)},
    **{f"nn.conv{count}d_transpose": transposed(str(count)) for count in (1, 2, 3)},
    **{f"nn.{kind}_pool{count}d": pool(f"{kind}{count}") for kind in _POOLS for count in (1, 2, 3)},
    **{f"nn.adaptive_avg_pool{count}d": adaptive(str(count)) for count in (1, 2, 3)},
    **{f"grad.{kind}_pool2d_backward": pool_backward(kind) for kind in _POOLS},
}
"""The operators that functions of this file make or share, by name."""
