"""Modules of Relay to text: nodes with a number each, in front of their first use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlx.grammar.ast import Literal
from rlx.grammar.visit import recursion_room
from rlx.relay.literal_reader import CONSTANTS, MetadataReference
from rlx.relay.metadata_writer import metadata
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

HEADER = '#[version = "0.0.5"]'
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|\.)\w+)*\Z")
_CODES = {"float": "f", "int": "i", "uint": "u", "bfloat": "bf"}


def print_module(module: RelayModule) -> str:
    """The text of a module; it reads back as an equal one, sharing included."""
    printer = _Printer()
    with recursion_room():
        parts = [HEADER]
        for var, function in module.functions.items():
            parts.append("\n".join(printer.definition(var.name, function)))
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


def print_attribute(value: object) -> str:
    """The text of an attribute's value."""
    match value:
        case bool() | None | MetadataReference():
            return str(value)
        case int():
            return str(value) if -(1 << 31) <= value < 1 << 31 else f"{value}i64"
        case float():
            return f"{_float(value)}f64"
        case str():
            return _quoted(value)
        case tuple() | list():
            return f"[{', '.join(map(print_attribute, value))}]"
    raise TypeError(f"{value!r} is no attribute of Relay")


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def _float(value: float) -> str:
    text = repr(float(value))
    return text.removesuffix(".0")


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
        self._taken: set[str] = set()
        self._count = 0

    def definition(self, name: str, function: RelayFunction) -> Iterator[str]:
        self._names.clear()
        self._taken.clear()
        self._count = 0
        self._schedule = Schedule(function.body, let_blocks=True)
        yield f"def @{name}{self._signature(function)} {{"
        yield from self._block(self._schedule.root, "  ")
        yield "}"

    def _signature(self, function: RelayFunction) -> str:
        parts = [self._binder(param) for param in function.params]
        parts += [f"{key}={print_attribute(value)}" for key, value in function.attrs.items()]
        ret = "" if function.ret is None else f" -> {print_type(function.ret)}"
        return f"({', '.join(parts)}){ret}"

    def _binder(self, var: RelayVar) -> str:
        base = var.name if _NAME.match(var.name) else "v" + re.sub(r"\W", "_", var.name)
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        self._names[var] = f"%{name}"
        kind = "" if var.annotation is None else f": {print_type(var.annotation)}"
        return f"%{name}{kind}"

    # ------------------------------------------------------------ blocks

    def _block(self, scope: EvaluationScope, indent: str) -> Iterator[str]:
        """The lines between the braces of a block."""
        for item in scope.items:
            if isinstance(item, RelayLet) and self._bound_in(item, scope):
                yield from self._let(item, indent)
            elif not self._inline(item):
                name = f"%{self._count}"
                self._count += 1
                yield from self._statement(f"{name} = ", item, indent, ";")
                self._names[item] = name
        result = scope.result
        while isinstance(result, RelayLet) and result not in self._schedule.inner:
            result = result.body
        yield from self._statement("", result, indent, "")

    def _bound_in(self, let: RelayLet, scope: EvaluationScope) -> bool:
        """Whether a let binds its variable in a block, and is no block of its own there."""
        inner = self._schedule.inner.get(let)
        return inner is None or inner[0] is scope

    def _let(self, let: RelayLet, indent: str) -> Iterator[str]:
        recursive = isinstance(let.value, RelayFunction)
        if recursive:
            binder = self._binder(let.var)
            yield from self._statement(f"let {binder} = ", let.value, indent, ";")
            return
        lines = list(self._statement("", let.value, indent, ";"))
        yield f"{indent}let {self._binder(let.var)} = {lines[0].lstrip()}"
        yield from lines[1:]

    def _inline(self, node: RelayExpr) -> bool:
        """Whether a node is written where it is used: a field, the value of a let, a result."""
        if self._schedule.uses.get(node, 0) != 1:
            return False
        return isinstance(node, RelayProjection) or node in self._placed

    @property
    def _placed(self) -> frozenset[RelayExpr]:
        """The nodes that end a block or are bound by a let."""
        if self._placed_of is not self._schedule:
            self._placed_of = self._schedule
            found: set[RelayExpr] = {self._schedule.root.result}
            for node in self._schedule.scope_of:
                if isinstance(node, RelayLet):
                    found |= {node.value, node.body}
                elif isinstance(node, RelayIf):
                    found |= {node.true_branch, node.false_branch}
                elif isinstance(node, RelayFunction):
                    found.add(node.body)
            self._placed_nodes = frozenset(found)
        return self._placed_nodes

    _placed_of: Schedule | None = None
    _placed_nodes: frozenset[RelayExpr] = frozenset()

    def _statement(self, head: str, node: RelayExpr, indent: str, end: str) -> Iterator[str]:
        """A line, or several where the expression has blocks."""
        if node in self._names or isinstance(node, ATOMS):
            yield f"{indent}{head}{self._operand(node)}{end}"
            return
        inner = self._schedule.inner.get(node, ())
        match node:
            case RelayIf(cond=cond):
                yield f"{indent}{head}if ({self._operand(cond)}) {{"
                yield from self._block(inner[0], indent + "  ")
                yield f"{indent}}} else {{"
                yield from self._block(inner[1], indent + "  ")
                yield f"{indent}}}{end}"
            case RelayFunction():
                yield f"{indent}{head}fn {self._signature(node)} {{"
                yield from self._block(inner[0], indent + "  ")
                yield f"{indent}}}{end}"
            case RelayLet():
                yield f"{indent}{head}{{"
                yield from self._block(inner[0], indent + "  ")
                yield f"{indent}}}{end}"
            case _:
                yield f"{indent}{head}{self._flat(node)}{end}"

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
        if data.shape is None and data.key is not None:
            return data.key
        if id(data) not in self._indices:
            self._indices[id(data)] = len(self.constants)
            self.constants.append(data)
        return f"meta[{CONSTANTS}][{self._indices[id(data)]}]"


def _number(value: float, code: str, bits: int) -> str:
    """A number as it is read back."""
    width = "" if bits == 32 else str(bits)
    if code in ("f", "bf"):
        return f"{_float(value)}{code}{width}"
    return f"{int(value)}" if (code, bits) == ("i", 32) else f"{int(value)}{code}{bits}"
