"""The constants of a module as the JSON of its metadata section."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from math import prod
from typing import Any

from rlx.grammar.nodes.ast import Literal

_MAGIC = 0xDD5E40F096B4A13F
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 1}


def metadata(constants: Sequence[Literal]) -> str:
    """The section that holds the constants in order, in the layout of Relay's last versions."""
    nodes: list[dict[str, Any]] = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
        {"type_key": "Array", "data": [3 + at for at in range(len(constants))]},
    ]
    for number in range(len(constants)):
        attrs = {"_checked_type_": "0", "data": str(number), "span": "0"}
        nodes.append({"type_key": "relay.Constant", "attrs": attrs})
    graph = {"root": 1, "nodes": nodes, "b64ndarrays": [_tensor(c) for c in constants]}
    return json.dumps({**graph, "attrs": {"tvm_version": "0.14.0"}}, indent=2)


def _tensor(data: Literal) -> str:
    """A tensor as TVM serialises it."""
    shape = data.shape or ()
    content = content_of(data)
    code, bits = _CODES[data.dtype.code], data.dtype.bits
    head = struct.pack("<QQiiiBBH", _MAGIC, 0, 1, 0, len(shape), code, bits, 1)
    dims = struct.pack(f"<{len(shape)}q", *shape)
    return base64.b64encode(head + dims + struct.pack("<q", len(content)) + content).decode()


def content_of(data: Literal) -> bytes:
    """The elements of a constant one after the other, little-endian.

    Raises
    ------
    ValueError
        If the text left its data out.
    """
    if data.content is not None:
        return data.content
    if data.value is None:
        raise ValueError("the constant has no data")
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    kind = numpy_type(data.dtype)
    array = np.asarray(data.value, kind).reshape(data.shape or ())
    assert array.size == prod(data.shape or ())
    return array.tobytes()
