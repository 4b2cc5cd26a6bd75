"""Convolutions over one, two or three axes, and their transposes."""

from __future__ import annotations

from typing import Any

from rlx.grammar.ast import StructInfo
from rlx.grammar.dtype import DataType
from rlx.grammar.tir import EQ, FloorMod, PrimExpr
from rlx.operators.declare import Rule, operator
from rlx.operators.dims import ONE, ZERO, add, const, literal, mul, sub
from rlx.operators.layout import layout, layout_rank
from rlx.operators.messages import show
from rlx.operators.parameters import Ints, Tensor, Type
from rlx.operators.site import Dims, Site
from rlx.operators.tensors import agree, place, ranked, tensor
from rlx.operators.windows import SPATIAL, padding, positions, spread
from rlx.spec.registry import rule


@rule("OBL-channels", "f36532f8")
def channels(site: Site, data: PrimExpr, weight: PrimExpr, groups: int, out: PrimExpr) -> bool:
    """The data's channels are the weight's input channels of all groups, and the groups divide the output's."""
    each = mul(weight, const(groups))
    return divided(site, out, groups, "output channels") and site.equal(
        "OBL-channels-input",
        data,
        each,
        lambda: (
            f"{show(data)} channels {site.of(0)} against {show(weight)} input channels "
            f"{site.of(1)} in {groups} group{'s' if groups != 1 else ''}"
        ),
        1,
    )


@rule("OBL-groups", "3da81497")
def divided(site: Site, count: PrimExpr, groups: int, what: str) -> bool:
    """The number of groups is positive and divides the channels."""
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
    """There is at least one group."""
    if groups < 1:
        site.fail("OBL-groups-positive", f"the number of groups is {groups}, expected at least 1")


class _Plan:
    """The attributes of a convolution, one number for each spatial axis."""

    def __init__(self, site: Site, count: int, values: dict[str, Any]) -> None:
        self.strides = spread(site, "strides", values["strides"], count)
        self.dilation = spread(site, "dilation", values["dilation"], count)
        self.padding = padding(site, values["padding"], count)
        self.extra = spread(site, "output_padding", values.get("output_padding", (0,)), count)
        self.groups: int = values["groups"]
        positive(site, self.groups)


def _shapes(
    site: Site, data: Tensor, weight: Tensor, values: dict[str, Any], axes: str, best: Tensor
) -> tuple[Dims | None, Dims | None]:
    """The lengths of the data's axes N, C and spatial, and of the weight's O, I and spatial."""
    inner = layout(site, values["data_layout"], f"NC{axes}", site.rank(data), 0, best)
    kernel = layout(site, values["kernel_layout"], f"OI{axes}", site.rank(weight), 1, best)
    x, w = site.dims(data), site.dims(weight)
    return (
        None if x is None else inner.canonical(x, f"NC{axes}"),
        None if w is None else kernel.canonical(w, f"OI{axes}"),
    )


def _result(
    site: Site, data: Tensor, weight: Tensor, kind: DataType | None, values: dict[str, Any]
) -> tuple[Tensor, str]:
    """What is known of the result without shapes, and its layout."""
    found = values["out_layout"] or values["data_layout"]
    kind = kind or agree(site, (data, weight), booleans=True)
    return ranked(layout_rank(found), kind, place(site, (data, weight))), found


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
        """Each output element is a weighted sum over a window of all input channels of its group."""
        values = {
            "strides": strides,
            "padding": padding,
            "dilation": dilation,
            "groups": groups,
            "data_layout": data_layout,
            "kernel_layout": kernel_layout,
            "out_layout": out_layout,
        }
        best, text = _result(site, data, weight, out_dtype, values)
        x, w = _shapes(site, data, weight, values, axes, best)
        outer = layout(site, text, f"NC{axes}", None, 0, best)
        plan = _Plan(site, count, values)
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
        return tensor(outer.arrange((x[0], w[0], *sizes), f"NC{axes}"), best.dtype, best.vdevice)

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
        values = {
            "strides": strides,
            "padding": padding,
            "output_padding": output_padding,
            "dilation": dilation,
            "groups": groups,
            "data_layout": data_layout,
            "kernel_layout": kernel_layout,
            "out_layout": out_layout,
        }
        best, text = _result(site, data, weight, out_dtype, values)
        x, w = _shapes(site, data, weight, values, axes, best)
        outer = layout(site, text, f"NC{axes}", None, 0, best)
        plan = _Plan(site, count, values)
        extra_padding(site, plan)
        if x is None or w is None or not channels(site, x[1], w[1], 1, x[1]):
            return best
        divided(site, w[1], plan.groups, "input channels")
        sizes = [_grown(x[2 + k], w[2 + k], plan, k) for k in range(count)]
        depth = mul(w[0], const(plan.groups))
        return tensor(outer.arrange((x[0], depth, *sizes), f"NC{axes}"), best.dtype, best.vdevice)

    return transposed


def _grown(length: PrimExpr, window: PrimExpr, plan: _Plan, k: int) -> PrimExpr:
    reach = mul(sub(window, ONE), const(plan.dilation[k]))
    moved = mul(sub(length, ONE), const(plan.strides[k]))
    return add(add(moved, reach), const(plan.extra[k] + 1 - plan.padding[k]))


@rule("OBL-grown", "ab9033e4")
def extra_padding(site: Site, plan: _Plan) -> None:
    """The output padding of a transposed convolution is less than the stride."""
    for extra, stride in zip(plan.extra, plan.strides, strict=True):
        if extra >= stride:
            words = f"the output padding {extra} must be less than the stride {stride}"
            site.fail("OBL-grown-padding", words)


def _declare(count: int) -> None:
    axes = SPATIAL[count]
    data, kernel = f"NC{axes}", f"OI{axes}"
    operator(f"relax.nn.conv{count}d", data_layout=data, kernel_layout=kernel)(_convolution(count))
    operator(f"relax.nn.conv{count}d_transpose", data_layout=data, kernel_layout=f"IO{axes}")(
        _transposed(count)
    )


for _count in SPATIAL:
    _declare(_count)
