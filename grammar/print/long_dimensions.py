"""Texts of long dimensions, in which parts have names: ``T.min(d2, 5) + m, where d2 = …``.

The text of a dimension may be exponentially longer than its number of nodes, because nodes are
shared. Here each node is written at most once: a long part gets a name where it is used, and the
names are explained at the end of the text, in the order of their use.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from weakref import WeakKeyDictionary

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.print.prim import Part, Text

SHORT = 60
"""The number of nodes, repeated ones counted each time, up to which a dimension is written out."""
_PART = 12
_EXPLAINED = 4
"""The maximum number of names that are explained."""


def is_long(dim: PrimExpr, short: int = SHORT) -> bool:
    """Whether a dimension is too long to be written out and shares parts, so that names for them
    help. One of at most ``short`` nodes is short.
    """
    stack, nodes = [dim], 0
    while stack:
        node = stack.pop()
        nodes += 1
        if nodes > short:
            return _shares(dim)
        stack.extend(tir.children(node))
    return False


def _shares(dim: PrimExpr) -> bool:
    """Whether an operation occurs more than once in a dimension."""
    used: set[PrimExpr] = {dim}
    stack = [dim]
    while stack:
        for child in tir.children(stack.pop()):
            if child not in used:
                used.add(child)
                stack.append(child)
            elif tir.children(child):
                return True
    return False


def abbreviated(dim: PrimExpr) -> str:
    """The text of a long dimension, with its names and their explanation."""
    found: dict[PrimExpr, None] = {}
    asked, taken = [dim], set[str]()
    for whole in asked:
        for node in _written(whole):
            if isinstance(node, tir.Var):
                taken.add(node.name)
            elif _has_name(node) and node not in found:
                found[node] = None
                if len(asked) <= _EXPLAINED:
                    asked.append(node)
    free = (name for name in map("d{}".format, count(1)) if name not in taken)
    names = dict(zip(found, free, strict=False))
    first, *explained = [_Abbreviated(part, names).run(part) for part in asked]
    shown = [f"{names[p]} = {text}" for p, text in zip(asked[1:], explained, strict=True)]
    if len(names) > len(shown):
        shown.append("…")
    return f"{first}, where {', '.join(shown)}" if shown else first


_lengths: WeakKeyDictionary[PrimExpr, int] = WeakKeyDictionary()
"""The nodes of each text, where parts inside it have names: dimensions share most of theirs."""


def _has_name(node: PrimExpr) -> bool:
    """Whether a part of a dimension gets a name: its text, with names inside it, is long."""

    def length(node: PrimExpr, operands: list[int]) -> int:
        return 1 + sum(1 if each > _PART else each for each in operands)

    return tir.fold(node, length, _lengths) > _PART


def _written(whole: PrimExpr) -> Iterator[PrimExpr]:
    """The nodes in the text of a part, in its order, down to parts with names."""
    return tir.reached(tir.children(whole), lambda e: () if _has_name(e) else tir.children(e))


class _Abbreviated(Text):
    """Prints one part; named parts inside it are written by their names."""

    def __init__(self, whole: PrimExpr, names: dict[PrimExpr, str]) -> None:
        super().__init__({}, INT64, str)
        self._whole = whole
        self._parts = names

    def parts(self, expr: PrimExpr, required: int) -> list[Part]:
        """The name of a named part, otherwise its text."""
        name = None if expr is self._whole else self._parts.get(expr)
        return super().parts(expr, required) if name is None else [name]
