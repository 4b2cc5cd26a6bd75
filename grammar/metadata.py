"""The constants that a printed module keeps in its metadata."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

from rlx.grammar.ast import Literal
from rlx.grammar.dtype import DataType, dtype

_MAGIC = 0xDD5E40F096B4A13F
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}


def read_metadata(text: str) -> dict[str, list[Literal]]:
    """The constants by their kind (``"ir.GenericConst"``) and number; data that can't be read is left out."""
    try:
        graph = json.loads(text, strict=False)
        nodes = graph["nodes"]
        root = nodes[graph.get("root_index", graph.get("root", 0))]
        pairs = root["data"]
        return {
            _string(nodes, pairs[at]): [
                _literal(nodes, index) for index in nodes[pairs[at + 1]]["data"]
            ]
            for at in range(0, len(pairs) - 1, 2)
        }
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return {}


def _string(nodes: Any, index: int) -> str:
    return str(nodes[index]["data"])


def _literal(nodes: Any, index: int) -> Literal:
    data = nodes[index]["data"]
    tensor = nodes[data.get("value", data.get("data"))]["data"]
    raw = base64.b64decode(tensor)
    shape, data_type, start = _header(raw)
    count = data_type.bits // 8 or 1
    for size in shape:
        count *= size
    content = raw[start : start + count]
    return Literal(None, data_type, shape, None, content if len(content) == count else None)


def _header(raw: bytes) -> tuple[tuple[int, ...], DataType, int]:
    """Shape and type of a serialised tensor, and where its data begins.

    The fields are magic, reserved, device, rank, type, shape, number of bytes, data.
    """
    magic, _, _, _, rank, code, bits, lanes = struct.unpack_from("<QQiiiBBH", raw)
    if magic != _MAGIC or not 0 <= rank <= 64:
        raise ValueError("not a serialised tensor")
    shape = struct.unpack_from(f"<{rank}q", raw, 32)
    if code not in _CODES or lanes != 1:
        raise ValueError("a type that has no name")
    name = "bool" if code == 6 or (code == 1 and bits == 1) else f"{_CODES[code]}{bits}"
    return shape, dtype(name), 32 + 8 * rank + 8
