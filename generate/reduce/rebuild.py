"""Copies of a module in which some nodes are others; what does not change stays the same object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlx.grammar import ast
from rlx.grammar.node import Node, fields

_WHOLE = (ast.Op, ast.GlobalVar)


def rebuild(root: Any, change: Callable[[Node], Node]) -> Any:
    """A copy of ``root``; ``change`` sees every node before its parts are looked at.

    Variables are replaced like any other node, so a change must be the same at each of their uses.
    """
    made: dict[int, tuple[Any, Any]] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, tuple):
            parts = tuple(copy(v) for v in value)
            return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
        if isinstance(value, Mapping):
            items = {copy(k): copy(v) for k, v in value.items()}
            same = all(k in value and value[k] is v for k, v in items.items())
            return value if same and len(items) == len(value) else items
        if not isinstance(value, Node) or isinstance(value, _WHOLE):
            return value
        if id(value) not in made:
            # The original is kept beside its copy: its address must not be given away.
            made[id(value)] = (value, node(change(value)))
        return made[id(value)][1]

    def node(value: Node) -> Node:
        before = dict(fields(value))
        after = {key: copy(part) for key, part in before.items()}
        if all(after[key] is part for key, part in before.items()):
            return value
        return type(value)(**after)

    return copy(root)
