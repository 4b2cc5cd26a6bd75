"""The constants in the metadata of a printed module."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import VOID, DataType, dtype
from rlx.grammar.nodes.node import Span

MAGIC = 0xDD5E40F096B4A13F
CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}
NARROW = {
    6: "bool",
    7: "float8_e3m4",
    8: "float8_e4m3",
    9: "float8_e4m3b11fnuz",
    10: "float8_e4m3fn",
    11: "float8_e4m3fnuz",
    12: "float8_e5m2",
    13: "float8_e5m2fnuz",
    14: "float8_e8m0fnu",
    15: "float6_e2m3fn",
    16: "float6_e3m2fn",
    17: "float4_e2m1fn",
}
"""DLPack's type codes: those with a separate width, and those with the width in their name."""


_DAMAGED = (
    *(ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError),
    struct.error,
)
"""The exceptions raised for an invalid document."""

Tensors = dict[str, list[Literal | None]]


_ENCODED = re.compile(r"[A-Za-z0-9+/=]++(?>\\++/[A-Za-z0-9+/=]*+)*+")
_LONG = 4096
_LEFT_OUT = re.compile("\x01([0-9]+);")


class _Weights:
    """The long strings of a JSON text: left out while it is read, and decoded where they stand.

    Attributes
    ----------
    short
        The text, with a mark and a number in the place of each.
    """

    def __init__(self, text: str, span: Span) -> None:
        self._text = text
        runs = (found.span() for found in _ENCODED.finditer(text, *span))
        self._spans = [(start, end) for start, end in runs if end - start >= _LONG]
        parts, at = [], span[0]
        for number, (start, end) in enumerate(self._spans):
            parts += [text[at:start], f"\x01{number};"]
            at = end
        self.short = "".join([*parts, text[at : span[1]]])

    def decoded(self, string: Any) -> bytes:
        """The bytes that a string of the JSON stands for."""
        mark = _LEFT_OUT.fullmatch(string)
        return base64.b64decode(self._whole(mark) if mark else _LEFT_OUT.sub(self._whole, string))

    def _whole(self, mark: re.Match[str]) -> str:
        return self._text[slice(*self._spans[int(mark[1])])]


def read_metadata(text: str, span: Span | None = None) -> Tensors | None:
    """The constants by kind (``"ir.GenericConst"``) and index.

    A constant that cannot be read is None. Metadata in an unknown layout has no constants; the
    result is None if the text is not JSON. There are two layouts: that of 0.21 and later, and an
    older one that has all tensors in a list beside the nodes. ``span`` is that of the JSON in a
    text with a string of Python around it; without it the text is JSON.
    """
    weights = _Weights(text, span or (0, len(text)))
    short = weights.short
    if span is not None:
        short = short.replace('\\"', '"').replace("\\\\", "\\")
    try:
        graph = json.loads(short, strict=False)
    except (ValueError, RecursionError):
        return None
    try:
        root = graph["nodes"][graph.get("root_index", graph.get("root", 0))]
        read = _listed if "b64ndarrays" in graph else _nested
        return read(graph, root, weights.decoded)
    except _DAMAGED:
        return {}


Decoder = Callable[[Any], bytes]


def _nested(graph: Any, root: Any, decoded: Decoder) -> Tensors:
    nodes, pairs = graph["nodes"], root["data"]
    found: Tensors = {}
    for kind, index in zip(pairs[::2], pairs[1::2], strict=False):
        entries = [nodes[entry]["data"] for entry in nodes[index]["data"]]
        found[str(nodes[kind]["data"])] = [
            _literal(partial(_of, nodes, e), decoded) for e in entries
        ]
    return found


def _of(nodes: Any, entry: Any) -> Any:
    """The tensor of a node: of a constant, or the node itself."""
    if isinstance(entry, str):
        return entry
    return nodes[entry.get("value", entry.get("data"))]["data"]


def _listed(graph: Any, root: Any, decoded: Decoder) -> Tensors:
    nodes, tensors = graph["nodes"], graph["b64ndarrays"]
    found: Tensors = {}
    for kind, index in zip(root["keys"], root["data"], strict=True):
        entries = [nodes[entry]["attrs"] for entry in nodes[index]["data"]]
        found[str(kind)] = [_literal(partial(_numbered, tensors, e), decoded) for e in entries]
    return found


def _numbered(tensors: Any, entry: Any) -> Any:
    return tensors[int(entry["data"])]


def _literal(tensor: Callable[[], Any], decoded: Decoder) -> Literal | None:
    """The constant that a serialised tensor holds."""
    try:
        raw = decoded(tensor())
        shape, data_type, start = _header(raw)
        if data_type.is_void:
            return Literal(None, VOID, None)
        return Literal(
            None, data_type, shape, None, _content(memoryview(raw)[start:], prod(shape), data_type)
        )
    except _DAMAGED:
        return None


def _content(data: memoryview, elements: int, data_type: DataType) -> bytes | None:
    """One or more whole bytes for each element; None if there are too few.

    TVM packs elements of four bits in pairs, the first into the upper half of a byte.
    """
    if data_type.bits == 4:
        pairs = data[: (elements + 1) // 2]
        halves = bytes(half for pair in pairs for half in (pair >> 4, pair & 15))
        data = memoryview(halves)[:elements]
    count = elements * (data_type.bits // 8 or 1)
    return bytes(data[:count]) if len(data) >= count else None


def _header(raw: bytes) -> tuple[tuple[int, ...], DataType, int]:
    """Shape and type of a serialised tensor, and where its data begins; Void is a type without a
    name.

    The fields are magic, reserved, device, rank, type, shape, number of bytes, data.
    """
    magic, _, _, _, rank, code, bits, lanes = struct.unpack_from("<QQiiiBBH", raw)
    if magic != MAGIC or not 0 <= rank <= 64:
        raise ValueError("not a serialised tensor")
    shape = struct.unpack_from(f"<{rank}q", raw, 32)
    if min(shape, default=0) < 0:
        raise ValueError("a negative length")
    if (code not in CODES and code not in NARROW) or lanes != 1:
        return shape, VOID, 0
    name = NARROW.get(code) or ("bool" if (code, bits) == (1, 1) else f"{CODES[code]}{bits}")
    return shape, dtype(name), 32 + 8 * rank + 8
