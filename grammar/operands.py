"""What arithmetic asks of those who read its operands."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from rlx.grammar import ast, tir
from rlx.grammar.dtype import INT64, DataType
from rlx.grammar.entries import Entry
from rlx.grammar.node import Span
from rlx.grammar.scope import Scope


class Scalars(Protocol):
    """Who reads operands as scalars."""

    @property
    def scope(self) -> Scope:
        """The names that mean something here."""

    def prim(self, entry: Entry, literal: DataType = INT64) -> tir.PrimExpr:
        """As a scalar; an integer literal gets the data type ``literal``."""


class Operands(Scalars, Protocol):
    """Who reads the operands as the operator asks for them."""

    @property
    def source(self) -> str:
        """The whole text."""

    @property
    def holes(self) -> AbstractSet[object]:
        """What stands for what could not be read."""

    @property
    def signed(self) -> dict[Span, tuple[str, Entry]]:
        """Where an operator stands in front of what is raised to a power: the operator, and what
        stands behind it.
        """

    def expr(self, entry: Entry) -> ast.Expr:
        """As a Relax expression."""

    def text_of(self, span: Span) -> str:
        """The source of an operand."""
