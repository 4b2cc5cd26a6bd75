"""Texts of long dimensions, in which parts have names: ``T.min(d2, 5) + m, where d2 = …``.

The text of a dimension may be exponentially longer than its number of nodes, because nodes are
shared. Here each node is written at most once: a long part gets a name where it is used, and the
names are explained at the end of the text, in the order of their use.
"""

from __future__ import annotations

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
    stack, count = [dim], 0
    while stack:
        node = stack.pop()
        count += 1
        if count > short:
            return _shares(dim)
        stack.extend(tir.children(node))
    return False


def _shares(dim: PrimExpr) -> bool:
    """Whether an operation occurs more than once in a dimension."""
    used: set[PrimExpr] = set()
    for node in tir.postorder(dim):
        for child in tir.children(node):
            if child in used and tir.children(child):
                return True
            used.add(child)
    return False


def abbreviated(dim: PrimExpr) -> str:
    """The text of a long dimension, with its names and their explanation."""
    parts = _parts(dim)
    taken = {var.name for var in tir.free_vars(dim)}
    names: dict[PrimExpr, str] = {}
    number = 0
    asked = [dim]
    for whole in asked:
        for part in _mentioned(whole, parts):
            if part not in names:
                number += 1
                while f"d{number}" in taken:
                    number += 1
                names[part] = f"d{number}"
                if len(asked) <= _EXPLAINED:
                    asked.append(part)
    first, *explained = [_text(part, names) for part in asked]
    shown = [f"{names[p]} = {text}" for p, text in zip(asked[1:], explained, strict=True)]
    if len(names) > len(shown):
        shown.append("…")
    return f"{first}, where {', '.join(shown)}" if shown else first


def _parts(dim: PrimExpr) -> set[PrimExpr]:
    """The parts that get a name: those whose text, with names inside it, has become long."""
    found: set[PrimExpr] = set()

    def length(node: PrimExpr, operands: list[int]) -> int:
        total = 1 + sum(operands)
        if total > _PART and node is not dim:
            found.add(node)
            return 1
        return total

    tir.fold(dim, length)
    return found


def _mentioned(whole: PrimExpr, parts: set[PrimExpr]) -> list[PrimExpr]:
    """The named parts in the text of a part, in the order of the text."""
    inside = tir.reached(tir.children(whole), lambda e: () if e in parts else tir.children(e))
    return [node for node in inside if node in parts]


def _text(part: PrimExpr, names: dict[PrimExpr, str]) -> str:
    return _Abbreviated(part, names).run(part)


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
