"""The row of the operator table that changes layouts."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from rlx.grammar.nodes import ast, tir
from rlx.grammar.print.printer import print_node
from rlx.operators.layout import pieces
from rlx.relay.translated_call import TranslatedCall, call, times

Piece = tuple[str, int | None]
"""An axis, and the factor split off; None is what is left of the axis."""


def layout_transform(c: TranslatedCall) -> ast.Expr:
    """The pieces of each axis are put together, and the axis is split into the pieces of the other
    layout. Zeros fill up an axis that they do not divide.
    """
    (x,) = c.operands(1)
    source, target = (_pieces(c, name) for name in ("src_layout", "dst_layout"))
    axes = "".join(axis for axis, factor in source if factor is None)
    if sorted(axes) != sorted(axis for axis, factor in target if factor is None):
        words = f"from {c.string('src_layout')} to {c.string('dst_layout')}: the axes differ"
        c.fail(words)
    if len(source) != c.rank(x):
        words = f"the layout {c.string('src_layout')} is not that of an operand of rank {c.rank(x)}"
        c.fail(words)
    if len(source) == len(target) == len(axes):
        return call("permute_dims", x, axes=tuple(map(source.index, target)))
    lengths = _lengths(c, source, c.dims(x))
    x = _moved(x, source, _together(source, axes))
    x = _shaped(x, tuple(lengths[axis] for axis in axes), len(source) > len(axes))
    parts = _together(target, axes)
    x = _filled_up(c, x, axes, lengths, parts)
    dims = tuple(_part(lengths[axis], axis, factor, parts) for axis, factor in parts)
    return _moved(_shaped(x, dims, len(parts) > len(axes)), parts, target)


def _pieces(c: TranslatedCall, name: str) -> tuple[Piece, ...]:
    found = pieces(c.string(name))
    whole = [axis for axis, factor in found if factor is None]
    if not found or len(set(whole)) < len(whole) or not {a for a, _ in found} <= set(whole):
        c.fail(f"expected a layout for {name}, found {c.string(name)!r}")
    if len(set(found)) < len(found):
        c.fail(f"the layout {c.string(name)} splits an axis twice by the same factor")
    return found


def _together(found: tuple[Piece, ...], axes: str) -> tuple[Piece, ...]:
    """The pieces with those of one axis side by side."""
    return tuple(piece for axis in axes for piece in found if piece[0] == axis)


def _lengths(
    c: TranslatedCall, found: tuple[Piece, ...], dims: tuple[tir.PrimExpr, ...]
) -> dict[str, tir.PrimExpr]:
    """The length of each axis of a tensor in a layout."""
    lengths: dict[str, tir.PrimExpr] = {}
    for at, ((axis, factor), dim) in enumerate(zip(found, dims, strict=True)):
        if factor and not (isinstance(dim, tir.IntImm) and dim.value == factor):
            layout, size = c.string("src_layout"), print_node(dim)
            c.fail(f"dimension {at} is {size}, but {factor} in the layout {layout}")
        lengths[axis] = times(lengths[axis], dim) if axis in lengths else dim
    return lengths


def _moved(x: ast.Expr, now: tuple[Piece, ...], then: tuple[Piece, ...]) -> ast.Expr:
    """With its pieces in another order."""
    order = tuple(map(now.index, then))
    return x if all(a < b for a, b in pairwise(order)) else call("permute_dims", x, axes=order)


def _shaped(x: ast.Expr, dims: tuple[tir.PrimExpr, ...], needed: bool) -> ast.Expr:
    return call("reshape", x, ast.ShapeExpr(dims)) if needed else x


def _factor(axis: str, parts: tuple[Piece, ...]) -> int:
    """The product of the pieces that are split off an axis."""
    return prod(factor for name, factor in parts if factor and name == axis)


def _filled_up(
    c: TranslatedCall,
    x: ast.Expr,
    axes: str,
    lengths: dict[str, tir.PrimExpr],
    parts: tuple[Piece, ...],
) -> ast.Expr:
    """With zeros behind axes that their pieces do not divide."""
    widths = []
    for axis in axes:
        length, factor, more = lengths[axis], _factor(axis, parts), 0
        if factor > 1:
            if not isinstance(length, tir.IntImm):
                c.fail(f"only an axis of known length can be split, not the axis {axis}")
            more = -length.value % factor
            lengths[axis] = tir.IntImm(length.value + more)
        widths += [0, more]
    if not any(widths):
        return x
    return call("nn.pad", x, pad_width=tuple(widths), pad_mode="constant", pad_value=0.0)


def _part(
    length: tir.PrimExpr, axis: str, factor: int | None, parts: tuple[Piece, ...]
) -> tir.PrimExpr:
    if factor is not None:
        return tir.IntImm(factor)
    inner = _factor(axis, parts)
    return tir.IntImm(length.value // inner) if isinstance(length, tir.IntImm) else length
