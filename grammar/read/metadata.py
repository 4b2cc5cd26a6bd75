"""The constants in the metadata of a printed module."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any

from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import VOID, DataType, dtype
from rlx.grammar.nodes.encoded import (
    EncodedBytes,
    FileBytes,
    LateBytes,
    encoded_size,
    named_file,
    without_escapes,
)
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


_LONG = 4096
_LEFT_OUT = re.compile("\x01([0-9]+);")


class _Weights:
    """The long strings of a JSON text: left out while it is read.

    Attributes
    ----------
    short
        The text, with a mark and a number in the place of each.
    """

    def __init__(self, text: str, span: Span) -> None:
        self._text = text
        self._found = list(_encoded(text, span))
        parts, at = [], span[0]
        for number, ((start, end), _) in enumerate(self._found):
            parts += [text[at:start], f"\x01{number};"]
            at = end
        self.short = "".join([*parts, text[at : span[1]]])

    def literal(self, string: Any) -> Literal:
        """The constant for a string of the JSON. Its data stays in the text if it is long."""
        mark = _LEFT_OUT.fullmatch(string)
        if mark is None and (name := _IN_FILE.fullmatch(string)) is not None:
            return _in_file(*name.groups())
        if mark is None:
            raw = base64.b64decode(_LEFT_OUT.sub(self._whole, string))
            return _literal(raw, len(raw), lambda start, count: raw[start : start + count])
        span, size = self._found[int(mark[1])]
        head = without_escapes(self._text[span[0] : span[0] + _LONG])
        begin = base64.b64decode(head[: len(head) // 4 * 4])
        return _literal(begin, size, partial(EncodedBytes, self._text, span))

    def _whole(self, mark: re.Match[str]) -> str:
        return self._text[slice(*self._found[int(mark[1])][0])]


def _encoded(text: str, span: Span) -> Iterator[tuple[Span, int]]:
    """The long strings in base64 between quotes, each with the number of its bytes. Its slashes may
    be escaped, in JSON and again in Python; decoding passes over that.
    """
    start, last = span
    while start < last:
        end = text.find('"', start, last)
        if end < 0:
            end = last
        if end - start >= _LONG:
            held = start, end - 1 if text[end - 1] == "\\" else end  # the quote is escaped, too
            size = encoded_size(text, held)
            if size is not None:
                yield held, size
        start = end + 1


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
        return read(graph, root, weights.literal)
    except _DAMAGED:
        return {}


Reader = Callable[[Any], Literal]


def _nested(graph: Any, root: Any, read: Reader) -> Tensors:
    nodes, pairs = graph["nodes"], root["data"]
    found: Tensors = {}
    for kind, index in zip(pairs[::2], pairs[1::2], strict=False):
        entries = [nodes[entry]["data"] for entry in nodes[index]["data"]]
        found[str(nodes[kind]["data"])] = [_constant(partial(_of, nodes, e), read) for e in entries]
    return found


def _of(nodes: Any, entry: Any) -> Any:
    """The tensor of a node: of a constant, or the node itself."""
    if isinstance(entry, str):
        return entry
    return nodes[entry.get("value", entry.get("data"))]["data"]


def _listed(graph: Any, root: Any, read: Reader) -> Tensors:
    nodes, tensors = graph["nodes"], graph["b64ndarrays"]
    found: Tensors = {}
    for kind, index in zip(root["keys"], root["data"], strict=True):
        entries = [nodes[entry]["attrs"] for entry in nodes[index]["data"]]
        found[str(kind)] = [_constant(partial(_numbered, tensors, e), read) for e in entries]
    return found


def _numbered(tensors: Any, entry: Any) -> Any:
    return tensors[int(entry["data"])]


def _constant(tensor: Callable[[], Any], read: Reader) -> Literal | None:
    """The constant of an entry; None if it is damaged."""
    try:
        return read(tensor())
    except _DAMAGED:
        return None


def _literal(head: bytes, size: int, content: Callable[[int, int], bytes | LateBytes]) -> Literal:
    """The constant that a serialised tensor holds.

    Parameters
    ----------
    head, size
        The bytes that it begins with, at least all in front of its data, and their number in all.
    content
        Gives so many bytes from a place on.
    """
    shape, data_type, start = _header(head)
    if data_type.is_void:
        return Literal(None, VOID, None)
    elements = prod(shape)
    if data_type.bits == 4:
        return Literal(None, data_type, shape, None, _halves(bytes(content(start, size)), elements))
    count = elements * (data_type.bits // 8 or 1)
    return Literal(
        None, data_type, shape, None, content(start, count) if size - start >= count else None
    )


_IN_FILE = re.compile(r"file ([\w.]+) (\w+) ([\d,]*)")
_NAMED = re.compile(rf'\\"{_IN_FILE.pattern}\\"')


def in_file(name: str, data_type: DataType, shape: tuple[int, ...]) -> str:
    """The placeholder in the JSON for a tensor whose elements are in a file."""
    return f"file {name} {data_type} {','.join(map(str, shape))}"


def files_named(text: str) -> list[tuple[int, str]]:
    """The size in bytes and the name of each file that replaces a tensor in a text."""
    return [
        (prod(map(int, filter(None, sizes.split(",")))) * (dtype(kind).bits // 8 or 1), name)
        for name, kind, sizes in _NAMED.findall(text)
    ]


def _in_file(name: str, data_type: str, sizes: str) -> Literal:
    shape = tuple(map(int, filter(None, sizes.split(","))))
    kind = dtype(data_type)
    path = named_file(name)
    size = prod(shape) * (kind.bits // 8 or 1)
    held = None if path is None else FileBytes(path)
    return Literal(None, kind, shape, None, held if held and len(held) == size else None)


def _halves(data: bytes, elements: int) -> bytes | None:
    """A byte for each element of four bits; None if there are too few. TVM packs them in pairs, the
    first into the upper half of a byte.
    """
    pairs = data[: (elements + 1) // 2]
    halves = bytes(half for pair in pairs for half in (pair >> 4, pair & 15))
    return halves[:elements] if len(halves) >= elements else None


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
