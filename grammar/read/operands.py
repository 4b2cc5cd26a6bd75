"""Protocols of the readers of operands."""

from __future__ import annotations

from typing import Protocol

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, DataType
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry
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
