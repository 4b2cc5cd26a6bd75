"""Elements added around a tensor."""

from __future__ import annotations

from rlx.grammar.ast import StructInfo
from rlx.operators.declare import operator
from rlx.operators.dims import add, const
from rlx.operators.evaluation import late
from rlx.operators.site import Site
from rlx.operators.tensors import Tensor, ranked, tensor
from rlx.spec.registry import rule

Ints = tuple[int, ...]


@rule("OBL-pad", "d68fae06")
def pads(site: Site, data: Tensor, widths: Ints) -> None:
    """Two widths for each axis, none of them negative."""
    ndim = site.rank(data)
    if ndim is not None and len(widths) != 2 * ndim:
        site.fail(
            "OBL-pad-length",
            f"pad_width has {len(widths)} elements, expected {2 * ndim} for rank {ndim} {site.of(0)}",
            best=ranked(ndim, data.dtype, data.vdevice),
        )
    if any(width < 0 for width in widths):
        site.fail(
            "OBL-pad-negative",
            f"pad_width {list(widths)} must not be negative",
            best=ranked(ndim, data.dtype, data.vdevice),
        )


@operator(
    "relax.nn.pad",
    "data, pad_width: ints, pad_mode: str = 'constant', pad_value: number = 0.0",
    evaluate=late("padding.pad"),
)
def pad(site: Site, data: Tensor, widths: Ints, mode: str, value: float) -> StructInfo:
    """The tensor with elements added before and after along its axes."""
    pads(site, data, widths)
    dims = site.dims(data)
    if dims is None:
        return ranked(site.rank(data), data.dtype, data.vdevice)
    both = zip(widths[::2], widths[1::2], strict=True)
    grown = [add(dim, const(a + b)) for dim, (a, b) in zip(dims, both, strict=True)]
    return tensor(grown, data.dtype, data.vdevice)
