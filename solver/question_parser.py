"""The parser of questions, which never evaluates code.

Operators bind as in Python: ``or``, ``and``, ``not``, comparisons (a chain ``a < b < c`` means ``a
< b and b < c``), ``|``, ``^``, ``&``, ``<<`` and ``>>``, ``+`` and ``-``, ``* // %``, signs and
``~``; ``&&``, ``||`` and ``!`` are parsed as in C. :mod:`rlx.solver.calls` has the calls, with or
without the prefix ``T.``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64
from rlx.grammar.nodes.prim_operators import NOT, OPERATORS, SIGN, PrimOperator
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.read.precedence import STRENGTHS, Chain
from rlx.solver import calls
from rlx.solver.expression_text import show
from rlx.solver.prim_exprs import conjunction, is_boolean
from rlx.solver.usage_errors import DIGITS, too_long

__all__ = ["NESTING_LIMIT", "parse", "show"]

NESTING_LIMIT = 1000
"""The maximum nesting depth of parentheses, calls, ``not`` and signs."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+(?:_[0-9]+)*)(?![\w.])"
    r"|(?P<word>[^\W\d]\w*(?:\.[^\W\d]\w*)*)"
    r"|(?P<string>\"[^\"]*\"|'[^']*')|(?P<symbol>//|<<|>>|&&|\|\||[=!<>]=|[-+*%<>(),&|^~!]))"
)
_SAY_INSTEAD = {
    "=": "write == for equality",
    "=>": "write >= for at least; give the left side of an implication as an assumption",
    "=<": "write <= for at most",
    "=!": "write != for inequality",
    "is": "write == for equality",
    "if": "write select(c, a, b) or if_then_else(c, a, b)",
    "/": (
        "write // for the quotient rounded down, or truncdiv(a, b) for the one rounded towards zero"
    ),
    "?": "write select(c, a, b) or if_then_else(c, a, b)",
    ".": "the prover supports only integers, not floats",
}
"""Replacements of operators of other languages."""

_SAY_BEFORE = {"*": "write powers as products, such as n * n", ">": "write != for inequality"}
"""The same at the beginning of an operand: the second half of ``**`` and ``<>``."""


def _operation(found: PrimOperator) -> Callable[[PrimExpr, PrimExpr], PrimExpr]:
    node, name = found.node, found.name
    return node or (lambda a, b: tir.Call(name, (a, b), INT64))


_BINARY: dict[str, Callable[[PrimExpr, PrimExpr], PrimExpr]] = {
    symbol: _operation(found)
    for found in OPERATORS
    for symbol in (found.symbol, *found.short)
    if symbol not in ("", "/", "**") and (symbol == found.symbol or not symbol.isidentifier())
}
_BEFORE = {"-": SIGN, "+": SIGN, "~": SIGN, "!": SIGN}
"""Prefix operators and their precedences."""


def parse(text: str, variables: dict[str, tir.Var]) -> PrimExpr:
    """Parse an expression; new variables are added to ``variables``. Raises ValueError if the text
    is not an expression of the language, or is nested too deeply.
    """
    return _QuestionReader(text, variables).whole()


class _Level:
    """An expression that has been begun by an opening bracket or a call."""

    __slots__ = ("arguments", "chain", "name")

    def __init__(self, name: str, reader: _QuestionReader) -> None:
        self.name = name
        self.chain: Chain[PrimExpr] = Chain(reader.binary, reader.prefixed, _compared)
        self.arguments: list[PrimExpr] = []


class _QuestionReader:
    """A reader with a list of the constructs that have begun: nothing recurses."""

    def __init__(self, text: str, variables: dict[str, tir.Var]) -> None:
        self._text = text
        self._variables = variables
        self._place = 0
        self._levels = [_Level("", self)]
        self._depth = 0
        self._kind: str | None = None
        self._token = ""
        self._advance()

    def whole(self) -> PrimExpr:
        """The expression up to the end of the text."""
        while True:
            operand = self._operand()
            while operand is not None:
                level = self._levels[-1]
                level.chain.operand(operand)
                if self._token in _BINARY:
                    level.chain.infix(self._token)
                    self._advance()
                    break
                value = level.chain.finish()
                if len(self._levels) == 1:
                    if self._token:
                        raise self._error("an operator or the end")
                    return value
                operand = self._ended(level, value)

    def binary(self, word: str, left: PrimExpr, right: PrimExpr) -> PrimExpr:
        """An operator on two operands."""
        if STRENGTHS[word] < NOT:
            left, right = self._condition(left, word), self._condition(right, word)
        return _BINARY[word](left, right)

    def prefixed(self, word: str, value: PrimExpr) -> PrimExpr:
        """An operator in front of its operand."""
        self._depth -= 1
        match word:
            case "-":
                if isinstance(value, tir.IntImm) and value.dtype != BOOL:
                    return tir.IntImm(-value.value)
                return tir.Sub(tir.IntImm(0), value)
            case "~":
                return tir.Call("bitwise_not", (value,), INT64)
            case "not" | "!":
                return tir.Not(self._condition(value, "not"))
        return value

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            rest = self._text[self._place :].strip()
            if rest:
                self._token = rest[:20]
                raise self._error("a number, a name or an operator", self._instead(rest))
            self._kind, self._token = None, ""
            return
        self._place = match.end()
        self._kind = match.lastgroup
        self._token = match[match.lastgroup or 0]

    def _error(self, expected: str, advice: str = "") -> ValueError:
        found = repr(self._token) if self._token else "the end"
        shown = self._text if len(self._text) <= 60 else self._text[:57] + "..."
        advice = advice or _SAY_INSTEAD.get(self._token, "")
        advice = f"; {advice}" if advice else ""
        return ValueError(f"expected {expected}, found {found} in {shown!r}{advice}")

    def _instead(self, rest: str) -> str:
        """The replacement for a text that cannot be read, where one is known."""
        number = re.match(r"\d[\d_]*(.?)", rest)
        if number is not None:
            return (
                _SAY_INSTEAD["."]
                if number[1] in (".", "e", "E")
                else "write numbers in decimal, or as 0x1f or 0b11"
            )
        return _SAY_INSTEAD.get(rest[:2]) or _SAY_INSTEAD.get(rest[0], "")

    def _expect(self, symbol: str) -> None:
        if self._token != symbol:
            raise self._error(repr(symbol))
        self._advance()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > NESTING_LIMIT:
            raise ValueError(f"the expression is nested more than {NESTING_LIMIT} levels deep")

    def _begin(self, name: str) -> None:
        self._deeper()
        self._levels.append(_Level(name, self))

    def _front(self, word: str, strength: int) -> None:
        self._deeper()
        self._levels[-1].chain.prefix(word, strength)

    def _ended(self, level: _Level, value: PrimExpr) -> PrimExpr | None:
        """The bracketed value as an operand of the expression around it; None where a call's next
        argument follows.
        """
        if level.name != "(":
            level.arguments.append(value)
            if self._token == ",":
                self._advance()
                level.chain = _Level(level.name, self).chain
                return None
        self._expect(")")
        self._levels.pop()
        self._depth -= 1
        return value if level.name == "(" else self._call(level.name, level.arguments)

    def _call(self, name: str, operands: list[PrimExpr]) -> PrimExpr:
        if name.startswith('"'):
            return calls.cast(name[1:], operands[0])
        if name.lower() in ("and", "or", "all", "any", "not"):
            operands = [self._condition(operand, name) for operand in operands]
        if name.lower() in ("select", "if_then_else"):
            self._condition(operands[0], name)
        return calls.call_of(name, operands)

    def _condition(self, operand: PrimExpr, of: str) -> PrimExpr:
        """An operand that has to be true or false; a variable may be a Boolean one, that is said
        nowhere in a text.
        """
        if is_boolean(operand) or isinstance(operand, tir.Var):
            return operand
        raise ValueError(
            f"{of} takes conditions, found the integer {show(operand):.60}; compare it, as in"
            f" {show(operand):.60} != 0"
        )

    def _operand(self) -> PrimExpr | None:
        """A number or a variable; None where something that contains operands has begun."""
        kind, token = self._kind, self._token
        if kind == "number":
            other = token[:2].lower() in ("0x", "0b")
            if (not other and len(token) > DIGITS) or too_long(
                number := int(token, 0 if other else 10)
            ):
                raise ValueError(f"a number has more than {DIGITS} digits")
            self._advance()
            return tir.IntImm(number)
        if kind == "word":
            return self._word(token)
        if token != "(" and token not in _BEFORE:
            advice = _SAY_BEFORE.get(token, "")
            raise self._error("a number, a name or an opening parenthesis", advice)
        self._advance()
        if token == "(":
            self._begin(token)
        else:
            self._front(token, _BEFORE[token])
        return None

    def _word(self, name: str) -> PrimExpr | None:
        if name in ("and", "or"):
            raise self._error("an operand")
        self._advance()
        match name:
            case "not":
                self._front("not", NOT)
                return None
            case "True" | "False" | "true" | "false":
                return tir.IntImm(int(name.lower() == "true"), BOOL)
        if self._token == "(":
            self._opened(name)
            return None
        if "." in name:
            self._token = name
            raise self._error("the name of a variable")
        variable = self._variables.get(name)
        if variable is None:
            variable = self._variables[name] = tir.Var(name)
        return variable

    def _opened(self, name: str) -> None:
        """A call begins: of what may stand before its name only the modules of TIR count."""
        prefix, _, word = name.rpartition(".")
        if prefix and prefix not in calls.PREFIXES:
            raise ValueError(f"{name} is not known; {calls.KNOWN}")
        self._advance()
        if word.lower() == "cast" and self._kind == "string":
            word = f'"{self._token[1:-1]}'
            self._advance()
            self._expect(",")
        self._begin(word)


def _compared(words: list[str], values: list[PrimExpr]) -> PrimExpr:
    """A chain of comparisons."""
    links = [_BINARY[word](values[i], values[i + 1]) for i, word in enumerate(words)]
    return conjunction(links)
