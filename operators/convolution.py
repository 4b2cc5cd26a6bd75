"""Convolutions over one, two or three axes, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.grammar.wording import counted
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array, Function
from rlx.operators.dim_arithmetic import ONE, ZERO, add, const, literal, mul, sub
from rlx.operators.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result
from rlx.operators.late import np, te
from rlx.operators.layout import layout, layout_rank
from rlx.operators.operator_call import OperatorCall, show
from rlx.operators.parameters import Ints, Tensor, Type
from rlx.operators.registry import Rule, computes, defines, operator
from rlx.operators.rule_helpers import agree, place, ranked, tensor
from rlx.operators.windows import SPATIAL, padding, per_axis, positions, sides, spread
from rlx.spec.registry import rule


@rule("OBL-channels", "obligation")
def channels(
    site: OperatorCall, data: PrimExpr, weight: PrimExpr, groups: int, out: PrimExpr
) -> bool:
    """Check that the data have the input channels of all groups of the weight, and that the groups
    divide the output channels.
    """
    each = mul(weight, const(groups))
    return divided(site, out, groups, "output channels") and site.equal(
        "OBL-channels-input",
        data,
        each,
        lambda: (
            f"{show(data)} channels {site.of(0)} do not match {show(weight)} input"
            f" channels {site.of(1)} in {counted(groups, 'group')}"
        ),
        1,
    )


@rule("OBL-groups", "obligation")
def divided(site: OperatorCall, count: PrimExpr, groups: int, what: str) -> bool:
    """Check that the number of groups is positive and divides the channels."""
    positive(site, groups)
    if groups == 1 or (literal(count) is not None and (literal(count) or 0) % groups == 0):
        site.ctx.discharged += 1
        return True
    return site.require(
        "OBL-groups-divide",
        EQ(FloorMod(count, const(groups)), ZERO),
        lambda: f"{groups} groups do not divide {show(count)} {what} {site.of(1)}",
        1,
    )


def positive(site: OperatorCall, groups: int) -> None:
    """Check that there is at least one group."""
    if groups < 1:
        site.fail("OBL-groups-positive", f"the number of groups is {groups}, expected at least 1")


class _Attributes(Record):
    """The attributes of a call, in the order of the parameters."""

    strides: Ints
    padding: Ints
    dilation: Ints
    groups: int
    data_layout: str
    kernel_layout: str
    out_layout: str | None
    out_dtype: Type | None
    output_padding: Ints = (0,)


class _Plan:
    """A call: its attributes, one number for each spatial axis, and its operands in one layout.

    Attributes
    ----------
    x, w
        The lengths of the data's axes N, C and spatial, and of the weight's O, I and spatial; None
        where not known.
    best, outer
        What is known of the result without shapes, and its layout.
    """

    def __init__(
        self, site: OperatorCall, data: Tensor, weight: Tensor, given: _Attributes, axes: str
    ) -> None:
        text, count = given.out_layout or given.data_layout, len(axes)
        kind = given.out_dtype or agree(site, (data, weight), booleans=True)
        self.axes = f"NC{axes}"
        self.best = best = ranked(layout_rank(text), kind, place(site, (data, weight)))
        inner = layout(site, given.data_layout, self.axes, data, 0, best)
        kernel = layout(site, given.kernel_layout, f"OI{axes}", weight, 1, best)
        x, w = site.dims(data), site.dims(weight)
        self.x = None if x is None else inner.canonical(x, self.axes)
        self.w = None if w is None else kernel.canonical(w, f"OI{axes}")
        self.outer = layout(site, text, self.axes, None, 0, best)
        self.strides = spread(site, "strides", given.strides, count)
        self.dilation = spread(site, "dilation", given.dilation, count)
        self.padding = padding(site, given.padding, count)
        self.extra = spread(site, "output_padding", given.output_padding, count)
        self.groups = given.groups
        positive(site, self.groups)

    def result(self, examples: PrimExpr, depth: PrimExpr, sizes: list[PrimExpr]) -> Tensor:
        """The result: how many examples, of how many channels, of which spatial size."""
        dims = self.outer.arrange((examples, depth, *sizes), self.axes)
        return tensor(dims, self.best.dtype, self.best.vdevice)


def _convolution(count: int) -> Rule:
    axes = SPATIAL[count]

    def convolution(
        site: OperatorCall,
        data: Tensor,
        weight: Tensor,
        strides: Ints = (1,),
        padding: Ints = (0,),
        dilation: Ints = (1,),
        groups: int = 1,
        data_layout: str = "NCHW",
        kernel_layout: str = "OIHW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> StructInfo:
        """Each output element is a weighted sum over a window of all input channels of its
        group.
        """
        given = (strides, padding, dilation, groups, data_layout, kernel_layout)
        attributes = _Attributes(*given, out_layout, out_dtype)
        plan = _Plan(site, data, weight, attributes, axes)
        x, w, best = plan.x, plan.w, plan.best
        if x is None or w is None or not channels(site, x[1], w[1], plan.groups, w[0]):
            return best
        sizes = [
            positions(
                site,
                x[2 + k],
                w[2 + k],
                plan.padding[k],
                plan.strides[k],
                plan.dilation[k],
                best=best,
                sized_by=1,
            )
            for k in range(count)
        ]
        return plan.result(x[0], w[0], sizes)

    return convolution


def _transposed(count: int) -> Rule:
    axes = SPATIAL[count]

    def transposed(
        site: OperatorCall,
        data: Tensor,
        weight: Tensor,
        strides: Ints = (1,),
        padding: Ints = (0,),
        output_padding: Ints = (0,),
        dilation: Ints = (1,),
        groups: int = 1,
        data_layout: str = "NCHW",
        kernel_layout: str = "IOHW",
        out_layout: str | None = None,
        out_dtype: Type | None = None,
    ) -> StructInfo:
        """Each input element adds a weighted window to the output: the reverse of a convolution."""
        given = (strides, padding, dilation, groups, data_layout, kernel_layout)
        attributes = _Attributes(*given, out_layout, out_dtype, output_padding)
        plan = _Plan(site, data, weight, attributes, axes)
        x, w = plan.x, plan.w
        extra_padding(site, plan)
        if x is None or w is None or not channels(site, x[1], w[1], 1, x[1]):
            return plan.best
        divided(site, w[1], plan.groups, "input channels")
        sizes = [_grown(x[2 + k], w[2 + k], plan, k) for k in range(count)]
        depth = mul(w[0], const(plan.groups))
        return plan.result(x[0], depth, sizes)

    return transposed


def _grown(length: PrimExpr, window: PrimExpr, plan: _Plan, k: int) -> PrimExpr:
    reach = mul(sub(window, ONE), const(plan.dilation[k]))
    moved = mul(sub(length, ONE), const(plan.strides[k]))
    return add(add(moved, reach), const(plan.extra[k] + 1 - plan.padding[k]))


@rule("OBL-grown", "obligation")
def extra_padding(site: OperatorCall, plan: _Plan) -> None:
    """Check that the output padding of a transposed convolution is less than the stride."""
    for extra, stride in zip(plan.extra, plan.strides, strict=True):
        if extra >= stride:
            words = f"the output padding {extra} must be less than the stride {stride}"
            site.fail("OBL-grown-padding", words)


_CALLS = {
    "relax.nn.conv1d": (
        """
    f(a, 3, 16), f(4, 3, 3), strides=None | 2, padding=None | 1, dilation=None | 2
    f(a, 16, 3), f(3, 3, 4), data_layout='NWC', kernel_layout='WIO'
    f(a, c, 16), f(d, c, 3), padding=None | [1, 0]
    """
    ),
    "relax.nn.conv1d_transpose": (
        "f(a, 3, 8), f(3, 4, 3), strides=2, padding=None | 1, output_padding=None | 1"
    ),
    "relax.nn.conv2d": (
        """
    f(a, 3, 8, 8), f(4, 3, 3, 3), strides=None | 2 | [2, 1], padding=None | 1 | [1, 2], dilation=None | 2
    f(a, 8, 8, 3), f(3, 3, 3, 4), data_layout='NHWC', kernel_layout='HWIO', out_layout=None | 'NCHW'
    f(a, 4, 8, 8), f(8, 2, 1, 1), groups=2
    f(a, c, 8, 8), f(d, c, 3, 3), padding=None | [1, 2, 0, 1]
    f(a, c, b, b), f(d, c, 1, 1)
    """
    ),
    "relax.nn.conv2d_transpose": (
        """
    f(a, 3, 8, 8), f(3, 4, 3, 3), strides=2, padding=None | 1, output_padding=None | 1
    f(a, 3, 8, 8), f(3, 4, 3, 3), groups=3
    """
    ),
    "relax.nn.conv3d": "f(a, 3, 8, 8, 8), f(4, 3, 3, 3, 3), strides=None | 2, padding=None | 1",
    "relax.nn.conv3d_transpose": "f(a, 3, 4, 4, 4), f(3, 4, 3, 3, 3), strides=None | 2",
}
"""Legal calls, by the operators' names."""


_BROKEN = {
    "relax.nn.conv2d": """
    OBL-layout-axes: f(a, 3, 8, 8), f(4, 3, 3, 3), data_layout='NCWW'
    OBL-layout-rank: f(a, 1, 8, 8, 3), f(4, 3, 3, 3)
    OBL-window-length: f(a, 3, 8, 8), f(4, 3, 3, 3), strides=[1, 1, 1]
    OBL-window-positive: f(a, 3, 8, 8), f(4, 3, 3, 3), strides=[0, 1]
    OBL-padding-length: f(a, 3, 8, 8), f(4, 3, 3, 3), padding=[1, 2, 3]
    OBL-output-window: f(a, 3, 2, 2), f(4, 3, 0, 1)
    OBL-output-size: f(a, 3, 2, 2), f(4, 3, 5, 5)
    OBL-channels-input: f(a, 3, 8, 8), f(4, 5, 3, 3)
    OBL-groups-positive: f(a, 3, 8, 8), f(4, 3, 3, 3), groups=0
    OBL-groups-divide: f(a, 4, 8, 8), f(3, 2, 3, 3), groups=2
    """,
    "relax.nn.conv2d_transpose": """
    OBL-grown-padding: f(a, 3, 8, 8), f(3, 4, 3, 3), strides=[2, 2], output_padding=[2, 0]
    """,
}
"""Calls that break a premise; the convolutions over other axes break the same ones."""


def _declare(count: int) -> None:
    axes = SPATIAL[count]
    for name, kernel, derive in (
        (f"relax.nn.conv{count}d", f"OI{axes}", _convolution(count)),
        (f"relax.nn.conv{count}d_transpose", f"IO{axes}", _transposed(count)),
    ):
        operator(
            name,
            calls=_CALLS[name],
            broken=_BROKEN.get(name, ""),
            data_layout=f"NC{axes}",
            kernel_layout=kernel,
        )(derive)


for _count in SPATIAL:
    _declare(_count)


# ---------------------------------------------------------------- values


@rule("E-channels", "computation")
def _channels(channels: int, each: int, outputs: int, groups: int) -> None:
    if groups < 1 or outputs % groups or channels != each * groups:
        raise OperatorFault(
            "E-channels-groups",
            (
                f"{channels} channels and {outputs} outputs in {groups} groups do not match"
                f" weights for {each} channels"
            ),
        )


def convolution_value(count: int) -> Function:
    """The evaluation of a convolution over a number of axes."""
    axes = SPATIAL[count]

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
        made = arrays.kind_of(kind, data.dtype)
        x = arrays.wide(convert(arrays.canonical(data, layout, f"NC{axes}"), made))
        w = arrays.wide(convert(arrays.canonical(weight, kernel, f"OI{axes}"), made))
        _channels(x.shape[1], w.shape[1], w.shape[0], groups)
        number = len(axes)
        x, around = arrays.cropped(x, sides(padding, number))
        x = np.pad(x, [(0, 0), (0, 0), *around])
        seen = arrays.windows(x, w.shape[2:], per_axis(strides, number), per_axis(dilation, number))
        parts = [
            _mixed(part, some, number)
            for part, some in zip(
                np.split(seen, groups, axis=1), np.split(w, groups, axis=0), strict=True
            )
        ]
        result = parts[0] if groups == 1 else np.concatenate(parts, axis=1)
        return arrays.back(arrays.arranged(result, out or layout, f"NC{axes}"), made)

    return evaluate


def _mixed(seen: Array, weight: Array, number: int) -> Array:
    """Sums over channels and places of windows: (N, C, positions, places) with (O, C, places)."""
    places = tuple(range(2 + number, 2 + 2 * number))
    found = arrays.contracted(seen, weight, (1, *places), range(1, 2 + number))
    return np.moveaxis(found, -1, 1)


def transposed_value(count: int) -> Function:
    """The evaluation of a transposed convolution over a number of axes."""
    axes = SPATIAL[count]

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
        made = arrays.kind_of(kind, data.dtype)
        number = len(axes)
        x = arrays.wide(convert(arrays.canonical(data, layout, f"NC{axes}"), made))
        # The data's channels are the weight's first axis: "IO" names them from the convolution's
        # side.
        w = arrays.wide(convert(arrays.canonical(weight, kernel, f"IO{axes}"), made))
        _channels(w.shape[0], x.shape[1] // max(groups, 1), x.shape[1], groups)
        steps, spacing = per_axis(strides, number), per_axis(dilation, number)
        more = per_axis(extra, number)
        full = [
            max((n - 1) * s + (k - 1) * d + 1 + max(e, 0), 0)
            for n, s, k, d, e in zip(x.shape[2:], steps, w.shape[2:], spacing, more, strict=True)
        ]
        result = np.zeros((x.shape[0], w.shape[1] * groups, *full), x.dtype)
        for tap in product(*map(range, w.shape[2:])) if x.size else ():
            where = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(tap, spacing, x.shape[2:], steps, strict=True)
            )
            result[(slice(None), slice(None), *where)] += _spread_out(x, w, tap, groups)
        pairs = zip(sides(padding, number), more, strict=True)
        result, around = arrays.cropped(result, [(-b, min(e, 0) - a) for (b, a), e in pairs])
        result = np.pad(result, [(0, 0), (0, 0), *around])
        return arrays.back(arrays.arranged(result, out or layout, f"NC{axes}"), made)

    return evaluate


def _spread_out(x: Array, w: Array, place: tuple[int, ...], groups: int) -> Array:
    """The amounts that each element adds to the outputs at one place of its window."""
    at: Any = (slice(None), slice(None), *place)
    weights = w[at]
    parts = [
        np.moveaxis(arrays.contracted(part, some, (1,), (0,)), -1, 1)
        for part, some in zip(np.split(x, groups, 1), np.split(weights, groups, 0), strict=True)
    ]
    return parts[0] if groups == 1 else np.concatenate(parts, axis=1)


for _count in (1, 2, 3):
    computes(f"relax.nn.conv{_count}d")(convolution_value(_count))
    computes(f"relax.nn.conv{_count}d_transpose")(transposed_value(_count))


# ---------------------------------------------------------------- definitions


def _convolution_definition(
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
    exprs.need_numbers(data.dtype, weight.dtype)
    x, w = (
        exprs.WindowView(data, layout, f"NC{axes}"),
        exprs.WindowView(weight, kernel, f"OI{axes}"),
    )
    lengths = exprs.lengths_of(out, out_layout or layout, f"NC{axes}")
    exprs.need_whole_blocks(out_layout or layout, lengths[1], w.shape[0])
    around, steps = sides(padding, count), per_axis(strides, count)
    spacing = per_axis(dilation, count)
    channel = te.reduce_axis((0, w.shape[1]), name="c")
    window = exprs.window_axes(w.shape[2:])
    each = w.shape[0] // exprs.int64(groups)
    held = exprs.padded(x, around, te.const(0, exprs.working(x.dtype)))

    def element(*i: te.Scalar) -> Any:
        at = [
            i[2 + k] * exprs.int64(steps[k]) + window[k] * exprs.int64(spacing[k])
            for k in range(count)
        ]
        first = channel if groups == 1 else i[1] // each * w.shape[1] + channel
        value = exprs.wide(exprs.convert(held(i[0], first, *at), out.dtype))
        factor = exprs.wide(exprs.convert(exprs.wide(w(i[1], channel, *window)), out.dtype))
        return te.sum(value * factor, axis=[channel, *window])

    made = te.compute(lengths, element, name="T_conv")
    return exprs.arranged(out, made, out_layout or layout, f"NC{axes}")


def _transposed_definition(
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
    exprs.need_numbers(data.dtype, weight.dtype)
    x, w = (
        exprs.WindowView(data, layout, f"NC{axes}"),
        exprs.WindowView(weight, kernel, f"IO{axes}"),
    )
    lengths = exprs.lengths_of(out, out_layout or layout, f"NC{axes}")
    exprs.need_whole_blocks(out_layout or layout, lengths[1], w.shape[1] * exprs.int64(groups))
    around, steps = sides(padding, count), per_axis(strides, count)
    spacing = per_axis(dilation, count)
    inputs = x.shape[1] // exprs.int64(groups)
    channel = te.reduce_axis((0, inputs), name="c")

    def product(*i: te.Scalar) -> Any:
        """The amount that one channel adds to an output at a place of its window."""
        first = channel if groups == 1 else i[1] // w.shape[1] * inputs + channel
        inner = i[1] if groups == 1 else i[1] % w.shape[1]
        value = exprs.wide(exprs.convert(exprs.wide(x(i[0], first, *i[2 + count :])), out.dtype))
        weights = exprs.wide(w(first, inner, *i[2 : 2 + count]))
        return te.sum(value * exprs.wide(exprs.convert(weights, out.dtype)), axis=channel)

    places = [*lengths[:2], *w.shape[2:], *x.shape[2:]]
    products = te.compute(places, product, name="T_products")
    reach = [(n - 1) * d + 1 for n, d in zip(w.shape[2:], spacing, strict=True)]
    counts = [te.ceildiv(n, step) for n, step in zip(reach, steps, strict=True)]
    taps = exprs.window_axes(counts)

    def total(
        head: Sequence[te.Scalar], phases: Sequence[te.Scalar], windows: Sequence[te.Scalar]
    ) -> Any:
        """The sum of what is added to the output at a phase behind the start of some windows. A
        place behind the last one of a window, or a window where there are no data, adds nothing.
        """
        met = [exprs.met(*each) for each in zip(phases, windows, taps, steps, spacing, strict=True)]
        places, at = [place for _, place, _ in met], [window for window, _, _ in met]
        inside = [place < n for place, n in zip(places, w.shape[2:], strict=True)]
        inside += [fits for (_, _, fits), d in zip(met, spacing, strict=True) if d > 1]
        inside.append(exprs.within(at, x.shape[2:], [True] * count))
        value = products(*head, *places, *at)
        return te.sum(
            te.if_then_else(exprs.every(inside), value, te.const(0, value.dtype)), axis=taps
        )

    befores = [exprs.int64(before) for before, _ in around]
    wides = list(map(exprs.int64, steps))

    def split(*i: te.Scalar) -> tuple[list[te.Scalar], list[te.Scalar]]:
        """The phases of an output, and the windows that begin last before it."""
        positions = [at + before for at, before in zip(i, befores, strict=True)]
        pairs = list(zip(positions, wides, strict=True))
        return [at % step for at, step in pairs], [at // step for at, step in pairs]

    if all(step == 1 for step in steps):
        made = te.compute(lengths, lambda *i: total(i[:2], *split(*i[2:])), name="T_conv_transpose")
    else:
        # Outputs of one phase are next to each other first, so that the loops have no gaps.
        _, first = split(*[exprs.int64(0)] * count)
        _, last = split(*(n - 1 for n in lengths[2:]))
        spans = [end - begin + 1 for begin, end in zip(first, last, strict=True)]

        def of_phase(*i: te.Scalar) -> Any:
            windows = [at + begin for at, begin in zip(i[2 + count :], first, strict=True)]
            return total(i[:2], i[2 : 2 + count], windows)

        phased = te.compute([*lengths[:2], *wides, *spans], of_phase, name="T_phases")

        def element(*i: te.Scalar) -> Any:
            phases, windows = split(*i[2:])
            at = [window - begin for window, begin in zip(windows, first, strict=True)]
            return phased(*i[:2], *phases, *at)

        made = te.compute(lengths, element, name="T_conv_transpose")
    return exprs.arranged(out, made, out_layout or layout, f"NC{axes}")


for _count in (1, 2, 3):
    defines(f"relax.nn.conv{_count}d")(partial(_convolution_definition, _count))
    defines(f"relax.nn.conv{_count}d_transpose")(partial(_transposed_definition, _count))
