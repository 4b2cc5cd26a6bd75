"""Layouts: the order and the splitting of a tensor's axes.

``NHWC`` names axes in order; in ``NCHW4c`` the channels are split, with 4 of them innermost.
"""

from __future__ import annotations

import re
from functools import cache

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record
from rlx.grammar.suggest import closest, did_you_mean
from rlx.operators.dim_arithmetic import ceildiv, const, product
from rlx.operators.operator_call import Dims, OperatorCall, Violation, show
from rlx.operators.parameters import Tensor
from rlx.spec.registry import rule

COMMON = (
    *("NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC", "OIW", "OWI", "WIO", "IOW"),
    *("OIHW", "OHWI", "HWIO", "HWOI", "IOHW", "OIDHW", "DHWIO", "ODHWI", "IODHW"),
)
"""Common layouts, for suggestions."""

_PIECE = re.compile(r"([A-Z])|(\d+)([a-z])")


class Layout(Record):
    """A parsed layout: its pieces from the outside in, each an axis and the factor split off (None:
    the rest).
    """

    text: str
    pieces: tuple[tuple[str, int | None], ...]

    def canonical(self, dims: Dims, axes: str) -> Dims:
        """The lengths of the named axes of a tensor whose dimensions are in this layout."""
        if self.text == axes:
            return dims
        pairs = [
            (name, const(factor) if factor else dim)
            for (name, factor), dim in zip(self.pieces, dims, strict=True)
        ]
        return tuple(product(d for name, d in pairs if name == axis) for axis in axes)

    def arrange(self, dims: Dims, axes: str) -> Dims:
        """The dimensions in this layout of a tensor whose named axes have these lengths."""
        if self.text == axes:
            return dims
        lengths = dict(zip(axes, dims, strict=True))
        factors = {
            axis: product(const(f) for a, f in self.pieces if f and a == axis) for axis in axes
        }
        return tuple(
            const(factor) if factor else ceildiv(lengths[axis], factors[axis])
            for axis, factor in self.pieces
        )


@cache
def _read(text: str) -> Layout | None:
    """A layout; None if the text is none."""
    if not re.fullmatch(r"([A-Z]|\d+[a-z])+", text):
        return None
    found = _PIECE.findall(text)
    if any(size and not int(size) for _, size, _ in found):
        return None  # nothing is split into parts of no elements
    pieces = tuple(
        (axis or piece.upper(), int(size) if size else None) for axis, size, piece in found
    )
    return Layout(text, pieces)


def _covers(layout: Layout, axes: str) -> bool:
    """Whether a layout has every axis once, and pieces of no others."""
    whole = [axis for axis, factor in layout.pieces if factor is None]
    return sorted(whole) == sorted(axes) and all(axis in axes for axis, _ in layout.pieces)


@rule("OBL-layout", "obligation")
def layout(
    site: OperatorCall, text: str, axes: str, info: Tensor | None, index: int, best: StructInfo
) -> Layout:
    """Check and parse a layout of the named axes for a tensor.

    Without a tensor, the layout is that of a result.
    """
    found = _read(text)
    if found is None or (text != axes and not _covers(found, axes)):
        near = closest(text, [each for each in COMMON if sorted(each) == sorted(axes)])
        message = f"{text!r} is not a layout of the axes {axes}"
        extra = {"help": did_you_mean(near)} if near else {}
        raise Violation("OBL-layout-axes", message, index, best, extra)
    ndim = None if info is None else site.rank(info)
    if ndim is not None and ndim != len(found.pieces):
        site.fail(
            "OBL-layout-rank",
            f"the layout {text} has {len(found.pieces)} axes, but {site.shown(index)} has rank"
            f" {ndim}",
            index,
            best,
        )
    _factors(site, found, None if info is None else site.dims(info), index)
    return found


def _factors(site: OperatorCall, found: Layout, dims: Dims | None, index: int) -> None:
    """The inner part of an axis that is split has the length that the layout says."""
    for k, ((_, factor), dim) in enumerate(zip(found.pieces, dims or (), strict=False)):
        if factor is not None:
            site.equal(
                "OBL-layout-factor",
                dim,
                const(factor),
                lambda k=k, factor=factor, dim=dim: (  # type: ignore[misc]
                    f"axis {k} of {site.shown(index)} has length {show(dim)}, but the"
                    f" layout {found.text} requires {factor}"
                ),
                index,
            )


def pieces(text: str) -> tuple[tuple[str, int | None], ...]:
    """The pieces of a layout, from the outside in: an axis, and the factor split off (None: the
    rest).
    """
    found = _read(text)
    return found.pieces if found else ()


def layout_rank(text: str) -> int:
    """The number of axes of a layout."""
    found = _read(text)
    return len(found.pieces) if found else -1
