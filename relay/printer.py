"""Printer of Relay modules: each node has a number and is printed before its first use."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Sequence
from math import prod
from typing import Any

from rlx.grammar.nodes.ast import Literal
from rlx.grammar.stack import recursion_room
from rlx.relay.attributes import print_attribute, print_float
from rlx.relay.literal_reader import CONSTANTS
from rlx.relay.nodes import (
    ATOMS,
    RelayCall,
    RelayConstant,
    RelayExpr,
    RelayFunction,
    RelayFuncType,
    RelayGlobalVar,
    RelayIf,
    RelayLet,
    RelayModule,
    RelayOp,
    RelayProjection,
    RelayTensorType,
    RelayTuple,
    RelayTupleType,
    RelayType,
    RelayVar,
)
from rlx.relay.scopes import EvaluationScope, Schedule

_MAGIC = 0xDD5E40F096B4A13F
_CODE_NUMBERS = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 1}


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
    code, bits = _CODE_NUMBERS[data.dtype.code], data.dtype.bits
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
        return bytes(data.content)
    if data.value is None:
        raise ValueError("the constant has no data")
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    kind = numpy_type(data.dtype)
    array = np.asarray(data.value, kind).reshape(data.shape or ())
    assert array.size == prod(data.shape or ())
    return array.tobytes()


HEADER = '#[version = "0.0.5"]'
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|\.)\w+)*\Z")
_FRAMES = 500_000
_WIDEST = 80
"""Blocks inside blocks that are indented further stand below them."""
_CODES = {"float": "f", "int": "i", "uint": "u", "bfloat": "bf"}


def print_module(module: RelayModule) -> str:
    """The text of a module; it reads back as an equal one, sharing included."""
    printer = _Printer()
    with recursion_room(_FRAMES):
        parts = [HEADER]
        for var, function in module.functions.items():
            parts.append(printer.definition(var.name, function))
    text = "\n\n".join([f"{parts[0]}\n{parts[1]}", *parts[2:]]) if parts[1:] else parts[0]
    if printer.constants:
        text += f"\n\n#[metadata]\n{metadata(printer.constants)}"
    return text + "\n"


def print_type(type_: RelayType | None) -> str:
    """The text of a type; ``_`` for one that is left open."""
    match type_:
        case RelayTensorType(shape=(), dtype=kind):
            return str(kind)
        case RelayTensorType(shape=shape, dtype=kind):
            dims = ", ".join("?" if dim is None else str(dim) for dim in shape)
            return f"Tensor[({dims}{',' if len(shape) == 1 else ''}), {kind}]"
        case RelayTupleType(fields=fields):
            comma = "," if len(fields) == 1 else ""
            return f"({', '.join(map(print_type, fields))}{comma})"
        case RelayFuncType(params=params, ret=ret):
            return f"fn ({', '.join(map(print_type, params))}) -> {print_type(ret)}"
    return "_"


class _Printer:
    """Prints functions.

    Attributes
    ----------
    constants
        What the metadata must hold, in order.
    """

    def __init__(self) -> None:
        self.constants: list[Literal] = []
        self._indices: dict[int, int] = {}
        self._names: dict[RelayExpr, str] = {}
        self._last: dict[str, int] = {}
        self._count = 0

    def definition(self, name: str, function: RelayFunction) -> str:
        """The text of a function of the module."""
        self._names.clear()
        self._last.clear()
        self._count = 0
        self._schedule = Schedule(function.body, let_blocks=True)
        self._placed = _placed(self._schedule)
        self._lines = [f"def @{name}{self._signature(function)} {{"]
        self._block(self._schedule.root, "")
        return "\n".join([*self._lines, "}"])

    def _signature(self, function: RelayFunction) -> str:
        parts = [self._binder(param) for param in function.params]
        parts += [f"{key}={print_attribute(value)}" for key, value in function.attrs.items()]
        ret = "" if function.ret is None else f" -> {print_type(function.ret)}"
        return f"({', '.join(parts)}){ret}"

    def _binder(self, var: RelayVar) -> str:
        base = var.name if _NAME.match(var.name) else "v" + re.sub(r"\W", "_", var.name)
        name = base
        while name in self._last:
            self._last[base] += 1
            name = f"{base}_{self._last[base]}"
        self._last[name] = 0
        self._names[var] = f"%{name}"
        kind = "" if var.annotation is None else f": {print_type(var.annotation)}"
        return f"%{name}{kind}"

    # ------------------------------------------------------------ blocks

    def _block(self, scope: EvaluationScope, around: str) -> None:
        """Add the lines between the braces of a block."""
        indent = around if len(around) > _WIDEST else around + "  "
        for item in scope.items:
            if isinstance(item, RelayLet) and self._bound_in(item, scope):
                self._let(item, indent)
            elif not self._inline(item):
                name = f"%{self._count}"
                self._count += 1
                self._statement(f"{name} = ", item, indent, ";")
                self._names[item] = name
        result = scope.result
        while isinstance(result, RelayLet) and result not in self._schedule.inner:
            result = result.body
        self._statement("", result, indent, "")

    def _bound_in(self, let: RelayLet, scope: EvaluationScope) -> bool:
        """Whether a let binds its variable in a block, and is no block of its own there."""
        inner = self._schedule.inner.get(let)
        return inner is None or inner[0] is scope

    def _let(self, let: RelayLet, indent: str) -> None:
        recursive = isinstance(let.value, RelayFunction)
        if recursive:
            binder = self._binder(let.var)
            self._statement(f"let {binder} = ", let.value, indent, ";")
            return
        first = len(self._lines)
        self._statement("", let.value, indent, ";")
        value = self._lines[first].lstrip()
        self._lines[first] = f"{indent}let {self._binder(let.var)} = {value}"

    def _inline(self, node: RelayExpr) -> bool:
        """Whether a node is written where it is used: a field, the value of a let, a result."""
        if self._schedule.uses.get(node, 0) != 1:
            return False
        return isinstance(node, RelayProjection) or node in self._placed

    def _statement(self, head: str, node: RelayExpr, indent: str, end: str) -> None:
        """Add a line, or several where the expression has blocks."""
        add = self._lines.append
        if node in self._names or isinstance(node, ATOMS):
            add(f"{indent}{head}{self._operand(node)}{end}")
            return
        inner = self._schedule.inner.get(node, ())
        match node:
            case RelayIf(cond=cond):
                add(f"{indent}{head}if ({self._operand(cond)}) {{")
                self._block(inner[0], indent)
                add(f"{indent}}} else {{")
                self._block(inner[1], indent)
            case RelayFunction():
                add(f"{indent}{head}fn {self._signature(node)} {{")
                self._block(inner[0], indent)
            case RelayLet():
                add(f"{indent}{head}{{")
                self._block(inner[0], indent)
            case _:
                add(f"{indent}{head}{self._flat(node)}{end}")
                return
        add(f"{indent}}}{end}")

    def _flat(self, node: RelayExpr) -> str:
        """An expression without blocks."""
        match node:
            case RelayCall(op=op, args=args, attrs=attrs):
                parts = [self._operand(arg) for arg in args]
                parts += [f"{key}={print_attribute(value)}" for key, value in attrs.items()]
                callee = op.name if isinstance(op, RelayOp) else self._operand(op)
                return f"{callee}({', '.join(parts)})"
            case RelayTuple(fields=fields):
                comma = "," if len(fields) == 1 else ""
                return f"({', '.join(map(self._operand, fields))}{comma})"
        return self._operand(node)

    def _operand(self, node: RelayExpr) -> str:
        """A node by its name, an atom, or a field of one."""
        suffix = ""
        while node not in self._names and isinstance(node, RelayProjection):
            suffix = f".{node.index}{suffix}"
            node = node.value
        return self._atom(node) + suffix

    def _atom(self, node: RelayExpr) -> str:
        match node:
            case RelayGlobalVar(name=name):
                return f"@{name}"
            case RelayOp(name=name):
                return name
            case RelayConstant(data=data):
                return self._constant(data)
            case RelayVar() if node not in self._names:
                return self._binder(node).partition(":")[0]
        return self._names[node]

    def _constant(self, data: Literal) -> str:
        if data.shape == () and isinstance(data.value, bool):
            return str(data.value)
        if data.shape == () and isinstance(data.value, int | float) and data.dtype.bits >= 8:
            code = _CODES.get(data.dtype.code)
            if code is not None:
                return _number(data.value, code, data.dtype.bits)
        if data.value is None and data.content is None and data.key is not None:
            kind = RelayTensorType(data.shape, data.dtype) if data.shape is not None else None
            return data.key if kind is None else f"{data.key} /* ty={print_type(kind)} */"
        if id(data) not in self._indices:
            self._indices[id(data)] = len(self.constants)
            self.constants.append(data)
        return f"meta[{CONSTANTS}][{self._indices[id(data)]}]"


def _placed(schedule: Schedule) -> frozenset[RelayExpr]:
    """The nodes that end a block or are bound by a let."""
    found: set[RelayExpr] = {schedule.root.result}
    for node in schedule.scope_of:
        if isinstance(node, RelayLet):
            found |= {node.value, node.body}
        elif isinstance(node, RelayIf):
            found |= {node.true_branch, node.false_branch}
        elif isinstance(node, RelayFunction):
            found.add(node.body)
    return frozenset(found)


def _number(value: float, code: str, bits: int) -> str:
    """A number as it is read back."""
    width = "" if bits == 32 else str(bits)
    if code in ("f", "bf"):
        return f"{print_float(value)}{code}{width}"
    return f"{int(value)}" if (code, bits) == ("i", 32) else f"{int(value)}{code}{bits}"
