"""Programs with the data of their constants: as one text that TVM reads, or with the large ones in
files.
"""

from __future__ import annotations

import base64
import json
import os
import struct
from collections.abc import Iterable, Sequence
from itertools import count
from math import prod
from pathlib import Path

from rlx.grammar.dialects import DEFAULT, dialect, split_key
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import numpy_type
from rlx.grammar.nodes.encoded import EncodedBytes, FileBytes
from rlx.grammar.nodes.node import Node, replace, walk
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.metadata import CODES, MAGIC, NARROW, files_named, in_file
from rlx.grammar.read.outline import metadata_statement
from rlx.writing import output

LARGE = 1 << 20
"""Bytes of a constant that is rather in a file than in a text."""

MANY = 1000
"""Elements of a constant that are rather data of their own than a part of the text."""

_numbers = count()


def constants(module: ast.IRModule) -> list[ast.Literal]:
    """The constants that a module refers to by numbers, in their order.

    A reference whose data are not known, and a number that nothing refers to, have a zero; without
    any data the list is empty.
    """
    found: dict[int, ast.Literal] = {}
    for node in walk(module):
        if isinstance(node, ast.Literal) and node.key is not None and node.content is not None:
            found[int(split_key(node.key)[1])] = node
    if not found:
        return []
    zero = ast.Literal(None, next(iter(found.values())).dtype, (), None, bytes(8))
    return [found.get(number, zero) for number in range(max(found) + 1)]


def referring(module: ast.IRModule) -> ast.IRModule:
    """The same module, in which a constant of many elements is a reference to its data."""
    literals = [node for node in walk(module) if isinstance(node, ast.Literal)]
    used = [int(split_key(node.key)[1]) for node in literals if node.key is not None]
    free = count(max(used, default=-1) + 1)

    def change(node: Node) -> Node:
        if not isinstance(node, ast.Literal) or node.key is not None:
            return node
        kind = numpy_type(node.dtype)
        if kind is None or prod(node.shape or ()) < MANY:
            return node
        content = node.content
        if content is None and node.value is not None:
            import numpy as np

            content = np.asarray(node.value, kind).tobytes()
        key = f'metadata["{dialect(DEFAULT).constant_key}"][{next(free)}]'
        return node if content is None else replace(node, value=None, key=key, content=content)

    changed: ast.IRModule = rebuild(module, change)
    return changed


def print_with_weights(module: ast.IRModule, *, behind: bool = False) -> str:
    """Print a module with the data of its large constants.

    Data in a file stays there, and the text names the file, for
    :func:`rlx.grammar.nodes.encoded.files_in`.

    Parameters
    ----------
    behind
        Whether the data is behind the program, whose lines are then those of :func:`print_module`;
        TVM reads it only in front.
    """
    module = referring(module)
    text = print_module(module)
    found = constants(module) if "metadata[" in text else []
    data = metadata_of(found) if found else ""
    return text + data if behind else data + text


def metadata_of(found: Sequence[ast.Literal]) -> str:
    """The line in front of a text that has the data of its constants, by their numbers."""
    held = json.dumps(_graph(found, dialect(DEFAULT).constant_key))
    escaped = held.replace("\\", "\\\\").replace('"', '\\"')
    return f'metadata = tvm.ir.load_json("""{escaped}""")\n'


def without_files(text: str, instead: str = "") -> str:
    """A text that names files as the data of constants, for people, who do not have these files.

    Parameters
    ----------
    instead
        What takes the place of its metadata; empty for a comment.
    """
    statement = metadata_statement(text)
    found = [] if statement is None else files_named(text[slice(*statement.span)])
    if statement is None or not found:
        return text
    start, end = statement.span
    size = sum(size for size, _ in found) / 1e6
    words = f"# metadata with {len(found)} large constants, {size:.0f} MB, is left out"
    return f"{text[:start]}{instead or words}{text[end:]}"


def stored(module: ast.IRModule, folder: Path) -> ast.IRModule:
    """The same module, whose large constants are in files of a :func:`rlx.writing.scratch`
    folder.
    """
    made: dict[int, FileBytes] = {}  # by the data, which several references share

    def change(node: Node) -> Node:
        content = node.content if isinstance(node, ast.Literal) else None
        if content is None or isinstance(content, FileBytes) or len(content) < LARGE:
            return node
        if id(content) not in made:
            parts = content.pieces() if isinstance(content, EncodedBytes) else [bytes(content)]
            made[id(content)] = put(parts, folder)
        return replace(node, content=made[id(content)])

    changed: ast.IRModule = rebuild(module, change)
    return changed


def put(parts: Iterable[bytes], folder: Path) -> FileBytes:
    """Write the data of a constant to a new file of a folder."""
    path = folder / f"{os.getpid()}.{next(_numbers)}.data"
    with output(path, within=[folder], durable=False) as file:
        for part in parts:
            file.write(part)
    return FileBytes(str(path))


def _graph(found: Sequence[ast.Literal], word: str) -> dict[str, object]:
    """The constants in TVM's JSON: a map of an array of them."""
    nodes: list[dict[str, object]] = [{"type": "None"}]

    def add(kind: str, data: object) -> int:
        nodes.append({"type": kind, "data": data})
        return len(nodes) - 1

    def prim_type(name: str) -> int:
        return add("ir.PrimType", {"span": 0, "dtype": name})

    whole = prim_type("int64")

    def constant(literal: ast.Literal) -> int:
        shape = literal.shape or ()
        dims = [add("ir.IntImm", {"span": 0, "ty": whole, "value": add("int", d)}) for d in shape]
        values = add("ffi.Array", dims)
        of_shape = add("relax.ShapeType", {"span": 0, "values": values, "ndim": len(shape)})
        at = add("relax.expr.ShapeExpr", {"span": 0, "ty": of_shape, "values": values})
        kind = {"shape": at, "dtype": prim_type(str(literal.dtype)), "vdevice": 0}
        ty = add("relax.TensorType", {"span": 0, **kind, "ndim": len(shape)})
        data = add("ffi.Tensor", _data(literal))
        return add(dialect(DEFAULT).constant_key, {"span": 0, "ty": ty, "value": data})

    each = [*map(constant, found)]
    root = add("ffi.Map", [add("ffi.String", word), add("ffi.Array", each)])
    return {"root_index": root, "nodes": nodes}


def _data(literal: ast.Literal) -> str:
    """The text for the data of a tensor."""
    if isinstance(literal.content, FileBytes):
        name = os.path.basename(literal.content.path)
        return in_file(name, literal.dtype, literal.shape or ())
    return base64.b64encode(_tensor(literal)).decode()


def _tensor(literal: ast.Literal) -> bytes:
    """A tensor as TVM writes it."""
    shape, kind = literal.shape or (), literal.dtype
    codes = {name: code for code, name in (CODES | NARROW).items()}
    name = str(kind)
    code = codes[name] if name in codes else codes[name.rstrip("0123456789")]
    assert literal.content is not None
    content = bytes(literal.content)[: prod(shape) * max(kind.bits // 8, 1)]
    if kind.bits == 4:  # TVM packs two of them into a byte, the first into its upper half
        even = content + bytes(len(content) % 2)
        content = bytes((a & 15) << 4 | b & 15 for a, b in zip(even[::2], even[1::2], strict=True))
    head = struct.pack(
        "<QQiiiBBH",
        MAGIC,
        0,
        1,
        0,
        len(shape),
        code,
        max(kind.bits, 8) if name == "bool" else kind.bits,
        1,
    )
    return head + struct.pack(f"<{len(shape)}qq", *shape, len(content)) + content
