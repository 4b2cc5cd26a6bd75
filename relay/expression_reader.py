"""Expressions of Relay, and the blocks that bind nodes and variables."""

from __future__ import annotations

import re

from rlx.grammar.nodes.node import Span, replace
from rlx.relay.cursor import SCOPES, Abandoned
from rlx.relay.lexer import RelayToken
from rlx.relay.literal_reader import LiteralReader
from rlx.relay.names_in_scope import Bindings, NamesInScope, report_unbound
from rlx.relay.nodes import (
    RelayCall,
    RelayConstant,
    RelayExpr,
    RelayFunction,
    RelayGlobalVar,
    RelayIf,
    RelayLet,
    RelayOp,
    RelayProjection,
    RelayTuple,
    RelayVar,
)
from rlx.spec.registry import rule

_ENDS = ("}", ")", "END", ",", "]")


_LEVELS: tuple[dict[str, str], ...] = (
    {"==": "equal", "!=": "not_equal"},
    {"<": "less", ">": "greater", "<=": "less_equal", ">=": "greater_equal"},
    {"+": "add", "-": "subtract"},
    {"*": "multiply", "/": "divide"},
)
INFIX = {
    sign: (strength, operator)
    for strength, level in enumerate(_LEVELS)
    for sign, operator in level.items()
}
"""The symbols between operands: how strongly they bind, and their operators."""

REFUSED = {
    "match": ("RL-refused-adt", "match: algebraic data types are not supported"),
    "ref": ("RL-refused-ref", "ref: references are not supported"),
    "Ref": ("RL-refused-ref", "Ref: references are not supported"),
    "ref_read": ("RL-refused-ref", "ref_read: references are not supported"),
    "ref_write": ("RL-refused-ref", "ref_write: references are not supported"),
    "gradient": ("RL-refused-gradient", "gradient: gradients are not supported"),
    "first_order_gradient": (
        "RL-refused-gradient",
        "first_order_gradient: gradients are not supported",
    ),
}
"""Names that are rejected: the code, and the words."""

_LAST_SIGN = re.compile(r"(.*?)((?:\.\d+)*)([-/])([^-/]*)")


class ExpressionReader(LiteralReader):
    """Reads expressions and blocks.

    Attributes
    ----------
    names
        What names mean at the current place.
    globals
        The names of functions that were mentioned, with the places.
    openings
        How many branches, functions and tuples were read.
    """

    names: NamesInScope
    later: Bindings
    statement = ""
    openings = 0

    def __init__(self, tokens: list[RelayToken]) -> None:
        super().__init__(tokens)
        self.globals: dict[str, RelayGlobalVar] = {}
        self.mentions: dict[str, Span] = {}
        self.names = NamesInScope()
        self.later = Bindings(tokens)

    # ------------------------------------------------------------ blocks

    def block(self) -> RelayExpr:
        """``{ … }``"""
        self.enter()
        self.expect("{")
        self.names.frames.append({})
        found = self.statements()
        self.names.leave()
        self.expect("}", "the end of the block: '}'")
        self.leave()
        return found

    def statements(self, closing: str = "}") -> RelayExpr:
        """Bindings and the expression that they lead to; what can't be read is passed over."""
        lets: list[tuple[RelayVar, RelayExpr, int]] = []
        result: RelayExpr | None = None
        while True:
            token, first = self.token, self.at
            try:
                if self.sees(*_ENDS) or self._at_definition():
                    break
                if result is not None:
                    self.unexpected("the end of the block")
                elif self.is_word("let"):
                    lets.append(self._let())
                elif self._at_node():
                    self._node()
                elif not self.accept(";"):
                    result = self.expression()
            except Abandoned:
                result = result or RelayVar("_", None, token.span)
                if self._resume(first, closing):
                    result = None
        if result is None:
            if not lets or not self.diagnostics:
                self.unexpected("an expression: the value of the block")
            result = RelayVar("_")
        return self._nested(lets, result)

    def _nested(self, lets: list[tuple[RelayVar, RelayExpr, int]], result: RelayExpr) -> RelayExpr:
        """The lets around the expression that they lead to."""
        end = self.tokens[max(self.at - 1, 0)].end
        for var, value, start in reversed(lets):
            result = RelayLet(var, value, result, (start, end))
        return result

    def _at_definition(self) -> bool:
        """Whether a definition begins, which ends every block."""
        return self.is_word("def") and self.token.fresh_line

    def _resume(self, first: int, closing: str) -> bool:
        """Pass over the rest of the statement that began at a token; whether another one follows in
        the block.
        """
        depth = sum(token.nesting for token in self.tokens[first : self.at])
        while True:
            token = self.token
            if self.sees("END") or self._at_definition():
                return False
            if depth <= 0:
                if self.sees("}", closing):
                    return False
                begins = token.fresh_line and (self._at_node() or self.is_word("let", "if"))
                if self.accept(";") or begins:
                    return True
            depth += token.nesting
            self.take()

    def _at_node(self) -> bool:
        """Whether a node or a variable follows that is bound."""
        return self.sees("GRAPH", "LOCAL") and self.peek().kind == "="

    def _node(self) -> None:
        """``%1 = …``: a name for a node, which is no variable."""
        name = self.take()
        before, self.statement = self.statement, name.text
        span = name.span
        first = self.names.here(name.text)
        if first is not None:
            self.error(f"{name.text} is bound twice", span, None, first, code="RL-name-once")
        self.take()
        try:
            value = self.expression()
        except Abandoned:
            self.names.bind(name.text, RelayVar("_", None, span), span)
            raise
        finally:
            self.statement = before
        self.names.bind(name.text, value, span)
        self._end_statement()

    def _end_statement(self) -> None:
        """``;``, which may be left out at the end of a line."""
        if not (self.accept(";") or self.token.fresh_line or self.sees("}")):
            self.unexpected("';' after the binding")

    def _let(self) -> tuple[RelayVar, RelayExpr, int]:
        """``let %x: T = …;``"""
        start = self.take().start
        name = self.expect("LOCAL", "a variable such as %x")
        span = name.span
        before, self.statement = self.statement, name.text
        kind = self.type() if self.accept(":") else None
        var = RelayVar(name.text[1:], kind, span)
        self.expect("=")
        recursive = self.is_word("fn")
        if recursive:
            self.names.bind(name.text, var, span)
        try:
            value = self.expression()
        finally:
            self.statement = before
            self.names.bind(name.text, var, span)
        self._end_statement()
        return var, value, start

    # ------------------------------------------------------------ expressions

    def expression(self, least: int = 0) -> RelayExpr:
        """An expression whose symbols bind at least so strongly."""
        self.enter()
        left = self._with_suffixes()
        while True:
            token = self.token
            strength, operator = INFIX.get(token.kind, (-1, ""))
            if strength < 0 or strength < least:
                break
            self.take()
            right = self.expression(strength + 1)
            op = RelayOp(operator, token.span)
            left = RelayCall(op, (left, right), {}, _around(left, right))
        if self.sees(":="):
            self._refuse("RL-refused-ref", ":=: references are not supported")
        self.leave()
        return left

    def _with_suffixes(self) -> RelayExpr:
        """An operand with calls and fields behind it."""
        start = self.token.start
        found = self._operand()
        while True:
            token = self.token
            if token.fresh_line or not self.sees("(", "FIELD"):
                return found
            self.take()
            if token.text == "(":
                found = self._call(found, start)
            else:
                found = self._field(found, token.text, (start, token.end))

    def _field(self, value: RelayExpr, text: str, span: Span) -> RelayExpr:
        if len(text) > 10:
            self.error(f"there is no field {text[1:11]}…", span)
            return value
        return RelayProjection(value, int(text[1:]), span)

    def _operand(self) -> RelayExpr:
        token = self.token
        span = token.span
        match token.kind:
            case "GRAPH" | "LOCAL":
                return self._named()
            case "GLOBAL":
                self.take()
                self.mentions.setdefault(token.text, span)
                return self.global_var(token.text[1:])
            case "NUMBER":
                return RelayConstant(self.number(self.take()), span)
            case "-":
                return self._negated()
            case "(":
                return self._bracket()
            case "{":
                return self.block()
            case "NAME":
                return self._word()
        self.unexpected("an expression")
        raise AssertionError

    def global_var(self, name: str) -> RelayGlobalVar:
        """The one object for the name of a function."""
        if name not in self.globals:
            self.globals[name] = RelayGlobalVar(name)
        return self.globals[name]

    @rule("RL-name", "Relay text")
    def _named(self) -> RelayExpr:
        """A variable or a node; ``%p.0`` is a field of ``%p`` where ``%p.0`` is no name."""
        token = self._narrowed(self.take())
        found = self.names.find(token.text)
        if found is not None:
            return found
        name, fields = token.text, []
        while name.rpartition(".")[2].isdigit():
            name, _, field = name.rpartition(".")
            fields.append(field)
            found = self.names.find(name)
            if found is not None:
                for each in reversed(fields):
                    found = self._field(found, "." + each, token.span)
                return found
        if fields:
            token = token._replace(text=name, end=token.start + len(name))
        return report_unbound(self, self.names, token, self.statement, self.later)

    def _narrowed(self, token: RelayToken) -> RelayToken:
        """``%a/b`` and ``%a-b`` are names of a framework where they are bound, else ``%a`` divided
        by what follows, or less it: the parts of the token take its place.
        """
        joined = _LAST_SIGN.fullmatch(token.text)
        if joined is None or self.names.find(token.text) is not None:
            return token
        name, fields, sign, rest = joined.groups()
        if self.names.find(name) is None and self.names.find(name + fields) is None:
            return token
        name += fields
        middle = token.start + len(name)
        parts = [
            token._replace(text=name, end=middle),
            token._replace(kind=sign, text=sign, start=middle, end=middle + 1, fresh_line=False),
            token._replace(kind="NAME", text=rest, start=middle + 1, fresh_line=False),
        ]
        self.tokens[self.at - 1 : self.at] = parts
        return parts[0]

    def _negated(self) -> RelayExpr:
        minus = self.take()
        token = self.token
        if self.sees("NUMBER"):
            return RelayConstant(self.number(self.take(), "-"), (minus.start, token.end))
        special = self.special(token, "-") if self.sees("NAME") else None
        if special is not None and special.dtype.is_float:
            self.take()
            return RelayConstant(special, (minus.start, token.end))
        self.enter()
        value = self._with_suffixes()
        self.leave()
        op = RelayOp("negative", minus.span)
        return RelayCall(op, (value,), {}, (minus.start, self.tokens[self.at - 1].end))

    def _bracket(self) -> RelayExpr:
        """A tuple, or an expression in brackets."""
        start = self.take().start
        if self.is_word("let"):
            self.names.frames.append({})
            inner = self.statements(")")
            self.names.leave()
            self.expect(")", "')'")
            return inner
        fields = [self.expression() for _ in self.items(")")]
        last = self.tokens[self.at - 1]
        end = self.expect(")", "',' or ')'").end
        if len(fields) == 1 and last.kind != ",":
            return fields[0]
        self.openings += 1
        return RelayTuple(tuple(fields), (start, end))

    def _word(self) -> RelayExpr:
        """Read an expression that begins with a word: a function, an if, a literal, an operator."""
        token = self.token
        span = token.span
        if self.is_word("fn"):
            return self.function()
        if self.is_word("if"):
            return self._if()
        if self.is_word("meta") and self.peek().kind == "[":
            return self.stored()
        if token.text in REFUSED:
            self._refuse(*REFUSED[token.text])
        literal = self.special(token)
        if literal is not None:
            self.take()
            return RelayConstant(literal, span)
        if self.is_word("let", "def", "type", "else", "extern", "import"):
            self.unexpected("an expression")
        if token.text[0].isupper():
            self._refuse("RL-refused-adt", f"{token.text}: algebraic data types are not supported")
        self.take()
        if not self.sees("(") or self.token.fresh_line:
            self.error(
                f"'{token.text}' stands alone: expected a call or a variable",
                span,
                f"variables begin with %: %{token.text}",
            )
        return RelayOp(token.text, span)

    @rule("RL-refused", "Relay text", refuses=True)
    def _refuse(self, code: str, message: str) -> None:
        """Refuse what this tool does not take, and pass over it.

        Raises
        ------
        Abandoned
            Always.
        """
        token = self.take()
        self.error(message, token.span, code=code)
        raise Abandoned

    def _if(self) -> RelayExpr:
        self.enter(SCOPES)
        start = self.take().start
        self.expect("(", "'(' and the condition")
        cond = self.expression()
        self.expect(")")
        yes = self.block()
        if not self.is_word("else"):
            self.unexpected("'else': an if of Relay has two branches")
        self.take()
        no = self._if() if self.is_word("if") else self.block()
        self.leave(SCOPES)
        self.openings += 1
        return RelayIf(cond, yes, no, (start, self.tokens[self.at - 1].end))

    # ------------------------------------------------------------ calls and functions

    def _call(self, op: RelayExpr, start: int) -> RelayExpr:
        """The operands and attributes behind a bracket."""
        args: list[RelayExpr] = []
        attrs: dict[str, object] = {}
        for _ in self.items(")"):
            if self._at_keyword():
                self._keyword(attrs)
            elif attrs:
                self.unexpected("an attribute: operands come before attributes")
            else:
                args.append(self.expression())
        end = self.expect(")", "',' or ')'").end
        return RelayCall(op, tuple(args), attrs, (start, end))

    def _at_keyword(self) -> bool:
        return self.sees("NAME") and self.peek().kind == "="

    def _keyword(self, attrs: dict[str, object]) -> None:
        """``padding=[1, 1]``"""
        name = self.take()
        self.take()
        if name.text in attrs:
            span = name.span
            self.error(f"the attribute {name.text} is given twice", span)
        attrs[name.text] = self.attribute()

    def function(self) -> RelayFunction:
        """``fn (%x: T) -> U { … }``"""
        self.enter(SCOPES)
        start = self.take().start
        if self.sees("["):
            self._refuse(
                "RL-refused-polymorphic", "type parameters: polymorphic functions are not supported"
            )
        made = self.signature(start)
        self.leave(SCOPES)
        self.openings += 1
        return made

    def signature(self, start: int) -> RelayFunction:
        """Parameters, result and body."""
        self.expect("(", "'(' and the parameters")
        self.names.frames.append({})
        before, self.statement = self.statement, ""
        params: list[RelayVar] = []
        attrs: dict[str, object] = {}
        for _ in self.items(")"):
            if self._at_keyword():
                self._keyword(attrs)
            else:
                params.append(self.parameter())
        self.expect(")", "',' or ')'")
        ret = self.type() if self.accept("->") else None
        body = self.block()
        self.names.leave()
        self.statement = before
        made = RelayFunction(tuple(params), body, ret, attrs)
        return replace(made, span=(start, self.tokens[self.at - 1].end))

    def parameter(self) -> RelayVar:
        """``%x: T``; a device between both, ``{virtual_device=…}``, is passed over."""
        token = self.expect("LOCAL", "a parameter such as %x: Tensor[(2, 3), float32]")
        span = token.span
        first = self.names.here(token.text)
        if first is not None:
            words = f"two parameters have the name {token.text}"
            self.error(words, span, None, first, code="RL-name-once")
        if self.accept("{"):
            self._keyword({})
            self.expect("}")
        kind = self.type() if self.accept(":") else None
        var = RelayVar(token.text[1:], kind, span)
        self.names.bind(token.text, var, span)
        return var


def _around(left: RelayExpr, right: RelayExpr) -> Span | None:
    a, b = getattr(left, "span", None), getattr(right, "span", None)
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))
