"""Convolutions over one, two or three axes, and their transposes."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.operators.dim_arithmetic import ONE, ZERO, add, const, literal, mul, sub
from rlx.operators.layout import layout, layout_rank
from rlx.operators.parameters import Ints, Tensor, Type
from rlx.operators.registry import Rule, operator
from rlx.operators.rule_helpers import agree, place, ranked, tensor
from rlx.operators.site import Site, show
from rlx.operators.windows import SPATIAL, padding, positions, spread
from rlx.spec.registry import rule


@rule("OBL-channels", "7d0422aa", "obligation")
def channels(site: Site, data: PrimExpr, weight: PrimExpr, groups: int, out: PrimExpr) -> bool:
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
            f" channels {site.of(1)} in {groups} group{'s' if groups != 1 else ''}"
        ),
        1,
    )


@rule("OBL-groups", "2dcf2355", "obligation")
def divided(site: Site, count: PrimExpr, groups: int, what: str) -> bool:
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


def positive(site: Site, groups: int) -> None:
    """Check that there is at least one group."""
    if groups < 1:
        site.fail("OBL-groups-positive", f"the number of groups is {groups}, expected at least 1")


class _Attributes(Record):
    """What a call says besides its operands, in the order of the parameters."""

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
        self, site: Site, data: Tensor, weight: Tensor, given: _Attributes, axes: str
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
        site: Site,
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
            )
            for k in range(count)
        ]
        return plan.result(x[0], w[0], sizes)

    return convolution


def _transposed(count: int) -> Rule:
    axes = SPATIAL[count]

    def transposed(
        site: Site,
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


@rule("OBL-grown", "9eeb39ed", "obligation")
def extra_padding(site: Site, plan: _Plan) -> None:
    """Check that the output padding of a transposed convolution is less than the stride."""
    for extra, stride in zip(plan.extra, plan.strides, strict=True):
        if extra >= stride:
            words = f"the output padding {extra} must be less than the stride {stride}"
            site.fail("OBL-grown-padding", words)


_CALLS = {
    "conv1d": (
        """
    f(a, 3, 16), f(4, 3, 3), strides=None | 2, padding=None | 1, dilation=None | 2
    f(a, 16, 3), f(3, 3, 4), data_layout='NWC', kernel_layout='WIO'
    f(a, c, 16), f(d, c, 3), padding=None | [1, 0]
    """
    ),
    "conv1d_transpose": (
        "f(a, 3, 8), f(3, 4, 3), strides=2, padding=None | 1, output_padding=None | 1"
    ),
    "conv2d": (
        """
    f(a, 3, 8, 8), f(4, 3, 3, 3), strides=None | 2 | [2, 1], padding=None | 1 | [1, 2], dilation=None | 2
    f(a, 8, 8, 3), f(3, 3, 3, 4), data_layout='NHWC', kernel_layout='HWIO', out_layout=None | 'NCHW'
    f(a, 4, 8, 8), f(8, 2, 1, 1), groups=2
    f(a, c, 8, 8), f(d, c, 3, 3), padding=None | [1, 2, 0, 1]
    f(a, c, b, b), f(d, c, 1, 1)
    """
    ),
    "conv2d_transpose": (
        """
    f(a, 3, 8, 8), f(3, 4, 3, 3), strides=2, padding=None | 1, output_padding=None | 1
    f(a, 3, 8, 8), f(3, 4, 3, 3), groups=3
    """
    ),
    "conv3d": "f(a, 3, 8, 8, 8), f(4, 3, 3, 3, 3), strides=None | 2, padding=None | 1",
    "conv3d_transpose": "f(a, 3, 4, 4, 4), f(3, 4, 3, 3, 3), strides=None | 2",
}
"""Legal calls, by the operators' names."""


def _declare(count: int) -> None:
    axes = SPATIAL[count]
    for name, kernel, derive in (
        (f"conv{count}d", f"OI{axes}", _convolution(count)),
        (f"conv{count}d_transpose", f"IO{axes}", _transposed(count)),
    ):
        operator(
            f"relax.nn.{name}",
            calls=_CALLS[name],
            data_layout=f"NC{axes}",
            kernel_layout=kernel,
        )(derive)


for _count in SPATIAL:
    _declare(_count)
