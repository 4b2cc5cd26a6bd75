"""How messages of the derivation name values."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.ast import Var
from rlx.grammar.node import Node


def show(node: Node) -> str:
    """A node in short form: ``Tensor((n, 4), float32)``."""
    from rlx.grammar.printer_show import show as shown

    return shown(node)


def written(node: Node) -> str:
    """A struct info as a program writes it: ``R.Tensor((n, 4), dtype="float32")``."""
    from rlx.grammar.printer import print_struct_info

    return print_struct_info(node)  # type: ignore[arg-type]


def named(value: Node) -> str:
    """A variable's name, to write a cast of it; dots for any other expression."""
    return value.name_hint if isinstance(value, Var) else "…"


def values(example: Mapping[str, int]) -> str:
    """``n = 1, m = 2``"""
    return ", ".join(f"{name} = {value}" for name, value in example.items())


def callee(expr: Node) -> str:
    """The function that a call calls, quoted; ``the callee`` where it has no name."""
    name = getattr(expr, "name_hint", None) or getattr(expr, "global_symbol", None)
    return f"'{name}'" if name else "the callee"
