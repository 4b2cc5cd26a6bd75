"""Pooling: the maximum or the mean of a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array, Function
from rlx.operators.dim_arithmetic import const
from rlx.operators.exprs import Result, decline
from rlx.operators.late import np, te
from rlx.operators.layout import Layout, layout, layout_rank
from rlx.operators.operator_call import ForwardCall, OperatorCall
from rlx.operators.parameters import IntList, Ints, Tensor
from rlx.operators.reduction import mean_of, need_elements
from rlx.operators.registry import Rule, computes, defines, operator
from rlx.operators.rule_helpers import gradient, ranked, tensor
from rlx.operators.windows import (
    SPATIAL,
    Sides,
    behind,
    padding,
    per_axis,
    positions,
    sides,
    spread,
)


def _layouts(
    site: OperatorCall, data: TensorStructInfo, axes: str, text: str, out_text: str
) -> tuple[TensorStructInfo, Layout, Layout]:
    """The result as far as it is known without shapes, the data's layout, and the result's."""
    best = ranked(layout_rank(out_text), data.dtype, data.vdevice)
    inner = layout(site, text, axes, data, 0, best)
    return best, inner, layout(site, out_text, axes, None, 0, best)


def _pool(count: int) -> Rule:
    axes = f"NC{SPATIAL[count]}"

    def pool(
        site: OperatorCall,
        data: Tensor,
        pool_size: Ints = (1,),
        strides: Ints = (1,),
        padding_: Ints = (0,),
        dilation: Ints = (1,),
        ceil_mode: int = False,
        count_include_pad: int = False,
        layout_: str = "NCHW",
        out_layout: str | None = None,
    ) -> StructInfo:
        """One result for each position of a window over the spatial axes."""
        best, inner, outer = _layouts(site, data, axes, layout_, out_layout or layout_)
        sizes = spread(site, "pool_size", pool_size, count)
        steps = spread(site, "strides", strides, count)
        spacing = spread(site, "dilation", dilation, count)
        pads, last = padding(site, padding_, count), behind(padding_, count)
        dims = site.dims(data)
        if dims is None:
            return best
        x = inner.canonical(dims, axes)
        found = [
            positions(
                site,
                x[2 + k],
                const(sizes[k]),
                pads[k],
                steps[k],
                spacing[k],
                last[k] if ceil_mode else None,
                best,
            )
            for k in range(count)
        ]
        return tensor(outer.arrange((*x[:2], *found), axes), data.dtype, data.vdevice)

    return pool


def _adaptive(count: int) -> Rule:
    axes = f"NC{SPATIAL[count]}"

    def adaptive(
        site: OperatorCall,
        data: Tensor,
        output_size: Ints | None = None,
        layout_: str = "NCHW",
        out_layout: str | None = None,
    ) -> StructInfo:
        """Windows chosen so that the result has the size asked for (the input's, if none is)."""
        best, inner, outer = _layouts(site, data, axes, layout_, out_layout or layout_)
        dims = site.dims(data)
        sizes = None
        if output_size is not None:
            sizes = spread(site, "output_size", output_size, count)
        if dims is None:
            return best
        x = inner.canonical(dims, axes)
        if sizes is not None:
            x = (*x[:2], *map(const, sizes))
        return tensor(outer.arrange(x, axes), data.dtype, data.vdevice)

    return adaptive


_ADAPTIVE = {
    1: "f(a, c, 8) | f(a, c, b), output_size=4 | 1 | None",
    2: """
    f(a, c, 8, 8), output_size=[1, 1] | 7 | None
    f(a, 8, 8, c), output_size=4, layout='NHWC'
    """,
    3: "f(a, c, 8, 8, 8), output_size=2 | None",
}
"""Legal calls of adaptive pools, by the number of axes."""
_LAST = "\nf(a, 8, 8, c), pool_size=[2, 3], layout='NHWC'"


def _calls(count: int) -> str:
    lengths = ", ".join("8" * count)
    return (
        f"f(a, c, {lengths}), pool_size=2 | 3, strides=None | 2, padding=None | 1, "
        "ceil_mode=None | True, count_include_pad=None | True"
    )


_BROKEN = """
OBL-layout-axes: f(a, 3, 8, 8), layout='NCH'
OBL-layout-rank: f(a, 3, 8)
OBL-window-positive: f(a, 3, 8, 8), pool_size=[0, 1]
OBL-output-size: f(a, 3, 2, 2), pool_size=[6, 6]
"""


_NAMES = {
    1: ("relax.nn.avg_pool1d", "relax.nn.max_pool1d", "relax.nn.adaptive_avg_pool1d"),
    2: ("relax.nn.avg_pool2d", "relax.nn.max_pool2d", "relax.nn.adaptive_avg_pool2d"),
    3: ("relax.nn.avg_pool3d", "relax.nn.max_pool3d", "relax.nn.adaptive_avg_pool3d"),
}


def _declare(count: int) -> None:
    average, maximum, adapted = _NAMES[count]
    layout = f"NC{SPATIAL[count]}"
    padded = count != 2
    calls = _calls(count)
    operator(average, calls=calls, layout=layout, count_include_pad=padded)(_pool(count))
    calls += _LAST if count == 2 else ""
    broken = _BROKEN if count == 2 else ""
    operator(maximum, calls=calls, broken=broken, layout=layout)(_pool(count))
    operator(adapted, calls=_ADAPTIVE[count], layout=layout)(_adaptive(count))


for _count in SPATIAL:
    _declare(_count)
_POOL2D = _pool(2)


@operator(
    "relax.grad.avg_pool2d_backward",
    calls="f(a, 3, 4, 4), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2, 2)",
)
@operator(
    "relax.grad.max_pool2d_backward",
    calls="f(a, 3, 4, 4), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2, 2)",
    broken="""
    OBL-gradient-rank: f(a, 3, 4), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2, 2)
    OBL-gradient-dims: f(a, 3, 9, 9), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2, 2)
    """,
)
def pool_backward(
    site: OperatorCall,
    output_grad: Tensor,
    data: Tensor,
    pool_size: IntList = (1,),
    strides: IntList = (1,),
    padding_: IntList = (0,),
    dilation: IntList = (1,),
    ceil_mode: int = False,
    count_include_pad: int = False,
    layout_: str = "NCHW",
    out_layout: str | None = None,
) -> StructInfo:
    """The gradient of a pool with respect to its input."""
    window = (pool_size, strides, padding_, dilation, ceil_mode, count_include_pad)
    inner = ForwardCall(site.operator, site.call, site.ctx)
    gradient(site, output_grad, _POOL2D(inner, data, *window, layout_, out_layout))
    return data


# ---------------------------------------------------------------- values


def pool_value(kind: str, count: int) -> Function:
    """The evaluation of a pool (``"max"`` or ``"avg"``) over a number of axes."""
    axes = SPATIAL[count]

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
        x = arrays.wide(arrays.canonical(data, layout, f"NC{axes}"))
        plan = (per_axis(size, number), per_axis(strides, number), per_axis(dilation, number))
        asked = sides(padding, number)
        x, around = arrays.cropped(x, _around(x.shape[2:], asked, plan, ceil_mode))
        result = _POOLS[kind](x, around, plan, _counted(asked, count_padding))
        return arrays.back(arrays.arranged(result, out or layout, f"NC{axes}"), data.dtype)

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
    """The number of places of each window in the data or in the padding that counts; 1 where there
    are none.
    """
    inside = np.zeros([n + b + a for n, (b, a) in zip(spatial, around, strict=True)], np.int64)
    where = [
        slice(b - some, b + n + more)
        for n, (b, _), (some, more) in zip(spatial, around, counted, strict=True)
    ]
    inside[tuple(where)] = 1
    count = np.sum(arrays.windows(inside, *plan), axis=tuple(range(-len(around), 0)))
    return np.asarray(np.maximum(count, 1))


def _maximum(x: Array, around: Sides, plan: Plan, _: Sides) -> Array:
    padded = np.pad(x, [(0, 0), (0, 0), *around], constant_values=arrays.smallest(x.dtype))
    seen = arrays.windows(padded, *plan)
    return np.asarray(np.max(seen, axis=tuple(range(-len(around), 0))))


def _mean(x: Array, around: Sides, plan: Plan, counted: Sides) -> Array:
    arrays.need_numbers("avg_pool", x)
    places = tuple(range(-len(around), 0))
    padded = np.pad(x, [(0, 0), (0, 0), *around])
    total = np.sum(arrays.windows(padded, *plan), axis=places, dtype=x.dtype)
    count = _counts(x.shape[2:], around, plan, counted)
    if arrays.is_float(x.dtype):
        return np.asarray(total / np.asarray(count, x.dtype))
    return arrays.truncated(total, count).astype(x.dtype)


_POOLS: dict[str, Callable[[Array, Sides, Plan, Sides], Array]] = {"max": _maximum, "avg": _mean}


def adaptive_value(count: int) -> Function:
    """The evaluation of an adaptive mean over a number of axes."""
    axes = SPATIAL[count]

    def evaluate(data: Array, size: Sequence[int] | None, layout: str, out: str | None) -> Array:
        x = arrays.wide(arrays.canonical(data, layout, f"NC{axes}"))
        arrays.need_numbers("adaptive_avg_pool", x)
        wanted = x.shape[2:] if size is None else per_axis(size, len(axes))
        for k, steps in enumerate(wanted, 2):
            n = x.shape[k]
            if steps:
                need_elements(x, (k,), "mean")
            bounds = [(at * n // steps, -(-(at + 1) * n // steps)) for at in range(steps)]
            parts = [
                mean_of(np.take(x, range(low, high), axis=k), (k,), True) for low, high in bounds
            ]
            x = (
                arrays.quiet(np.concatenate, parts, k).astype(x.dtype)
                if parts
                else np.take(x, [], axis=k)
            )
        return arrays.back(arrays.arranged(x, out or layout, f"NC{axes}"), data.dtype)

    return evaluate


def pool_backward_value(kind: str) -> Function:
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
            arrays.need_floats("avg_pool2d_backward", data)
        x = arrays.wide(arrays.canonical(data, layout, "NCHW"))
        g = arrays.wide(arrays.canonical(gradient, out or layout, "NCHW"))
        plan = (per_axis(size, 2), per_axis(strides, 2), per_axis(dilation, 2))
        whole = x.shape[2:]
        asked = sides(padding, 2)
        beside = _around(whole, asked, plan, ceil_mode)
        x, around = arrays.cropped(x, beside)
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
            added = arrays.quiet(lambda part: np.where(part == 0, 0, g * part), share[at])
            result[(slice(None), slice(None), *where)] += added.astype(result.dtype)
        cut = [slice(b, b + n) for (b, _), n in zip(around, x.shape[2:], strict=True)]
        found = _put_back(result[(slice(None), slice(None), *cut)], whole, beside)
        return arrays.back(arrays.arranged(found, layout, "NCHW"), data.dtype)

    return evaluate


def _put_back(x: Array, whole: Sequence[int], asked: Sides) -> Array:
    """The gradient of all elements: that of those which negative padding takes away is zero."""
    lead = [max(-before, 0) for before, _ in asked]
    behind = [n - b - k for n, b, k in zip(whole, lead, x.shape[2:], strict=True)]
    return np.pad(x, [(0, 0), (0, 0), *zip(lead, behind, strict=True)])


def _shares(kind: str, x: Array, around: Sides, plan: Plan, counted: Sides) -> Array:
    """The share of a result's gradient that each place of its window gets."""
    if kind == "max":
        padded = np.pad(x, [(0, 0), (0, 0), *around], constant_values=arrays.smallest(x.dtype))
        seen = arrays.windows(padded, *plan)
        flat = seen.reshape(*seen.shape[:-2], prod(seen.shape[-2:]))
        first = np.argmax(flat, axis=-1)[..., None] == np.arange(flat.shape[-1])
        return np.asarray(first.reshape(seen.shape).astype(x.dtype))
    inside = arrays.windows(np.pad(np.ones(x.shape[2:], x.dtype), around), *plan)
    return np.asarray(inside / _counts(x.shape[2:], around, plan, counted)[..., None, None])


# ---------------------------------------------------------------- definitions


class WindowPlan:
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
        self.sizes, self.steps = per_axis(size, count), per_axis(strides, count)
        self.spacing, self.around = per_axis(dilation, count), sides(padding, count)
        if any(side < 0 for pair in self.around for side in pair):
            decline("its padding is negative")
        self.window = exprs.window_axes(self.sizes)

    def held(self, x: exprs.WindowView, fill: te.Scalar, ceil_mode: int) -> Any:
        """The elements of the windows of an element of the result, `fill` in the padding and in
        what the last windows reach beyond it where lengths are rounded up.
        """
        beyond = [step - 1 if ceil_mode else 0 for step in self.steps]
        around = [(b, a + more) for (b, a), more in zip(self.around, beyond, strict=True)]
        padded = exprs.padded(x, around, fill)

        def element(i: Sequence[te.Scalar], within: Sequence[te.Scalar]) -> te.Scalar:
            at = [
                p * exprs.int64(s) + w * exprs.int64(d)
                for p, w, s, d in zip(i[2:], within, self.steps, self.spacing, strict=True)
            ]
            return padded(*i[:2], *at)

        return element

    def counts(
        self,
        shape: Sequence[te.Scalar],
        position: Sequence[te.Scalar],
        padding: int,
        ceil_mode: int,
    ) -> te.Scalar:
        """The number of positions of a window in the data, and in the padding if that is included;
        at least 1.
        """
        found = exprs.int64(1)
        for k, (length, p) in enumerate(zip(shape, position, strict=True)):
            before, after = self.around[k] if padding else (0, 0)
            if not ceil_mode and (before, after) == self.around[k]:
                line = exprs.int64(self.sizes[k])  # every window is inside
            else:
                line = self._count(k, p, exprs.int64(-before), length + exprs.int64(after))
            found = found * line
        return te.maximum(found, exprs.int64(1))

    def _count(self, k: int, p: te.Scalar, low: te.Scalar, high: te.Scalar) -> te.Scalar:
        """The number of places of a window along an axis that are at least `low` and less than
        `high`.
        """
        begin = p * exprs.int64(self.steps[k]) - exprs.int64(self.around[k][0])
        if self.spacing[k] == 1:
            end = te.minimum(begin + exprs.int64(self.sizes[k]), high)
            return te.maximum(end - te.maximum(begin, low), exprs.int64(0))
        line = exprs.int64(0)
        for w in range(self.sizes[k]):
            at = begin + exprs.int64(w * self.spacing[k])
            inside = exprs.both(at >= low, at < high)
            line = line + te.if_then_else(inside, exprs.int64(1), exprs.int64(0))
        return line


def _pool_definition(
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
        exprs.need_numbers(data.dtype)
    x = exprs.WindowView(data, layout, f"NC{axes}")
    lengths = exprs.lengths_of(out, out_layout or layout, f"NC{axes}")
    plan = WindowPlan(count, size, strides, padding, dilation)
    working = exprs.working(x.dtype)
    fill = exprs.least(working) if kind == "max" else te.const(0, working)
    held = plan.held(x, fill, ceil_mode)

    def element(*i: te.Scalar) -> Any:
        join = exprs.largest() if kind == "max" else te.sum
        return join(held(i, plan.window), axis=plan.window)

    made: te.Tensor = te.compute(lengths, element, name=f"T_{kind}_pool")

    def final(*i: te.Scalar) -> te.Scalar:
        found = made(*i)
        number = plan.counts(x.shape[2:], i[2:], count_padding, ceil_mode)
        if found.dtype.is_float:
            return found / te.cast(found.dtype, number)
        return te.cast(found.dtype, te.truncdiv(te.cast("int64", found), number))

    value = made if kind == "max" else final
    return exprs.arranged(out, value, out_layout or layout, f"NC{axes}")


def _adaptive_definition(
    count: int,
    out: Result,
    data: te.Tensor,
    size: Sequence[int] | None,
    layout: str,
    out_layout: str | None,
) -> te.Tensor:
    axes = SPATIAL[count]
    exprs.need_floats(data.dtype)
    x = exprs.WindowView(data, layout, f"NC{axes}")
    lengths = exprs.lengths_of(out, out_layout or layout, f"NC{axes}")
    if size is None:
        return exprs.arranged(out, lambda *i: exprs.wide(x(*i)), out_layout or layout, f"NC{axes}")
    wanted = lengths[2:]
    sizes = list(zip(x.shape[2:], wanted, strict=True))
    even = [_divides(m, n) for n, m in sizes]
    window = exprs.window_axes(
        [
            n // m if whole else te.ceildiv(n, m) + 1
            for (n, m), whole in zip(sizes, even, strict=True)
        ]
    )

    def bounds(k: int, p: te.Scalar) -> tuple[te.Scalar, te.Scalar]:
        n, m = sizes[k]
        if even[k]:
            return p * (n // m), (p + 1) * (n // m)
        return p * n // m, te.ceildiv((p + 1) * n, m)

    def element(*i: te.Scalar) -> Any:
        ends = [bounds(k, i[2 + k]) for k in range(count)]
        at = [low + w for (low, _), w in zip(ends, window, strict=True)]
        inside = exprs.every(
            place < high
            for place, (_, high), whole in zip(at, ends, even, strict=True)
            if not whole
        )
        value = exprs.wide(x(*i[:2], *at))
        if not all(even):
            value = te.if_then_else(inside, value, te.const(0, value.dtype))
        return te.sum(value, axis=window)

    made: te.Tensor = te.compute(lengths, element, name="T_adaptive")

    def final(*i: te.Scalar) -> te.Scalar:
        ends = [bounds(k, i[2 + k]) for k in range(count)]
        number = exprs.product([high - low for low, high in ends])
        return made(*i) / te.cast(made.dtype, number)

    return exprs.arranged(out, final, out_layout or layout, f"NC{axes}")


def _divides(part: te.Scalar, whole: te.Scalar) -> bool:
    """Whether a dimension is certainly a multiple of another one."""
    a, b = part.value, whole.value
    return a == 1 or bool(a and b is not None and b % a == 0)


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
    exprs.need_floats(data.dtype)
    x, g = (
        exprs.WindowView(data, layout, "NCHW"),
        exprs.WindowView(gradient, out_layout or layout, "NCHW"),
    )
    plan = WindowPlan(2, size, strides, padding, dilation)
    reach = [(n - 1) * d + 1 for n, d in zip(plan.sizes, plan.spacing, strict=True)]
    taps = exprs.window_axes([-(-n // step) for n, step in zip(reach, plan.steps, strict=True)])
    best = _best(x, g, plan, ceil_mode) if kind == "max" else None

    def share(*i: te.Scalar) -> te.Scalar:
        """The share of the gradient that each place of a window gets."""
        value = exprs.wide(g(*i))
        number = plan.counts(x.shape[2:], i[2:], count_padding, ceil_mode)
        return value / te.cast(value.dtype, number)

    shares = te.compute(g.shape, share, name="T_shares") if best is None else None

    def element(*i: te.Scalar) -> Any:
        found = []
        for k, (step, spacing) in enumerate(zip(plan.steps, plan.spacing, strict=True)):
            position, each = i[2 + k] + exprs.int64(plan.around[k][0]), exprs.int64(step)
            found.append(exprs.met(position % each, position // each, taps[k], step, spacing))
        at = [window for window, _, _ in found]
        own = [place for _, place, _ in found]
        exists = [fits for _, _, fits in found]
        exists += [
            p < exprs.int64(plan.sizes[k]) for k, p in enumerate(own) if reach[k] % plan.steps[k]
        ]
        inside = exprs.every([*exists, exprs.within(at, g.shape[2:], [True, True])])
        if shares is not None:
            value = shares(*i[:2], *at)
        else:
            assert best is not None
            value = exprs.wide(g(*i[:2], *at))
            number = own[0] * exprs.int64(plan.sizes[1]) + own[1]
            holds = exprs.equals(best(*i[:2], *at), te.cast("int32", number))
            value = te.if_then_else(holds, value, te.const(0, value.dtype))
        return te.sum(te.if_then_else(inside, value, te.const(0, value.dtype)), axis=taps)

    made = te.compute(x.shape, element, name="T_backward")
    return exprs.arranged(out, made, layout, "NCHW")


def _best(x: exprs.WindowView, g: exprs.WindowView, plan: WindowPlan, ceil_mode: int) -> te.Tensor:
    """The place of the maximum in each window, the first of equal ones."""
    held = plan.held(x, exprs.least(exprs.working(x.dtype)), ceil_mode)
    join = exprs.largest()
    window = exprs.window_axes(plan.sizes)
    top = te.compute(g.shape, lambda *i: join(held(i, plan.window), axis=plan.window), name="T_top")

    def first(*i: te.Scalar) -> Any:
        value, number = held(i, window), window[0] * exprs.int64(plan.sizes[1]) + window[1]
        holds = te.any(exprs.equals(value, top(*i)), te.isnan(value))
        last = te.const(plan.sizes[0] * plan.sizes[1], "int32")
        return te.min(te.select(holds, te.cast("int32", number), last), axis=window)

    return te.compute(g.shape, first, name="T_best")  # type: ignore[no-any-return]


for _count in (1, 2, 3):
    computes(f"relax.nn.adaptive_avg_pool{_count}d")(adaptive_value(_count))
    defines(f"relax.nn.adaptive_avg_pool{_count}d")(partial(_adaptive_definition, _count))
for _kind in ("max", "avg"):
    for _count in (1, 2, 3):
        computes(f"relax.nn.{_kind}_pool{_count}d")(pool_value(_kind, _count))
        defines(f"relax.nn.{_kind}_pool{_count}d")(partial(_pool_definition, _kind, _count))
    computes(f"relax.grad.{_kind}_pool2d_backward")(pool_backward_value(_kind))
    defines(f"relax.grad.{_kind}_pool2d_backward")(partial(_pool_backward, _kind))
