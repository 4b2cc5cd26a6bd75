"""Prim expressions and plain values as text, with only the parentheses that the parser needs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT32, INT64, DataType
from rlx.grammar.nodes.node import Node, tuple_text
from rlx.grammar.nodes.prim_operators import (
    ATOM,
    BARE,
    BY_INTRINSIC,
    BY_NAME,
    BY_NODE,
    COMPARISON,
    NOT,
    POWER,
    SIGN,
    TYPED,
    PrimOperator,
)
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.streams import visible

Names = Mapping[Node, str]
"""The new names of renamed variables and buffers."""

_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\t"): "\\t", 0x85: "\\u0085"}
_WORD = re.compile(r"[\w.]+")
_CALLED = re.compile(r"\w+\.([A-Z]\w*)\(")
"""An operator that a text calls by the name of its node."""


def quoted(text: str) -> str:
    """A string literal, with everything escaped that would end it or is hidden."""
    return f'"{visible(text.translate(_ESCAPES))}"'


def integer(value: int) -> str:
    """An integer literal; hexadecimal if it exceeds Python's limit of decimal digits."""
    return str(value) if value.bit_length() < 14_000 else hex(value)


def scalar(value: object) -> str:
    """A number, Boolean, string or None that parses to the same value."""
    match value:
        case bool() | None:
            return str(value)
        case int():
            return integer(value)
        case float():
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        case str():
            return quoted(value)
    raise TypeError(f"no literal for {type(value).__name__}")


def _int_imm(node: tir.IntImm, plain: DataType | None) -> str:
    value, dtype = node.value, node.dtype
    if dtype is plain or dtype == plain:
        return integer(value)
    if dtype == BOOL:
        return f"T.bool({bool(value)})"
    return f"T.{dtype}({integer(value)})"


def _float_imm(node: tir.FloatImm) -> str:
    value = node.value
    shown = repr(value) if math.isfinite(value) else f'"{value}"'
    return f"T.{node.dtype}({shown})"


_LITERALS = (tir.IntImm, tir.FloatImm)
_BY_PYTHON = (tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod)
"""Operators on integers that Python computes."""

Part = str | tuple[PrimExpr, int]
"""Text, or an operand with its required precedence."""


class PrimPrinter:
    """Prints prim expressions.

    A bare literal takes the type of the other operand, so a literal of another type is written with
    its type.

    Parameters
    ----------
    names
        The new names of variables and buffers; others keep their names.
    plain
        The data type of bare literals: int64 in shapes, int32 inside PrimFuncs.
    value
        Prints the value of a keyword argument.
    scalars
        Buffers of one element that are written by their names only.
    source
        The text that was read: what it writes as `T.Add(x, 0)` is not `x + 0`, of which TVM makes
        `x`.
    """

    def __init__(
        self,
        names: Names,
        plain: DataType,
        value: Callable[[object], str] | None = None,
        scalars: AbstractSet[tir.Buffer] = frozenset(),
        source: str = "",
    ) -> None:
        self.names = names
        self.plain = plain
        self.scalars = scalars
        self.source = source
        self.value = value or self._value

    def text(self, expr: PrimExpr) -> str:
        """The expression, without parentheses around it."""
        if type(expr) is tir.Var:
            return self.names.get(expr) or expr.name
        if type(expr) is tir.IntImm:
            return _int_imm(expr, self.plain)
        return Text(self.names, self.plain, self.value, self.scalars, self.source).run(expr)

    def alone(self, expr: PrimExpr, bare: DataType | None = None) -> str:
        """The expression at a position where a bare literal has the type ``bare``."""
        if type(expr) is tir.IntImm and expr.dtype == self.plain and bare != self.plain:
            return _int_imm(expr, None)
        if isinstance(expr, tir.Binary) and bare != self.plain:
            shown = Text(self.names, self.plain, self.value, self.scalars, self.source)
            return shown.run(*shown.alone(expr, BARE, bare))
        return self.text(expr)

    def texts(self, exprs: tuple[PrimExpr, ...]) -> str:
        """Several expressions, with commas between them."""
        return ", ".join([self.text(e) for e in exprs])

    def tupled(self, exprs: tuple[PrimExpr, ...]) -> str:
        """Several expressions as a Python tuple."""
        return tuple_text([self.text(e) for e in exprs])

    def _value(self, value: object) -> str:
        return value_text(value, self._part)

    def _part(self, value: PrimExpr | tir.Buffer) -> str:
        if isinstance(value, tir.Buffer):
            return self.names.get(value) or value.name
        return self.text(value)


class Text:
    """The state of printing one expression: a stack of the remaining parts.

    Attributes
    ----------
    prefix, select
        The prefix of names of calls, and the name of Select.
    """

    prefix = "T."
    select = "Select"

    def __init__(
        self,
        names: Names,
        plain: DataType,
        value: Callable[[object], str],
        scalars: AbstractSet[tir.Buffer] = frozenset(),
        source: str = "",
    ) -> None:
        self.names = names
        self.plain = plain
        self.value = value
        self.scalars = scalars
        self.source = source
        self._computed: dict[PrimExpr, bool] = {}

    def run(self, expr: PrimExpr, required: int = BARE) -> str:
        """The whole text."""
        out: list[str] = []
        stack: list[Part] = [(expr, required)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                out.append(item)
            else:
                stack.extend(reversed(self.parts(*item)))
        return "".join(out)

    def parts(self, expr: PrimExpr, required: int) -> list[Part]:
        """The text of a node, with its operands and their required precedences."""
        if isinstance(expr, tir.Binary):
            return self._binary(expr, required)
        match expr:
            case tir.Var(name=name):
                return [self.names.get(expr) or name]
            case tir.IntImm(value=value, dtype=dtype):
                text = self.integer(expr, required)
                # A sign binds less strongly than `**`.
                negative = value < 0 and required == ATOM and dtype == self.plain
                return ["(", text, ")"] if negative else [text]
            case tir.FloatImm():
                return [_float_imm(expr)]
            case tir.StringImm(value=text):
                return [quoted(text)]
            case tir.Not(a=a):
                return wrapped(["not ", self.alone(a, NOT)], NOT, required)
            case tir.Select(condition=c, true_value=t, false_value=f):
                return self._choice(self.select, c, t, f)
            case tir.Cast(dtype=dtype, value=v):
                return [self.cast(dtype), (v, BARE), ")"]
            case tir.Slice():
                ends: list[Part] = []
                for end in tir.children(expr):
                    ends += [":", self.alone(end, BARE, INT32)]
                return ends[1:]
            case tir.BufferLoad(buffer=buffer, indices=indices):
                name = self.names.get(buffer) or buffer.name
                if buffer in self.scalars:
                    return [name]
                return [name, "[", *(self._list(indices) or ["()"]), "]"]
            case tir.Let(var=var, value=value, body=body):
                name = self.names.get(var) or var.name
                between = [", where={", name, ": ", self.alone(value), "})"]
                return ["T.Let(", self.alone(body), *between]
            case tir.Call():
                return self._call(expr, required)
            case tir.OpaqueExpr(text=text):
                return [text if not required or _WORD.fullmatch(text) else f"({text})"]
        raise TypeError(f"not a prim expression: {type(expr).__name__}")

    def _binary(self, expr: tir.Binary, required: int) -> list[Part]:
        written = BY_NODE[type(expr)]
        name = self._called(expr)
        if written.symbol and name is None:
            return self._infix(expr.a, expr.b, written, required)
        return [f"{self.prefix}{name or written.name}(", *self._pair(expr.a, expr.b, ", "), ")"]

    def _called(self, expr: tir.Binary) -> str | None:
        """The name of its node by which the source calls an operator on a literal."""
        literal = isinstance(expr.a, _LITERALS) or isinstance(expr.b, _LITERALS)
        if not (self.source and literal and expr.span):
            return None
        found = _CALLED.match(self.source, expr.span[0])
        if found is None:
            return None
        nodes = (tir.Div, tir.TruncDiv) if found[1] == "Div" else (BY_NAME.get(found[1]),)
        return found[1] if type(expr) in nodes else None

    def _infix(self, a: PrimExpr, b: PrimExpr, written: PrimOperator, required: int) -> list[Part]:
        level = written.strength
        if written.node is tir.Sub and self.is_negation(a, b):
            return wrapped(["-", (b, ATOM)], SIGN, required)
        left, right = level, level + 1
        if level == COMPARISON:  # would chain in Python
            left = right
        elif level == POWER:
            left, right = ATOM, POWER
        x, y = self.required(a, b, left, True), self.required(b, a, right, True)
        if required == TYPED and self.is_computed(a) and self.is_computed(b):
            x = y = TYPED
        return wrapped([(a, x), f" {written.symbol} ", (b, y)], level, required)

    def _choice(self, name: str, c: PrimExpr, t: PrimExpr, f: PrimExpr) -> list[Part]:
        return [f"{self.prefix}{name}(", self.alone(c), ", ", *self._pair(t, f, ", "), ")"]

    def _pair(self, a: PrimExpr, b: PrimExpr, between: str) -> list[Part]:
        """Two operands between commas."""
        x, y = self.required(a, b, BARE, False), self.required(b, a, BARE, False)
        return [(a, x), between, (b, y)]

    def integer(self, node: tir.IntImm, required: int) -> str:
        """An integer literal, with its type if the position does not determine it."""
        return _int_imm(node, None if required == TYPED else self.plain)

    def cast(self, dtype: DataType) -> str:
        """The text before the value of a cast."""
        return f'{self.prefix}Cast("{dtype}", '

    def required(self, operand: PrimExpr, beside: PrimExpr, level: int, infix: bool) -> int:
        """The required precedence of an operand; :data:`TYPED` if a bare literal would have
        another type.
        """
        if not self.is_computed(operand):
            return level
        if type(beside) is tir.Call and beside.dtype is None:
            return level if infix else TYPED
        found = tir.type_of(beside)
        numeric = found.is_integer or found.is_float
        return level if found == self.plain or (infix and not numeric) else TYPED

    def alone(self, expr: PrimExpr, level: int = BARE, bare: DataType | None = None) -> Part:
        """A single operand; a literal is bare only if it has the given type."""
        if type(expr) is not tir.IntImm:
            return (expr, TYPED if self.is_computed(expr) and bare != self.plain else level)
        if expr.dtype == BOOL:
            return (expr, level)
        return integer(expr.value) if expr.dtype == bare else (expr, TYPED)

    def is_computed(self, expr: PrimExpr) -> bool:
        """Whether Python computes an expression before TVM sees it, if its literals are bare."""
        if not isinstance(expr, tir.Binary):
            return type(expr) is tir.IntImm and expr.dtype == self.plain

        def node(each: PrimExpr, operands: list[bool]) -> bool:
            if isinstance(each, _BY_PYTHON):
                return all(operands)
            return type(each) is tir.IntImm and each.dtype == self.plain

        return tir.fold(expr, node, self._computed)

    def is_negation(self, a: PrimExpr, b: PrimExpr) -> bool:
        """Whether ``a - b`` is written ``-b``; in programs this is the product of b and -1."""
        return False

    def _list(self, exprs: tuple[PrimExpr, ...]) -> list[Part]:
        """Indices, and arguments of intrinsics: bare literals are int32 everywhere."""
        parts: list[Part] = []
        for each in exprs:
            shown = self.alone(each, BARE, INT32)
            parts += (", ", shown) if parts else (shown,)
        return parts

    def _call(self, call: tir.Call, required: int) -> list[Part]:
        args = call.args
        typed = call.dtype is not None
        match call.op, args, call.attrs.get("vectors"):
            case op, (a, b), _ if op in BY_INTRINSIC and typed and not call.attrs:
                return self._infix(a, b, BY_INTRINSIC[op], required)
            case "bitwise_not", (only,), _ if typed and not call.attrs:
                return wrapped(["~", (only, ATOM)], SIGN, required)
            case "if_then_else", (condition, yes, no), _ if not call.attrs:
                return self._choice(call.op, condition, yes, no)
            case "Shuffle", _, int(count):
                vectors, lanes = self._list(args[:count]), self._list(args[count:])
                return [f"{self.prefix}Shuffle([", *vectors, "], [", *lanes, "])"]
        arguments = self._list(args)
        for key, value in call.attrs.items():
            arguments += (", " if arguments else "", f"{key}={self.value(value)}")
        return [f"{self.prefix}{call.op}(", *arguments, ")"]


def wrapped(parts: list[Part], level: int, required: int) -> list[Part]:
    """A text with a precedence, in parentheses if its position requires a higher one."""
    return ["(", *parts, ")"] if level < required else parts


def value_text(value: object, prim: Callable[..., str]) -> str:
    """An attribute value: a scalar, data type, prim expression, buffer, or a tuple or dict of
    them.
    """
    match value:
        case tuple() | list():
            return "[" + ", ".join([value_text(v, prim) for v in value]) + "]"
        case dict() | Mapping():
            items = [f"{value_text(k, prim)}: {value_text(v, prim)}" for k, v in value.items()]
            return "{" + ", ".join(items) + "}"
        case DataType():
            return f'"{value}"'
        case tir.IntImm():
            return _int_imm(value, None)  # a bare literal would read back as a plain number
        case PrimExpr() | tir.Buffer():
            return prim(value)
        case _:
            return scalar(value)


def in_shape(names: Names) -> PrimPrinter:
    """A printer of shape arithmetic, with bare int64 literals."""
    return PrimPrinter(names, INT64)
