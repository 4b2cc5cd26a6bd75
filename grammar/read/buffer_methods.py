"""Methods of buffers that make pointers: `A.access_ptr("r")` and `A.ptr_to([i])`."""

from __future__ import annotations

import math

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32
from rlx.grammar.read.coerce import Coerce
from rlx.grammar.read.forms import Arguments
from rlx.grammar.read.partial_nodes import Sequence

_MASKS = {"r": 1, "w": 2, "rw": 3, "wr": 3}


def pointer(
    coerce: Coerce, buffer: tir.Buffer, method: str, arguments: Arguments
) -> tir.Call | None:
    """The intrinsic that a method stands for; None for other methods and other arguments."""
    match method, arguments.positional, arguments.keywords:
        case "ptr_to", [indices], {} if isinstance(indices.value, Sequence):
            places = tuple(coerce.prim(item, INT32) for item in indices.value.items)
            load = tir.BufferLoad(buffer, places, indices.span)
            return tir.Call("address_of", (load,), None, {}, arguments.span)
        case "access_ptr", [mask], keywords if keywords.keys() <= {"offset", "extent"}:
            kind = _MASKS.get(mask.value) if isinstance(mask.value, str) else None
            given = {word: coerce.prim(value, INT32) for word, value in keywords.items()}
            return None if kind is None else _access(buffer, kind, given, arguments)
    return None


def _access(
    buffer: tir.Buffer, mask: int, given: dict[str, tir.PrimExpr], arguments: Arguments
) -> tir.Call | None:
    span = arguments.span
    offset = given.get("offset", tir.IntImm(0, INT32, span))
    sizes = [dim.value for dim in buffer.shape if isinstance(dim, tir.IntImm)]
    extent = given.get("extent")
    if extent is None:
        if len(sizes) < len(buffer.shape) or not isinstance(offset, tir.IntImm):
            return None
        extent = tir.IntImm(math.prod(sizes) - offset.value, INT32, span)
    kind = tir.Call("type_annotation", (tir.StringImm(str(buffer.dtype), span),), None, {}, span)
    data = tir.OpaqueExpr(f"{buffer.name}.data", span)
    operands = (kind, data, offset, extent, tir.IntImm(mask, INT32, span))
    return tir.Call("tvm_access_ptr", operands, None, {}, span)
