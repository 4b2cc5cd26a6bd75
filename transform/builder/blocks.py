"""The blocks of a function under construction."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding
from rlx.grammar.nodes.node import Span, all_same


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

    __slots__ = ("_blocks", "_last", "bindings")

    def __init__(self, place: Span | None) -> None:
        self._last = OpenBlock(ast.BindingBlock, place)
        self._blocks, self.bindings = [self._last], self._last.bindings

    @property
    def kind(self) -> type[ast.BindingBlock]:
        """The kind of the last block."""
        return self._last.kind

    @property
    def last(self) -> OpenBlock:
        """The last block."""
        return self._last

    def __iter__(self) -> Iterator[OpenBlock]:
        """The blocks so far."""
        return iter(self._blocks)

    def open(
        self,
        kind: type[ast.BindingBlock],
        place: Span | None,
        original: ast.BindingBlock | None = None,
    ) -> None:
        """Continue in a block of this kind: the last one if it matches, otherwise a new one."""
        last = self._last
        if last.kind is not kind or (original is not None and not last.bindings):
            self.begin(OpenBlock(kind, place, original))

    def begin(self, block: OpenBlock) -> None:
        """Continue in a new block."""
        self._last = block
        self._blocks.append(block)
        self.bindings = block.bindings

    def finished(self) -> tuple[ast.BindingBlock, ...]:
        """The blocks so far. Empty blocks are omitted, and adjacent blocks of the same kind are
        merged.
        """
        made: list[ast.BindingBlock] = []
        filled = (block for block in self._blocks if block.bindings)
        for kind, alike in groupby(filled, lambda block: block.kind):
            first, *rest = alike
            if rest:
                joined = OpenBlock(kind, first.place)
                joined.bindings = [each for block in (first, *rest) for each in block.bindings]
                first = joined
            made.append(first.finished())
        return tuple(made)
