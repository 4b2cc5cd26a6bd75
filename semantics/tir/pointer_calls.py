"""Expressions of PrimFuncs whose values are pointers, and the tests of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, HANDLE, INT32, DataType, dtype
from rlx.semantics.tir.expression_compiler import ExpressionCompiler, opaque
from rlx.semantics.tir.memory import numpy_type
from rlx.semantics.tir.pointers import Pointer, data_of, place_of, whole_bytes
from rlx.semantics.tir.terms import Frame, Term
from rlx.semantics.tir.values import vector_element


def buffer_of_data(expr: object) -> str | None:
    """The name of the buffer whose memory an expression denotes: ``A`` for ``A.data``."""
    found = _DATA.match(expr.text) if isinstance(expr, tir.OpaqueExpr) else None
    return found[1] if found else None


_DATA = re.compile(r"([^.]*)\.data\Z")
_PART = re.compile(r"(\w+)\.(?:(data|elem_offset)|(strides|shape)\[(\d+)\])\Z")


def text(run: ExpressionCompiler, expr: Any) -> Term:
    """Text with a meaning: the pointer to a buffer's memory, its offset, a stride, an extent."""
    found = _PART.match(expr.text)
    buffer = run.named(found[1]) if found else None
    if found is None or buffer is None:
        return opaque(expr)
    slot, (_, alone, of_axes, axis) = run.slots[buffer], found.groups()
    kind = next((dim.dtype for dim in buffer.shape if isinstance(dim, tir.IntImm | tir.Var)), INT32)
    match alone:
        case "data":
            whole_bytes(buffer.dtype)
            return Term(lambda frame: data_of(frame[slot]), HANDLE)
        case "elem_offset":
            return Term(lambda frame: frame[slot].offset, kind)
    at = int(axis)
    if at >= len(buffer.shape) or buffer.dtype.lanes > 1:
        return opaque(expr)
    if of_axes == "strides":
        return Term(lambda frame: frame[slot].strides[at], kind)
    return Term(lambda frame: frame[slot].dims[at], kind)


def address_of(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """`T.address_of(A[i])`; of several elements, that of the first."""
    [load] = expr.args if len(expr.args) == 1 else (None,)
    if not isinstance(load, tir.BufferLoad) or load.buffer not in run.slots:
        return opaque(expr)
    whole_bytes(load.buffer.dtype)
    slot, terms = run.slots[load.buffer], [run.index(index) for index in load.indices]
    firsts = [_first_lane(term) if term.vector else term.run for term in terms]
    return Term(lambda frame: place_of(frame[slot], [at(frame) for at in firsts]), HANDLE)


def _first_lane(term: Term) -> Callable[[Frame], int]:
    return lambda frame: term.run(frame)[0]


def access_pointer(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """`T.tvm_access_ptr(T.type_annotation("float32"), A.data, offset, extent, mask)`: the place
    some elements behind a pointer.
    """
    if len(expr.args) != 5:
        return opaque(expr)
    kind, data, offset, _, _ = expr.args
    if not isinstance(kind, tir.Call) or kind.op != "type_annotation":
        return opaque(expr)
    found = _annotated(kind)
    start, by = _pointer(run, data), run.value(offset).run
    size = numpy_type(vector_element(found)).itemsize * found.lanes
    return Term(lambda frame: start(frame) + by(frame) * size, HANDLE)


def _annotated(kind: tir.Call) -> DataType:
    named = kind.args[0] if kind.args else tir.StringImm(str(kind.attrs.get("dtype")))
    try:
        return dtype(named.value if isinstance(named, tir.StringImm) else "?")
    except ValueError:
        return opaque(kind).dtype


def _pointer(run: ExpressionCompiler, expr: tir.PrimExpr) -> Callable[[Frame], Pointer]:
    """An expression that must be a pointer."""
    term = run.compile(expr)
    return (term if term.dtype == HANDLE else opaque(expr)).run


def further(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """`T.handle_add_byte_offset(p, n)`"""
    if len(expr.args) != 2:
        return opaque(expr)
    start, by = _pointer(run, expr.args[0]), run.value(expr.args[1]).run
    return Term(lambda frame: start(frame) + by(frame), HANDLE)


def is_null(run: ExpressionCompiler, expr: tir.Call) -> Term:
    """`T.isnullptr(p)`: no pointer to memory is null."""
    if len(expr.args) != 1:
        return opaque(expr)
    place = _pointer(run, expr.args[0])
    return Term(lambda frame: not isinstance(place(frame), Pointer), BOOL)


POINTERS: dict[str, Callable[[ExpressionCompiler, Any], Term]] = {
    "address_of": address_of,
    "handle_add_byte_offset": further,
    "isnullptr": is_null,
    "tvm_access_ptr": access_pointer,
}
"""The intrinsics by name."""
