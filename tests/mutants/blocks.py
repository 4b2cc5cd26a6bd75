"""The blocks of functions, and probes at their heads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PROBE = "__rlx_reached__"
"""The built-in function that probes call with the name of their block."""


def heads(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks inside functions, without those of classes and modules."""

    def walk(node: ast.AST, inside: bool) -> Iterator[list[ast.stmt]]:
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        inside = is_function or (inside and not isinstance(node, ast.ClassDef))
        if inside:
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and block:
                    yield block
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    yield from walk(tree, False)


def with_probes(path: Path, text: str) -> ast.Module:
    """The file with a probe at the head of each block, named `FILE:LINE` after the block's first line."""
    tree = ast.parse(text)
    for block in list(heads(tree)):
        first = block[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        name = ast.Constant(f"{path}:{first.lineno}")
        probe = ast.Expr(ast.Call(ast.Name(PROBE, ast.Load()), [name], []))
        for node in ast.walk(probe):
            ast.copy_location(node, first)
        block.insert(int(documented), probe)
    return tree
