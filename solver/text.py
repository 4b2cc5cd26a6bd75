"""The text form of questions: read and written, never evaluated.

Operators ``+ - * // % == != < <= > >= and or not``, calls ``min max select if_then_else tdiv tmod``, and casts called
by the name of an integer type, as in ``int32(n)``; a comparison chain ``a < b < c`` means ``a < b and b < c``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL, dtype
from rlx.grammar.tir import PrimExpr

NESTING_LIMIT = 1000
"""How deep parentheses, calls, ``not`` and signs may be nested."""

_DIGIT_LIMIT = 4000
_CASTS = frozenset(
    ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
)

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d[\d_]*)(?![\w.])|(?P<word>[^\W\d]\w*)|(?P<symbol>//|[=!<>]=|[-+*%<>(),]))"
)
_COMPARISONS: dict[str, type[tir.Binary]] = {
    "==": tir.EQ,
    "!=": tir.NE,
    "<": tir.LT,
    "<=": tir.LE,
    ">": tir.GT,
    ">=": tir.GE,
}
_NOT, _COMPARISON, _SIGN = 3, 4, 7
_BINARY: dict[str, tuple[int, type[tir.Binary]]] = {
    "or": (1, tir.Or),
    "and": (2, tir.And),
    **{symbol: (_COMPARISON, kind) for symbol, kind in _COMPARISONS.items()},
    "+": (5, tir.Add),
    "-": (5, tir.Sub),
    "*": (6, tir.Mul),
    "//": (6, tir.FloorDiv),
    "%": (6, tir.FloorMod),
}
_CALLS: dict[str, type[tir.Binary]] = {
    "min": tir.Min,
    "max": tir.Max,
    "tdiv": tir.TruncDiv,
    "tmod": tir.TruncMod,
}


def parse(text: str, variables: dict[str, tir.Var]) -> PrimExpr:
    """Read an expression; new variables are added to ``variables``.

    Raises
    ------
    ValueError
        If the text is not an expression of the language, or is nested too deeply.
    """
    return _Reader(text, variables).whole()


class _Level:
    """An expression that has been begun, and what it is needed for: an opening bracket, a sign, ``not``, a call."""

    __slots__ = ("arguments", "name", "operands", "strength", "waiting")

    def __init__(self, name: str, strength: int = 0) -> None:
        self.name = name
        self.strength = strength
        self.operands: list[PrimExpr] = []
        self.waiting: list[tuple[int, str]] = []
        self.arguments: list[PrimExpr] = []


class _Reader:
    """Operator precedence without recursion: what has been begun is a list."""

    def __init__(self, text: str, variables: dict[str, tir.Var]) -> None:
        self._text = text
        self._variables = variables
        self._place = 0
        self._levels = [_Level("")]
        self._kind: str | None = None
        self._token = ""
        self._advance()

    def whole(self) -> PrimExpr:
        """The expression up to the end of the text."""
        while True:
            operand = self._operand()
            while operand is not None:
                level = self._levels[-1]
                level.operands.append(operand)
                if self._continued(level):
                    break
                _reduce(level.operands, level.waiting, 0)
                if len(self._levels) == 1:
                    return self._last(level)
                operand = self._ended(level)

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            rest = self._text[self._place :].strip()
            if rest:
                self._token = rest[:20]
                raise self._error("a number, a name or an operator")
            self._kind, self._token = None, ""
            return
        self._place = match.end()
        self._kind = match.lastgroup
        self._token = match[match.lastgroup or 0]

    def _error(self, expected: str) -> ValueError:
        found = repr(self._token) if self._token else "the end"
        shown = self._text if len(self._text) <= 60 else self._text[:57] + "..."
        return ValueError(f"expected {expected}, found {found} in {shown!r}")

    def _expect(self, symbol: str) -> None:
        if self._token != symbol:
            raise self._error(repr(symbol))
        self._advance()

    def _begin(self, name: str, strength: int = 0) -> None:
        if len(self._levels) > NESTING_LIMIT:
            raise ValueError(f"the expression is nested more than {NESTING_LIMIT} levels deep")
        self._levels.append(_Level(name, strength))

    def _continued(self, level: _Level) -> bool:
        """Whether an operator follows that belongs to the innermost expression."""
        found = _BINARY.get(self._token)
        if found is None or found[0] < level.strength:
            return False
        own = found[0]
        # Comparisons wait for the rest of their chain.
        _reduce(level.operands, level.waiting, own + (own == _COMPARISON))
        level.waiting.append((own, self._token))
        self._advance()
        return True

    def _last(self, level: _Level) -> PrimExpr:
        if self._token:
            raise self._error("an operator or the end")
        return level.operands[0]

    def _ended(self, level: _Level) -> PrimExpr | None:
        """The innermost expression as an operand of the one around it; None where a call's next argument follows."""
        value = level.operands[0]
        match level.name:
            case "-":
                value = _negative(value)
            case "not":
                value = tir.Not(value)
            case "(":
                self._expect(")")
            case "+":
                pass
            case name:
                level.arguments.append(value)
                if self._token == ",":
                    self._advance()
                    level.operands.clear()
                    return None
                self._expect(")")
                value = _call(name, level.arguments)
        self._levels.pop()
        return value

    def _operand(self) -> PrimExpr | None:
        """A number or a variable; None where something that contains operands has begun."""
        kind, token = self._kind, self._token
        if kind == "number":
            return self._number(token)
        if kind == "word":
            return self._word(token)
        if token not in ("(", "-", "+"):
            raise self._error("a number, a name or an opening parenthesis")
        self._advance()
        self._begin(token, 0 if token == "(" else _SIGN)
        return None

    def _number(self, token: str) -> PrimExpr:
        if len(token) > _DIGIT_LIMIT:
            raise ValueError(f"a number has more than {_DIGIT_LIMIT} digits")
        self._advance()
        return tir.IntImm(int(token))

    def _word(self, name: str) -> PrimExpr | None:
        if name in ("and", "or"):
            raise self._error("an operand")
        self._advance()
        match name:
            case "not":
                self._begin("not", _NOT)
                return None
            case "True" | "False":
                return tir.IntImm(int(name == "True"), BOOL)
        if self._token == "(":
            self._advance()
            self._begin(name)
            return None
        variable = self._variables.get(name)
        if variable is None:
            variable = self._variables[name] = tir.Var(name)
        return variable


def _reduce(operands: list[PrimExpr], waiting: list[tuple[int, str]], level: int) -> None:
    """Apply the operators that bind at least as strongly as the one that follows."""
    while waiting and waiting[-1][0] >= level:
        own = waiting[-1][0]
        if own == _COMPARISON:
            _compare(operands, waiting)
            continue
        kind = _BINARY[waiting.pop()[1]][1]
        right = operands.pop()
        operands[-1] = kind(operands[-1], right)


def _compare(operands: list[PrimExpr], waiting: list[tuple[int, str]]) -> None:
    """A chain of comparisons."""
    count = 0
    while count < len(waiting) and waiting[-1 - count][0] == _COMPARISON:
        count += 1
    words = [word for _, word in waiting[-count:]]
    values = operands[-count - 1 :]
    del waiting[-count:], operands[-count - 1 :]
    links: list[PrimExpr] = [
        _COMPARISONS[word](values[i], values[i + 1]) for i, word in enumerate(words)
    ]
    operands.append(_joined(tir.And, links))


def _negative(operand: PrimExpr) -> PrimExpr:
    if isinstance(operand, tir.IntImm) and operand.dtype != BOOL:
        return tir.IntImm(-operand.value)
    return tir.Sub(tir.IntImm(0), operand)


def _joined(kind: type[tir.Binary], operands: list[PrimExpr]) -> PrimExpr:
    result = operands[0]
    for operand in operands[1:]:
        result = kind(result, operand)
    return result


def _call(name: str, operands: list[PrimExpr]) -> PrimExpr:
    if name == "select" and len(operands) == 3:
        return tir.Select(operands[0], operands[1], operands[2])
    if name == "if_then_else" and len(operands) == 3:
        return tir.Call(name, tuple(operands))
    if name in ("min", "max") and len(operands) >= 2:
        return _joined(_CALLS[name], operands)
    if name in _CALLS and len(operands) == 2:
        return _CALLS[name](operands[0], operands[1])
    if name in _CASTS and len(operands) == 1:
        return tir.Cast(dtype(name), operands[0])
    raise ValueError(
        f"{name} with {len(operands)} arguments is not known; min, max, select, if_then_else, "
        "tdiv, tmod and casts like int32 are"
    )


_SHOWN: dict[type[PrimExpr], tuple[str, int]] = {
    tir.Or: ("or", 1),
    tir.And: ("and", 2),
    tir.EQ: ("==", 4),
    tir.NE: ("!=", 4),
    tir.LT: ("<", 4),
    tir.LE: ("<=", 4),
    tir.GT: (">", 4),
    tir.GE: (">=", 4),
    tir.Add: ("+", 5),
    tir.Sub: ("-", 5),
    tir.Mul: ("*", 6),
    tir.FloorDiv: ("//", 6),
    tir.FloorMod: ("%", 6),
}
_NAMES: Mapping[type[PrimExpr], str] = {
    tir.Min: "min",
    tir.Max: "max",
    tir.TruncDiv: "tdiv",
    tir.TruncMod: "tmod",
    tir.Select: "select",
}
_ATOMIC = 9


def show(expr: PrimExpr) -> str:
    """The text of an expression, as :func:`parse` reads it (casts as ``int32(x)``)."""
    written: list[str] = []
    stack: list[_Piece] = [(expr, 0)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            written.append(piece)
            continue
        node, level = piece
        pieces, own = _shown(node)
        if own < level:
            pieces = ["(", *pieces, ")"]
        stack.extend(reversed(pieces))
    return "".join(written)


_Piece = str | tuple[PrimExpr, int]
"""A piece of text, or an operand and how strongly what stands around it binds."""


def _shown(node: PrimExpr) -> tuple[list[_Piece], int]:
    """The pieces of a node, and how strongly its operator binds."""
    symbol = _SHOWN.get(type(node))
    if symbol is not None and isinstance(node, tir.Binary):
        word, level = symbol
        if isinstance(node, tir.Sub) and isinstance(node.a, tir.IntImm) and node.a.value == 0:
            return ["-", (node.b, 7)], 7
        strict = level + 1 if isinstance(node, tir.Comparison) else level
        return [(node.a, strict), f" {word} ", (node.b, level + 1)], level
    match node:
        case tir.Var(name=name):
            return [name], _ATOMIC
        case tir.IntImm(value=value):
            if node.dtype == BOOL:
                return [str(bool(value))], _ATOMIC
            return [str(value)], _ATOMIC if value >= 0 else 7
        case tir.Not(a=a):
            return ["not ", (a, 3)], 3
        case tir.Cast(dtype=to):
            return _called(str(to), node), _ATOMIC
        case tir.Call(op=op):
            return _called(op, node), _ATOMIC
    return _called(_NAMES.get(type(node), type(node).__name__), node), _ATOMIC


def _called(name: str, node: PrimExpr) -> list[_Piece]:
    pieces: list[_Piece] = [name, "("]
    for place, child in enumerate(tir.children(node)):
        pieces += [", ", (child, 0)] if place else [(child, 0)]
    return [*pieces, ")"]
