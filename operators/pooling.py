"""Pooling: the maximum or the mean of a window."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.operators.dim_arithmetic import const
from rlx.operators.layout import Layout, layout, layout_rank
from rlx.operators.parameters import IntList, Ints, Tensor
from rlx.operators.registry import Rule, operator
from rlx.operators.rule_helpers import gradient, ranked, tensor
from rlx.operators.site import Behind, Site
from rlx.operators.windows import SPATIAL, behind, padding, positions, spread


def _layouts(
    site: Site, data: TensorStructInfo, axes: str, text: str, out_text: str
) -> tuple[TensorStructInfo, Layout, Layout]:
    """What is known of the result without shapes, the data's layout, and the result's."""
    best = ranked(layout_rank(out_text), data.dtype, data.vdevice)
    inner = layout(site, text, axes, data, 0, best)
    return best, inner, layout(site, out_text, axes, None, 0, best)


def _pool(count: int) -> Rule:
    axes = f"NC{SPATIAL[count]}"

    def pool(
        site: Site,
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
        site: Site,
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


def _declare(count: int) -> None:
    axes = SPATIAL[count]
    layout = f"NC{axes}"
    padded = count != 2
    calls = _calls(count)
    operator(f"relax.nn.avg_pool{count}d", calls=calls, layout=layout, count_include_pad=padded)(
        _pool(count)
    )
    calls += _LAST if count == 2 else ""
    operator(f"relax.nn.max_pool{count}d", calls=calls, layout=layout)(_pool(count))
    adaptive = operator(
        f"relax.nn.adaptive_avg_pool{count}d", calls=_ADAPTIVE[count], layout=layout
    )
    adaptive(_adaptive(count))


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
)
def pool_backward(
    site: Site,
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
    inner = Behind(site.operator, site.call, site.ctx)
    gradient(site, output_grad, _POOL2D(inner, data, *window, layout_, out_layout))
    return data
