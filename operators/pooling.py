"""Pools: one element of a window, or the mean of it."""

from __future__ import annotations

from rlx.grammar.ast import StructInfo, TensorStructInfo
from rlx.operators.declare import Rule, operator
from rlx.operators.dims import const
from rlx.operators.evaluation import late
from rlx.operators.layout import Layout, layout, layout_rank
from rlx.operators.site import Behind, Site
from rlx.operators.tensors import gradient, ranked, tensor
from rlx.operators.windows import SPATIAL, behind, padding, positions, spread

Ints = tuple[int, ...]


def _layouts(
    site: Site, data: TensorStructInfo, axes: str, text: str, out_text: str
) -> tuple[TensorStructInfo, Layout, Layout]:
    """What is known of the result without shapes, the data's layout, and the result's."""
    best = ranked(layout_rank(out_text), data.dtype, data.vdevice)
    inner = layout(site, text, axes, site.rank(data), 0, best)
    return best, inner, layout(site, out_text, axes, None, 0, best)


def _pool(count: int) -> Rule:
    axes = f"NC{SPATIAL[count]}"

    def pool(
        site: Site,
        data: TensorStructInfo,
        window: Ints,
        strides: Ints,
        pad: Ints,
        dilation: Ints,
        ceil_mode: int,
        count_include_pad: int,
        text: str,
        out_text: str | None,
    ) -> StructInfo:
        """One result for each position of a window over the spatial axes."""
        best, inner, outer = _layouts(site, data, axes, text, out_text or text)
        sizes = spread(site, "pool_size", window, count)
        steps = spread(site, "strides", strides, count)
        spacing = spread(site, "dilation", dilation, count)
        pads, last = padding(site, pad, count), behind(pad, count)
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
        data: TensorStructInfo,
        size: Ints | None,
        text: str,
        out_text: str | None,
    ) -> StructInfo:
        """Windows chosen so that the result has the size asked for (the input's, if none is)."""
        best, inner, outer = _layouts(site, data, axes, text, out_text or text)
        dims = site.dims(data)
        if dims is None:
            return best
        x = inner.canonical(dims, axes)
        if size is not None:
            x = (*x[:2], *map(const, spread(site, "output_size", size, count)))
        return tensor(outer.arrange(x, axes), data.dtype, data.vdevice)

    return adaptive


def _declare(count: int) -> None:
    axes = SPATIAL[count]
    windows = (
        "pool_size: ints = 1, strides: ints = 1, padding: ints = 0, dilation: ints = 1, "
        "ceil_mode: int = False, count_include_pad: int = {include}, "
        f"layout: str = 'NC{axes}', out_layout: str? = None"
    )
    for kind in ("avg", "max"):
        include = kind == "avg" and count != 2
        signature = "data, " + windows.format(include=include)
        operator(
            f"relax.nn.{kind}_pool{count}d",
            signature,
            evaluate=late("windows.pool", f"{kind}{count}"),
        )(_pool(count))
    operator(
        f"relax.nn.adaptive_avg_pool{count}d",
        f"data, output_size: ints? = None, layout: str = 'NC{axes}', out_layout: str? = None",
        evaluate=late("windows.adaptive", str(count)),
    )(_adaptive(count))


for _count in SPATIAL:
    _declare(_count)


_POOL2D = _pool(2)
_BACKWARD = (
    "output_grad, data, pool_size: ints = 1, strides: ints = 1, padding: ints = 0, "
    "dilation: ints = 1, ceil_mode: int = False, count_include_pad: int = False, "
    "layout: str = 'NCHW', out_layout: str? = None"
)


@operator(
    "relax.grad.avg_pool2d_backward", _BACKWARD, evaluate=late("windows.pool_backward", "avg")
)
@operator(
    "relax.grad.max_pool2d_backward", _BACKWARD, evaluate=late("windows.pool_backward", "max")
)
def pool_backward(
    site: Site, output_grad: TensorStructInfo, data: TensorStructInfo, *rest: object
) -> StructInfo:
    """The gradient of a pool with respect to its input."""
    gradient(site, output_grad, _POOL2D(Behind(site.operator, site.call, site.ctx), data, *rest))
    return data
