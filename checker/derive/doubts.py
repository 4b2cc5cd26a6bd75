"""Expressions of which less is known than there should be, and why."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from rlx.grammar.nodes.node import Node


class Doubt(IntEnum):
    """Why less is known of an expression than there should be.

    What is made from several expressions has the strongest doubt about them.
    """

    WARNED = 1
    """A warning was reported. That less is known is not reported again, what is certainly wrong
    is."""
    UNSAID = 2
    """The text leaves data out, or Python around it gives the value. Nothing is reported."""
    WRONG = 3
    """An error was reported. Nothing is reported again."""


class Doubts(dict[Node, Doubt]):
    """The doubts about the expressions of a module."""

    def mark(self, node: Node, doubt: Doubt) -> None:
        """Doubt a node, unless there is a stronger doubt about it."""
        if self.get(node, 0) < doubt:
            self[node] = doubt

    def strongest(self, nodes: Iterable[Node]) -> Doubt | None:
        """The strongest doubt about some nodes; None if there is none."""
        return max(filter(None, map(self.get, nodes)), default=None) if self else None
