"""Padding of tensors."""

from __future__ import annotations

from functools import partial

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.tir import GE, PrimExpr
from rlx.operators.dim_arithmetic import ZERO, add, const
from rlx.operators.parameters import Ints, Longs, Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import known, ranked, tensor
from rlx.operators.site import Site, show
from rlx.spec.registry import rule


@rule("OBL-pad", "c3e0b619", "obligation")
def pads(site: Site, data: Tensor, widths: Ints) -> None:
    """Check that there are two widths for each axis; a negative one must not remove more elements
    than exist.
    """
    ndim = site.rank(data)
    if ndim is not None and len(widths) != 2 * ndim:
        site.fail(
            "OBL-pad-length",
            f"pad_width has {len(widths)} elements, expected {2 * ndim} for rank {ndim}"
            f" {site.of(0)}",
            best=ranked(ndim, data.dtype, data.vdevice),
        )
    both = zip(widths[::2], widths[1::2], strict=True)
    for axis, (dim, (a, b)) in enumerate(zip(site.dims(data) or (), both, strict=False)):
        if a + b < 0 and not site.require(
            "OBL-pad-negative",
            GE(add(dim, const(a + b)), ZERO),
            partial(_too_much, site, axis, dim, (a, b)),
            0,
        ):
            site.stop(ranked(ndim, data.dtype, data.vdevice))


def _too_much(site: Site, axis: int, dim: PrimExpr, pair: tuple[int, int]) -> str:
    return f"the widths {pair} of axis {axis} remove more than its length {show(dim)} {site.of(0)}"


@operator(
    "relax.nn.pad",
    calls="""
    f(a, b), pad_width=[1, 1, 2, 2] | [0, 0, 1, 0], pad_mode=None | 'constant', pad_value=None | 1.0
    f(8, 8), pad_width=[1, 1, 2, 2], pad_mode='reflect'
    """,
)
def pad(
    site: Site, data: Tensor, pad_width: Longs, pad_mode: str = "constant", pad_value: float = 0.0
) -> StructInfo:
    """The tensor with padding before and after along its axes."""
    pads(site, data, pad_width)
    known(site, "rank", (0, data))
    dims = site.dims(data)
    if dims is None:
        return ranked(site.rank(data), data.dtype, data.vdevice)
    both = zip(pad_width[::2], pad_width[1::2], strict=True)
    grown = [add(dim, const(a + b)) for dim, (a, b) in zip(dims, both, strict=True)]
    return tensor(grown, data.dtype, data.vdevice)
