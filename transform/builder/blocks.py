"""The blocks of a function under construction."""

from __future__ import annotations

from rlx.grammar import ast
from rlx.grammar.ast import Binding
from rlx.grammar.node import Span, all_same


class OpenBlock:
    """A block under construction; ``original`` is the block that it replaces, if there is one."""

    __slots__ = ("bindings", "kind", "original", "place")

    def __init__(
        self,
        kind: type[ast.BindingBlock],
        place: Span | None,
        original: ast.BindingBlock | None = None,
    ) -> None:
        self.kind, self.place, self.original = kind, place, original
        self.bindings: list[Binding] = []

    def finished(self) -> ast.BindingBlock:
        """The block, or the original one if it has the same bindings."""
        if self.original is not None and all_same(self.original.bindings, self.bindings):
            return self.original
        return self.kind(tuple(self.bindings), self.place)


class GrowingBlocks:
    """The blocks of one sequence.

    Attributes
    ----------
    bindings
        The bindings of the last block. The next binding is added here.
    """

    __slots__ = ("_blocks", "bindings")

    def __init__(self, place: Span | None) -> None:
        first = OpenBlock(ast.BindingBlock, place)
        self._blocks, self.bindings = [first], first.bindings

    def open(
        self,
        kind: type[ast.BindingBlock],
        place: Span | None,
        original: ast.BindingBlock | None = None,
    ) -> None:
        """Continue in a block of this kind: the last one if it matches, otherwise a new one."""
        last = self._blocks[-1]
        if last.kind is not kind or (original is not None and not last.bindings):
            self._blocks.append(OpenBlock(kind, place, original))
            self.bindings = self._blocks[-1].bindings

    def finished(self) -> tuple[ast.BindingBlock, ...]:
        """The blocks so far. Empty blocks are omitted, and adjacent blocks of the same kind are
        merged.
        """
        made: list[OpenBlock] = []
        for block in self._blocks:
            if not block.bindings:
                continue
            if made and made[-1].kind is block.kind:
                joined = OpenBlock(block.kind, made[-1].place)
                joined.bindings = made.pop().bindings
                joined.bindings += block.bindings
                made.append(joined)
            else:
                made.append(block)
        return tuple([block.finished() for block in made])
