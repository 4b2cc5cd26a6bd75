"""Padding of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.tir import GE, PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import ZERO, add, const
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import np, te
from rlx.operators.operator_call import OperatorCall, show
from rlx.operators.parameters import Ints, Longs, Tensor
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import need_known, ranked, tensor
from rlx.spec.registry import rule


@rule("OBL-pad", "obligation")
def pads(site: OperatorCall, data: Tensor, widths: Ints) -> None:
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


def _too_much(site: OperatorCall, axis: int, dim: PrimExpr, pair: tuple[int, int]) -> str:
    return f"the widths {pair} of axis {axis} remove more than its length {show(dim)} {site.of(0)}"


@operator(
    "relax.nn.pad",
    calls="""
    f(a, b), pad_width=[1, 1, 2, 2] | [0, 0, 1, 0], pad_mode=None | 'constant', pad_value=None | 1.0
    f(8, 8), pad_width=[1, 1, 2, 2], pad_mode='reflect'
    """,
    broken="""
    OBL-pad-length: f(a, b), pad_width=[1, 1]
    OBL-pad-negative: f(a, 4), pad_width=[1, 1, 0, -5]
    """,
)
def pad(
    site: OperatorCall,
    data: Tensor,
    pad_width: Longs,
    pad_mode: str = "constant",
    pad_value: float = 0.0,
) -> StructInfo:
    """The tensor with padding before and after along its axes."""
    pads(site, data, pad_width)
    need_known(site, "rank", (0, data))
    dims = site.dims(data)
    if dims is None:
        return ranked(site.rank(data), data.dtype, data.vdevice)
    both = zip(pad_width[::2], pad_width[1::2], strict=True)
    grown = [add(dim, const(a + b)) for dim, (a, b) in zip(dims, both, strict=True)]
    return tensor(grown, data.dtype, data.vdevice)


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@rule("E-pad", "computation")
def _widths(x: Array, widths: Sequence[int], mode: str) -> list[tuple[int, int]]:
    pairs = list(zip(widths[::2], widths[1::2], strict=False))
    if len(pairs) != x.ndim or mode not in _MODES:
        raise OperatorFault(
            "E-pad-width",
            f"padding {tuple(widths)} of mode {mode!r} cannot be applied to shape {x.shape}",
        )
    limit = {"reflect": 1, "circular": 0}.get(mode)
    for n, (before, after) in zip(x.shape, pairs, strict=True):
        short = limit is not None and max(before, after, 0) > n - limit
        none = mode == "replicate" and n == 0 and max(before, after) > 0
        if short or none or n + before + after < 0:
            raise OperatorFault(
                "E-pad-width",
                (
                    f"padding {before, after} of mode {mode!r} cannot be applied to an axis of"
                    f" length {n}"
                ),
            )
    return pairs


@computes("relax.nn.pad")
def pad_value(x: Array, widths: Sequence[int], mode: str, value: float) -> Array:
    pairs = _widths(x, widths, mode)
    options: dict[str, Any] = {"constant_values": value} if mode == "constant" else {}
    chosen: Any = _MODES[mode]
    added = [(max(before, 0), max(after, 0)) for before, after in pairs]
    padded = np.pad(arrays.wide(x), added, mode=chosen, **options)
    kept = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(padded.shape, pairs, strict=True)
    )
    return arrays.back(padded[kept], x.dtype)


@defines("relax.nn.pad")
def pad_definition(
    out: Result, x: te.Tensor, widths: Sequence[int], mode: str, value: float
) -> te.Tensor:
    befores, afters = widths[::2], widths[1::2]
    if mode not in ("constant", "reflect", "replicate", "circular"):
        decline(f"unknown mode {mode!r}")
    if mode == "constant" and x.dtype.is_integer and not float(value).is_integer():
        decline("its value is not an integer")
    if mode != "constant" and any(dim.value == 0 for dim in x.shape):
        decline("it has no elements to repeat")

    def held(at: te.Scalar, length: te.Scalar) -> te.Scalar:
        if mode == "replicate":
            return te.maximum(te.minimum(at, length - 1), exprs.int64(0))
        # Padding that is wider than the mode allows is read outside of the axis: a stop.
        if mode == "circular":
            before, after = at + length, at - length
        else:
            before, after = exprs.int64(0) - at, (length - 1) * 2 - at
        return te.select(at >= length, after, te.select(at < exprs.int64(0), before, at))

    def element(*i: te.Scalar) -> te.Scalar:
        at = [v - exprs.int64(before) for v, before in zip(i, befores, strict=True)]
        if mode != "constant":
            places = [
                held(place, dim) if before > 0 or after > 0 else place
                for place, dim, before, after in zip(at, x.shape, befores, afters, strict=True)
            ]
            return x(*places)
        inside = te.const(True, "bool")
        for place, dim, before, after in zip(at, x.shape, befores, afters, strict=True):
            if before > 0:
                inside = exprs.both(inside, place >= exprs.int64(0))
            if after > 0:
                inside = exprs.both(inside, place < dim)
        number = bool(value) if x.dtype == BOOL else value
        return te.if_then_else(inside, x(*at), te.const(number, x.dtype))

    return exprs.filled(out, element)
