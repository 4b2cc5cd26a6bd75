"""The blocks of functions, their names, and probes at their heads."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from .hook import compiled

WANTED = "wanted.json"
"""The file that says which blocks get probes, if not all do."""

CACHE = re.compile(r"(functools\.)?(cache|lru_cache)\b")

PROBE = "__rlx_reached__"
"""The built-in function that probes call with the name of their block."""


class Block(NamedTuple):
    """Statements inside a function.

    Attributes
    ----------
    name
        `CLASS.FUNCTION#N`, N counted inside the function: what is written elsewhere in the file does not change it.
    """

    name: str
    statements: list[ast.stmt]

    @property
    def first(self) -> int:
        return self.statements[0].lineno

    @property
    def last(self) -> int:
        return self.statements[-1].end_lineno or 0


def blocks(tree: ast.AST) -> list[Block]:
    """The blocks inside functions, without those of classes and modules."""
    seen = Counter[str]()

    def number(name: str) -> int:
        seen[name] += 1
        return seen[name] - 1

    def walk(node: ast.AST, path: str, inside: str | None) -> Iterator[Block]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            path = f"{path}.{node.name}" if path else node.name
            if isinstance(node, ast.ClassDef):
                inside = None
            else:
                again = number(f"{path}()")
                inside = f"{path}~{again}" if again else path
        if inside is not None:
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and block:
                    yield Block(f"{inside}#{number(inside)}", block)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, path, inside)

    return list(walk(tree, "", None))


def block_of(tree: ast.AST, line: int) -> str | None:
    """The name of the innermost block of a function that holds a line, or nothing outside of functions."""
    around = [block for block in blocks(tree) if block.first <= line <= block.last]
    return min(around, key=lambda block: block.last - block.first).name if around else None


def sides_of(tree: ast.AST, line: int) -> list[str]:
    """The blocks that a line decides about: those of the statement at whose head it stands."""
    names = {id(block.statements): block.name for block in blocks(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.If | ast.While | ast.For | ast.With):
            continue
        if node.lineno <= line < node.body[0].lineno:
            sides = (node.body, getattr(node, "orelse", []))
            return [names[id(part)] for part in sides if id(part) in names]
    return []


def is_cached(tree: ast.AST, line: int) -> bool:
    """Whether a line is in a function that keeps its answers: it runs once, when the first test needs one."""
    return any(
        node.lineno <= line <= (node.end_lineno or 0)
        and any(CACHE.match(ast.unparse(decorator)) for decorator in node.decorator_list)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )


def with_probes(path: Path, text: str, wanted: Collection[str] | None = None) -> ast.Module:
    """The file with a probe at the head of each block (or each wanted one), named `FILE:BLOCK`."""
    tree = ast.parse(text)
    for block in blocks(tree):
        name = f"{path}:{block.name}"
        if wanted is not None and name not in wanted:
            continue
        first = block.statements[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        probe = ast.Expr(ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(name)], []))
        for node in ast.walk(probe):
            ast.copy_location(node, first)
        block.statements.insert(int(documented), probe)
    return tree


class Probes:
    """The change that puts probes into files (see `hook`): at all blocks, or only at those that are wanted."""

    def __init__(self, wanted: Collection[str] | None) -> None:
        self.wanted = wanted
        self.files = None if wanted is None else {name.partition(":")[0] for name in wanted}

    def __call__(self, path: Path, text: str) -> CodeType | None:
        if self.files is not None and path.as_posix() not in self.files:
            return None
        return compiled(with_probes(path, text, self.wanted), path)
