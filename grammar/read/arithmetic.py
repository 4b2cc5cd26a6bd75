"""Operators: their precedence, and the nodes that they make from scalars and from tensors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, INT64, DataType
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.prim_operators import BY_SYMBOL, COMPARISON, NOT, SIGN
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.lexer import MAX_NESTING, words_of
from rlx.grammar.read.partial_nodes import (
    CapturedName,
    KnownInteger,
    Name,
    Negation,
    Sequence,
    UnresolvedOperation,
    WrittenInteger,
)
from rlx.grammar.read.precedence import Chain
from rlx.grammar.read.scope import Scope


class Scalars(Protocol):
    """Reads operands as scalars."""

    @property
    def scope(self) -> Scope:
        """The names in scope."""

    def prim(self, entry: Entry, literal: DataType = INT64) -> tir.PrimExpr:
        """Read an operand as a scalar; an integer literal gets the data type ``literal``."""

    def text_of(self, span: Span) -> str:
        """The source of an operand."""


class Operands(Scalars, Protocol):
    """Reads operands as the operator requires."""

    @property
    def source(self) -> str:
        """The whole text."""

    @property
    def signed(self) -> dict[Span, tuple[str, Entry]]:
        """The prefix operators before the bases of powers, with the powers."""

    def expr(self, entry: Entry) -> ast.Expr:
        """Read an operand as a Relax expression."""


RELAX = {
    "+": "relax.add",
    "-": "relax.subtract",
    "*": "relax.multiply",
    "/": "relax.divide",
    "//": "relax.floor_divide",
    "%": "relax.mod",
    "**": "relax.power",
    "<": "relax.less",
    "<=": "relax.less_equal",
    ">": "relax.greater",
    ">=": "relax.greater_equal",
    "==": "relax.equal",
    "!=": "relax.not_equal",
    "@": "relax.matmul",
    "&": "relax.bitwise_and",
    "|": "relax.bitwise_or",
    "^": "relax.bitwise_xor",
    "<<": "relax.left_shift",
    ">>": "relax.right_shift",
    "and": "relax.logical_and",
    "or": "relax.logical_or",
}
_SYMBOLS: dict[ast.Expr, str] = {
    ast.op(name): symbol
    for symbol, name in RELAX.items()
    if symbol in BY_SYMBOL and symbol != "/" and BY_SYMBOL[symbol].node
}
"""The operators of Relax that correspond to scalar arithmetic."""
RELAX_PREFIX = {"-": "relax.negative", "~": "relax.bitwise_not", "not": "relax.logical_not"}
_MOST_ITEMS = 1000
NEVER = frozenset(["@", "==", "!=", "&", "|", "^", "<<", ">>", "and", "or", "not", "~"])
"""Operators that no version of TVM accepts on tensors; there are functions for them."""


def fold(coerce: Operands, items: list[Any]) -> Entry:
    """Apply the operators of a flat chain ``operand, operator, operand, …`` by precedence."""
    if items.count("**") > MAX_NESTING:
        # The only operator that nests to the right.
        raise Rejected(
            f"powers are nested deeper than {MAX_NESTING} levels", items[0].start, items[-1].end
        )
    begins: dict[int, int] = {}

    def prefixed(operator: str, inner: Entry) -> Entry:
        start = begins.pop(inner.start)
        return Entry(prefix(coerce, operator, inner, start), start, inner.end)

    chain: Chain[Entry] = Chain(
        lambda operator, left, right: _applied(coerce, operator, left, right),
        prefixed,
        lambda operators, operands: _compared(coerce, operators, operands),
    )
    for at, item in enumerate(items):
        if at % 2:
            chain.infix(item)
            continue
        while (found := _in_front(coerce, item)) is not None:
            operator, inner = found
            chain.prefix(operator, NOT if operator == "not" else SIGN)
            begins[inner.start] = item.start
            item = inner
        chain.operand(item)
    return chain.finish()


def note_sign(coerce: Operands, operator: str, operand: Entry, start: int) -> None:
    """Remember the sign before the base of a power: in `-x ** y`, Python computes the power
    first.
    """
    behind = next(words_of(coerce.source, (operand.end, len(coerce.source))), None)
    if behind is not None and behind.value == "**":
        coerce.signed[(start, operand.end)] = (operator, operand)


def _in_front(coerce: Operands, item: Entry) -> tuple[str, Entry] | None:
    """The operator in front of an operand that binds less strongly than what follows may, and what
    stands behind it; nothing where parentheses are around both.
    """
    found = coerce.signed.get(item.span)
    if found is None and isinstance(item.value, Negation):
        inner = item.value.operand
        if not coerce.source.startswith("(", item.start):
            return "not", inner
    return found


def _applied(coerce: Operands, operator: str, left: Entry, right: Entry) -> Entry:
    return Entry(binary(coerce, operator, left, right), left.start, right.end)


def _compared(coerce: Operands, operators: list[str], operands: list[Entry]) -> Entry:
    """A comparison, or several in a chain: `a < b < c` is `a < b and b < c`."""
    links = [
        _applied(coerce, operator, left, right)
        for operator, (left, right) in zip(operators, pairwise(operands), strict=True)
    ]
    whole, *others = links
    for link in others:
        if _is_value(coerce, whole.value) or _is_value(coerce, link.value):
            raise Rejected("comparisons of tensors cannot be chained", whole[1], link[2])
        whole = _applied(coerce, "and", whole, link)
    return whole


def binary(coerce: Operands, operator: str, left: Entry, right: Entry) -> Any:
    """A binary operator, as far as the operands determine its meaning."""
    a, b = left.value, right.value
    span = (left[1], right[2])
    if isinstance(a, KnownInteger) or isinstance(b, KnownInteger):
        known = _known(operator, a, b)
        if known is not None:
            return known
    if type(a) in _INTEGERS and type(b) in _INTEGERS and coerce.scope.in_prim_func():
        computed = _computed(coerce, operator, left, right)
        if computed is not None:
            return computed
    joined = _joined(operator, a, b)
    if joined is not None:
        if operator == "+" and {a.kind, b.kind} == {"list", "tuple"}:
            raise Rejected("Python does not add a list and a tuple", *span, certain=True)
        return joined
    if _is_value(coerce, a) or _is_value(coerce, b):
        return relax(coerce, operator, (left, right), span)
    is_open = _is_open(coerce, a) or _is_open(coerce, b)
    if is_open and (operator == "@" or not coerce.scope.in_prim_func()):
        return UnresolvedOperation(operator, (left, right))  # `9 @ axis` may be part of a layout
    return prim(coerce, operator, (left, right), span)


def _known(operator: str, a: Any, b: Any) -> KnownInteger | None:
    """The result that Python computes of two integers of which it knows one by name."""
    from rlx.grammar.read.literals import integer

    if isinstance(a, int) and isinstance(b, int):
        found = integer(operator, int(a), int(b))
        return None if found is None else KnownInteger(found)
    return None


_INTEGERS = (int, WrittenInteger)


def _computed(coerce: Operands, operator: str, left: Entry, right: Entry) -> WrittenInteger | None:
    """The value that Python computes from two literals, before TVM sees them."""
    from rlx.grammar.read.literals import integer

    found = integer(operator, int(left.value), int(right.value))
    if found is None:
        return None
    result = WrittenInteger(found)
    parts = (getattr(each.value, "written", each.value) for each in (left, right))
    if all(part is not None for part in parts) and all(
        -(1 << 31) <= int(n) < 1 << 31 for n in (left.value, right.value, found)
    ):
        result.written = prim(coerce, operator, (left, right), (left[1], right[2]))
    return result


def _joined(operator: str, a: Any, b: Any) -> Sequence | None:
    """The tuple that Python makes of two, or of one and the number of times that it is repeated."""
    match operator, a, b:
        case "+", Sequence(items=items, kind=kind), Sequence(items=others):
            return Sequence([*items, *others], kind)
        case ("*", Sequence(items=items, kind=kind), int(times)) | (
            "*",
            int(times),
            Sequence(items=items, kind=kind),
        ):
            return Sequence(items * times, kind) if len(items) * times <= _MOST_ITEMS else None
    return None


def prefix(coerce: Operands, operator: str, operand: Entry, start: int) -> Any:
    value, span = operand.value, (start, operand[2])
    if operator == "+":
        if _is_value(coerce, value):
            raise Rejected("unary + is not supported for tensors", start, operand[2])
        if not isinstance(value, int | float | CapturedName):
            raise Rejected("unary + is not supported for scalars", start, operand[2], certain=True)
        return value
    if operator == "not":
        return Negation(operand)
    if operator == "-" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return KnownInteger(-value) if isinstance(value, KnownInteger) else -value
    if _is_value(coerce, value):
        return relax(coerce, operator, (operand,), span)
    if _is_open(coerce, value) and not coerce.scope.in_prim_func():
        return UnresolvedOperation(operator, (operand,))
    return prim(coerce, operator, (operand,), span)


def _is_value(coerce: Operands, value: Any) -> bool:
    return (
        isinstance(value, ast.Expr)
        and not isinstance(value, ast.PrimValue)
        and not _is_open(coerce, value)
    )


def _is_tensor(coerce: Operands, value: Any) -> bool:
    """Whether a value is certainly no scalar."""
    return _is_value(coerce, value) and not coerce.scope.may_be_scalar(value)


def is_scalar(coerce: Operands, value: Any) -> bool:
    """Whether all operands of an operation are scalars, so the result is one, too."""
    stack = [value]
    while stack:
        match stack.pop():
            case UnresolvedOperation(operands=operands):
                stack.extend(entry.value for entry in operands)
            case Negation(operand=operand):
                stack.append(operand.value)
            case ast.Var() as var if coerce.scope.scalar_type(var) is not None:
                pass
            case int() | float() | tir.PrimExpr() | ast.PrimValue():
                pass
            case _:
                return False
    return True


def _is_open(coerce: Operands, value: Any) -> bool:
    """Whether the place decides: a scalar parameter is a dimension too,
    a dimension may be called like a function.
    """
    if isinstance(value, ast.Var):
        return coerce.scope.scalar_type(value) is not None
    return isinstance(value, (Name, UnresolvedOperation, Negation, ast.GlobalVar))


def prim(coerce: Scalars, operator: str, operands: tuple[Entry, ...], span: Span) -> tir.PrimExpr:
    """The operator on scalars. Chains are deep on the left, so the left side is processed in a
    loop.
    """
    if len(operands) == 1:
        return _prim_prefix(coerce, operator, operands[0], span)
    left, right = operands
    spine = [(operator, right, span)]
    while isinstance(chain := left.value, UnresolvedOperation) and len(chain.operands) == 2:
        first, right = chain.operands
        operator = chain.operator
        spine.append((operator, right, left.span))
        left = first
    literal = INT32 if coerce.scope.in_prim_func() else INT64
    value, other = _agree(coerce, left, right, literal, operator)
    # The data type is carried along: looking it up would walk the whole chain again for each link.
    data_type = _type(value, literal)
    for at, (name, right, where) in enumerate(reversed(spine)):
        if at:
            other = coerce.prim(right, beside(right.value, data_type, literal, name))
            _follow(coerce, right, other, value)
        if name in ("/", "**"):
            _unambiguous(coerce, name, (value, other), where)
        value = _prim_binary(name, value, other, where, data_type)
        if BY_SYMBOL[name].strength <= COMPARISON:
            data_type = literal
    return value


_LITERALS = (tir.IntImm, tir.FloatImm)
_TYPED = (tir.Var, tir.Cast, tir.BufferLoad, *_LITERALS)


def _unambiguous(
    coerce: Scalars, operator: str, operands: tuple[tir.PrimExpr, tir.PrimExpr], span: Span
) -> None:
    """Refuse `/` on integers and `**`, which no TVM reads, but for what Python computes."""
    from rlx.grammar.read.literals import number

    if all(isinstance(each, _LITERALS) for each in operands):
        return
    whole = all(isinstance(each, _TYPED) and tir.type_of(each).is_integer for each in operands)
    if not (whole or operator == "**") or number(coerce.text_of(span)) is not None:
        return
    if operator == "**":
        raise Rejected("`**` is not supported for scalars: write T.pow", *span, certain=True)
    words = "`/` on integers is ambiguous: write `//` or T.truncdiv"
    raise Rejected(words, *span, certain=True)


def _agree(
    coerce: Scalars, left: Entry, right: Entry, literal: DataType, operator: str
) -> tuple[tir.PrimExpr, tir.PrimExpr]:
    """Both operands; the data type of a literal depends on the other one."""
    if isinstance(left.value, (int, float)):
        b = coerce.prim(right, literal)
        a = coerce.prim(left, beside(left.value, _type(b, literal), literal, operator))
        _follow(coerce, left, a, b)
        return a, b
    a = coerce.prim(left, literal)
    b = coerce.prim(right, beside(right.value, _type(a, literal), literal, operator))
    _follow(coerce, right, b, a)
    return a, b


def _follow(coerce: Scalars, entry: Entry, made: tir.PrimExpr, other: tir.PrimExpr) -> None:
    """A literal in the head of a PrimFunc has the type that its body gives to what is beside it."""
    if coerce.scope.in_head and isinstance(entry.value, int) and isinstance(made, tir.IntImm):
        for var in tir.free_vars(other):
            coerce.scope.literals.setdefault(var, []).append(made)


_AS_THE_OTHER = frozenset(["<<", ">>", "&", "|", "^"])
"""Operators whose literals take the type of the other operand, even if it is narrower."""


def beside(value: object, other: DataType, literal: DataType, operator: str = "+") -> DataType:
    """The data type of a literal operand: as in TVM, its own type of 32 bits, unless the other
    operand is wider.

    For other operands, the result is used for the literals inside them.
    """
    if literal != INT32 or operator in _AS_THE_OTHER or isinstance(value, bool) or other.lanes > 1:
        return other
    if isinstance(value, float):
        return other if other.is_float and other.bits >= 32 else FLOAT32
    if isinstance(value, int):
        return other if other.is_float or other.bits >= 32 else literal
    return other


def _type(value: tir.PrimExpr, literal: DataType) -> DataType:
    found = tir.type_of(value) if not isinstance(value, tir.Call) or value.dtype else literal
    return found if found.is_integer or found.is_float else literal


def _prim_binary(
    operator: str, a: tir.PrimExpr, b: tir.PrimExpr, span: Span, data_type: DataType
) -> tir.PrimExpr:
    if operator == "/":
        called = isinstance(a, tir.Call) and tir.type_of(a).is_float
        if called or data_type.is_float or tir.type_of(b).is_float:
            return tir.Div(a, b, span)
        return tir.TruncDiv(a, b, span)
    found = BY_SYMBOL.get(operator)
    if found is None:
        raise Rejected(f"the operator {operator} is not supported for scalars", *span)
    if found.node is not None:
        return found.node(a, b, span)
    kind = BOOL if tir.type_of(a) == BOOL == tir.type_of(b) else data_type
    return tir.Call(found.name, (a, b), kind, {}, span)


def _prim_prefix(coerce: Scalars, operator: str, operand: Entry, span: Span) -> tir.PrimExpr:
    literal = INT32 if coerce.scope.in_prim_func() else INT64
    value = coerce.prim(operand, literal)
    if operator == "-":
        if tir.type_of(value).code in ("uint", "bool"):
            words = f"unary minus is not supported for a value of type {tir.type_of(value)}"
            raise Rejected(words, *span, certain=True)
        return tir.negated(value, _type(value, literal), span)
    if operator == "not":
        return tir.Not(value, span)
    return tir.Call("bitwise_not", (value,), tir.type_of(value), {}, span)


def as_prim(coerce: Scalars, call: ast.Call) -> tir.PrimExpr | None:
    """Arithmetic on variables that only their position shows to be scalars; None if they are not
    scalars.
    """
    symbol = _SYMBOLS.get(call.op)
    if symbol is None or call.attrs or len(call.args) != 2 or len(call.arg_spans) != 2:
        return None
    operands = [Entry(arg, *span) for arg, span in zip(call.args, call.arg_spans, strict=True)]
    if not all(isinstance(arg, ast.Var | ast.PrimValue | ast.Call) for arg in call.args):
        return None
    return prim(coerce, symbol, tuple(operands), call.span or call.arg_spans[0])


def relax(coerce: Operands, operator: str, operands: tuple[Entry, ...], span: Span) -> ast.Expr:
    """The operator on tensors, which is a call."""
    spine: list[tuple[str, tuple[Entry, ...], Span]] = [(operator, operands, span)]
    while isinstance(spine[-1][1][0][0], UnresolvedOperation):
        entry = spine[-1][1][0]
        spine.append((entry.value.operator, entry.value.operands, entry.span))
    value: ast.Expr | None = None
    for name, parts, where in reversed(spine):
        front, *others = parts
        table = RELAX if others else RELAX_PREFIX
        certain = any(_is_tensor(coerce, part.value) for part in parts)
        if name in NEVER and certain:
            raise _on_tensors(coerce, name, table[name], parts, where)
        if certain:
            _no_numbers(coerce, parts)
        first = coerce.expr(front) if value is None else value
        rest = tuple(coerce.expr(part) for part in others)
        spans = tuple(part.span for part in parts)
        typed: dict[int | str, str] = {
            at: "typed"
            for at, part in enumerate(parts)
            if isinstance(part.value, tir.IntImm | tir.FloatImm)
        }
        op, args = ast.op(table[name]), (first, *rest)
        value = ast.Call(op, args, arg_spans=spans, span=where, spelled=typed)
    assert value is not None
    return value


def _on_tensors(
    coerce: Operands, operator: str, name: str, parts: tuple[Entry, ...], where: Span
) -> Rejected:
    """The refusal of an operator that is only a function on tensors."""
    shown = ", ".join(coerce.text_of(part.span) for part in parts)
    help = f"write R.{name.removeprefix('relax.')}({shown})" if len(shown) < 60 else None
    return Rejected(f"the operator `{operator}` is not supported for tensors", *where, help)


def _no_numbers(coerce: Operands, parts: tuple[Entry, ...]) -> None:
    """Refuse a bare number beside a tensor."""
    for at, (value, start, end) in enumerate(parts):
        if isinstance(value, (bool, int, float)):
            beside = parts[1 - at][0]
            if isinstance(beside, ast.ErrorExpr) or beside in coerce.scope.lost:
                raise Rejected("", start, end)  # nobody knows whether it is a tensor
            info = beside.struct_info_annotation if isinstance(beside, ast.Var) else None
            shown = f"{value}"
            if isinstance(info, ast.TensorStructInfo) and not info.dtype.is_void:
                shown = f'{value}, "{info.dtype}"'
            words = "a number in tensor arithmetic must be written as a constant"
            raise Rejected(words, start, end, f"write R.const({shown})")
