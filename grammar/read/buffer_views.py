"""Buffers that are another buffer's memory in another shape: `B = A.view(2, 8)`."""

from __future__ import annotations

import ast as python
import math
from collections.abc import Mapping
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32, dtype
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.python_syntax import expression_of


def viewed(expr: tir.OpaqueExpr, names: Mapping[str, Any]) -> tir.Buffer | None:
    """The buffer that a call of `view` gives, which TVM prints for `T.decl_buffer` with the memory
    of another buffer.

    Returns
    -------
    tir.Buffer or None
        None for any other text, and for a buffer with strides or an offset of its own.
    """
    try:
        call = expression_of(expr.text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match call:
        case python.Call(
            func=python.Attribute(value=python.Name(id=name), attr="view"), args=args, keywords=[]
        ):
            base = names.get(name)
        case _:
            return None
    if not isinstance(base, tir.Buffer) or base.attrs.keys() & {"strides", "elem_offset"}:
        return None
    attrs: dict[str, object] = {"data": tir.OpaqueExpr(f"{name}.data", expr.span)}
    match args:
        case [python.Constant(value=str(kind))]:
            return _of_type(base, kind, attrs, expr.span)
    shape = _shape(base, args)
    if shape is None:
        return None
    dims = tuple(tir.IntImm(size, INT32, expr.span) for size in shape)
    return tir.Buffer("", dims, base.dtype, attrs, expr.span)


def _of_type(
    base: tir.Buffer, kind: str, attrs: dict[str, object], span: Span | None
) -> tir.Buffer | None:
    """The same memory as elements of another type, of which the last axis has more or fewer."""
    try:
        found = dtype(kind)
    except ValueError:
        return None
    widths = [8 if of.code == "bool" else of.bits for of in (base.dtype, found)]
    wide, narrow = max(widths), min(widths)
    if not base.shape or not narrow or wide % narrow or base.dtype.lanes != found.lanes:
        return None
    *dims, last = base.shape
    ratio = tir.IntImm(wide // narrow, INT32, span)
    if isinstance(last, tir.IntImm):
        size = last.value // ratio.value if widths[1] == wide else last.value * ratio.value
        last = tir.IntImm(size, last.dtype, span)
    elif wide != narrow:
        last = (tir.FloorDiv if widths[1] == wide else tir.Mul)(last, ratio, span)
    return tir.Buffer("", (*dims, last), found, attrs, span)


def _shape(base: tir.Buffer, args: list[python.expr]) -> list[int] | None:
    """The sizes that are given; one of -1 follows from the number of elements."""
    sizes = []
    for arg in args:
        match arg:
            case python.Constant(value=int(size)):
                sizes.append(size)
            case python.UnaryOp(op=python.USub(), operand=python.Constant(value=1)):
                sizes.append(-1)
            case _:
                return None
    if -1 not in sizes:
        return sizes or None
    known = [dim.value for dim in base.shape if isinstance(dim, tir.IntImm)]
    rest = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) > 1 or len(known) < len(base.shape) or not rest:
        return None
    return [math.prod(known) // rest if size == -1 else size for size in sizes]
