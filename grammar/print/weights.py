"""Programs with the data of their constants, as one text that TVM reads."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from math import prod

from rlx.grammar.dialects import DEFAULT, dialect, split_key
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import walk
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.metadata import CODES, MAGIC, NARROW


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


def print_with_weights(module: ast.IRModule, version: str = DEFAULT) -> str:
    """Print a module, after the data of the constants that it refers to."""
    text = print_module(module, version)
    found = constants(module) if "metadata[" in text else []
    if not found:
        return text
    held = json.dumps(_graph(found, dialect(version).constant_key))
    escaped = held.replace("\\", "\\\\").replace('"', '\\"')
    return f'metadata = tvm.ir.load_json("""{escaped}""")\n{text}'


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
        data = add("ffi.Tensor", base64.b64encode(_tensor(literal)).decode())
        return add(dialect(DEFAULT).constant_key, {"span": 0, "ty": ty, "value": data})

    each = [*map(constant, found)]
    root = add("ffi.Map", [add("ffi.String", word), add("ffi.Array", each)])
    return {"root_index": root, "nodes": nodes}


def _tensor(literal: ast.Literal) -> bytes:
    """A tensor as TVM writes it."""
    shape, kind = literal.shape or (), literal.dtype
    codes = {name: code for code, name in (CODES | NARROW).items()}
    name = str(kind)
    code = codes[name] if name in codes else codes[name.rstrip("0123456789")]
    content = bytes(literal.content or b"")[: prod(shape) * max(kind.bits // 8, 1)]
    if kind.bits == 4:  # TVM packs two of them into a byte, the first into its upper half
        even = content + bytes(len(content) % 2)
        content = bytes(a << 4 | b for a, b in zip(even[::2], even[1::2], strict=True))
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
