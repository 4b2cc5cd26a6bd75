"""Nodes as Python expressions that rebuild them."""

from __future__ import annotations

from rlx.grammar.nodes.ast import Expr, Function, IRModule, StructInfo
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.tir import PrimExpr, PrimFunc
from rlx.grammar.read.parser import parse


def pasteable(node: Node) -> str:
    """A node as Python: for a module or a function, an expression that rebuilds it; for other parts
    of a program, their text; for nodes without a text, their fields.
    """
    if not isinstance(node, IRModule | Expr | StructInfo | PrimExpr | PrimFunc):
        return repr(node)
    text = str(node).strip()
    if isinstance(node, IRModule):
        return f"rlx.parse({_literal(text)})"
    if isinstance(node, Function | PrimFunc):
        for module in parse(text).modules:
            for name in module.functions:
                return f"rlx.parse({_literal(text)})[{name.name_hint!r}]"
    return text


def _literal(text: str) -> str:
    """A text as a literal that shows it as it is, where there is one."""
    if "'''" in text or text.endswith("\\"):
        return repr(text)
    raw = "r" if "\\" in text else ""
    return f"{raw}'''\n{text}\n'''"
