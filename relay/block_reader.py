"""Blocks of Relay: statements that bind nodes and variables, and the expression they lead to."""

from __future__ import annotations

from abc import abstractmethod

from rlx.grammar.nodes.node import Span
from rlx.relay.attribute_reader import AttributeReader
from rlx.relay.cursor import Abandoned
from rlx.relay.lexer import RelayToken
from rlx.relay.names_in_scope import Bindings, NamesInScope
from rlx.relay.nodes import RelayExpr, RelayGlobalVar, RelayLet, RelayVar

_ENDS = ("}", ")", "END", ",", "]")


class BlockReader(AttributeReader):
    """Reads blocks.

    Attributes
    ----------
    names
        What names mean at the place at hand.
    globals
        The names of functions that were mentioned, with the places.
    """

    names: NamesInScope
    later: Bindings
    statement = ""

    def __init__(self, tokens: list[RelayToken]) -> None:
        super().__init__(tokens)
        self.globals: dict[str, RelayGlobalVar] = {}
        self.mentions: dict[str, Span] = {}
        self.names = NamesInScope()
        self.later = Bindings(tokens)

    @abstractmethod
    def expression(self, least: int = 0) -> RelayExpr:
        """An expression whose symbols bind at least so strongly."""

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
                result = result or RelayVar("_", None, (token.start, token.end))
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
        depth = sum(_nesting(token) for token in self.tokens[first : self.at])
        while True:
            token = self.token
            if self.sees("END") or self._at_definition():
                return False
            if depth <= 0:
                if self.sees("}", closing):
                    return False
                if self.accept(";") or (token.fresh_line and self._begins_statement()):
                    return True
            depth += _nesting(token)
            self.take()

    def _begins_statement(self) -> bool:
        return self._at_node() or self.is_word("let", "if")

    def _at_node(self) -> bool:
        """Whether a node or a variable follows that is bound."""
        return self.sees("GRAPH", "LOCAL") and self.peek().kind == "="

    def _node(self) -> None:
        """``%1 = …``: a name for a node, which is no variable."""
        name = self.take()
        before, self.statement = self.statement, name.text
        span = (name.start, name.end)
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
        span = (name.start, name.end)
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


def _nesting(token: RelayToken) -> int:
    """1 for a bracket that opens, -1 for one that closes."""
    return (token.kind in ("(", "[", "{")) - (token.kind in (")", "]", "}"))
