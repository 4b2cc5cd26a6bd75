"""Who uses what stands outside of functions: the blocks that use the names bound there, or what is made of them there."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from .blocks import blocks
from .draw import ROOMS, ROOT, files

STEPS = 3
"""How often what is made of a name, outside of functions, is followed to those that use it."""


class Name(NamedTuple):
    """A name that a file binds, or an attribute of any object (no file)."""

    file: str
    name: str


class Source:
    """A file: what it imports, and where it uses which names."""

    def __init__(self, path: Path) -> None:
        self.file = path.relative_to(ROOT).as_posix()
        self.tree = ast.parse(path.read_text("utf-8"))
        self.blocks = blocks(self.tree)
        inner: dict[int, str] = {}
        for block in sorted(self.blocks, key=lambda b: b.first - b.last):
            for line in range(block.first, block.last + 1):
                inner[line] = f"{self.file}:{block.name}"
        self.imports: dict[str, Name] = {}
        self.uses: dict[Name, set[str | Name]] = defaultdict(set)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                module = self._module(node)
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = Name(module, alias.name)
        for statement in self.tree.body:
            bound = set(self.bound(statement, 0))
            for node in ast.walk(statement):
                used = _used(node)
                if used is not None:
                    assert isinstance(node, ast.expr)
                    own = Name("" if isinstance(node, ast.Attribute) else self.file, used)
                    inside = inner.get(node.lineno)
                    self.uses[own].update(bound if inside is None else {inside})

    def _module(self, node: ast.ImportFrom) -> str:
        """The module's name, in full."""
        own = Path("rlx", self.file.removeprefix("rlx/")).parts
        parts = own[: -node.level] if node.level else ()
        return ".".join([*parts, *([node.module] if node.module else [])])

    def bound(self, statement: ast.stmt, line: int) -> Iterator[Name]:
        """The names that a statement outside of functions binds; of a class those, too, that the line in it binds."""
        match statement:
            case ast.FunctionDef(name):
                yield Name(self.file, name)
            case ast.ClassDef(name, body=body):
                yield Name(self.file, name)
                for part in body:
                    if part.lineno <= line <= (part.end_lineno or 0):
                        yield from (Name("", each.name) for each in self.bound(part, line))
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                )
                for target in targets:
                    for node in ast.walk(target):
                        if isinstance(node, ast.Name):
                            yield Name(self.file, node.id)


def _used(node: ast.AST) -> str | None:
    match node:
        case ast.Name(name, ast.Load()) | ast.Attribute(_, name, ast.Load()):
            return name
        case _:
            return None


class Users:
    """The files of all rooms."""

    @cached_property
    def sources(self) -> dict[str, Source]:
        """By their names."""
        found = [Source(path) for room in ROOMS for path in files(room)]
        return {source.file: source for source in found}

    @cached_property
    def modules(self) -> dict[str, str]:
        """The file of each module."""
        named = {}
        for file in self.sources:
            parts = Path("rlx", file.removeprefix("rlx/")).with_suffix("").parts
            named[".".join(part for part in parts if part != "__init__")] = file
        return named

    @cached_property
    def uses(self) -> dict[Name, set[str | Name]]:
        """The blocks that use a name, and the names that are bound to what is made of it."""
        found: dict[Name, set[str | Name]] = defaultdict(set)
        for source in self.sources.values():
            for name, users in source.uses.items():
                found[self._origin(name)] |= users
        return found

    def _origin(self, name: Name) -> Name:
        """Where a name was bound before it was imported."""
        for _ in range(len(self.sources)):
            source = self.sources.get(name.file)
            imported = source.imports.get(name.name) if source else None
            if imported is None:
                break
            name = Name(self.modules.get(imported.file, imported.file), imported.name)
        return name

    def of(self, file: str, line: int) -> list[set[str]]:
        """The blocks that use what a line outside of functions binds: first those of the function at whose head it
        stands or that use it itself, then those that use what is made of it.
        """
        if not (ROOT / file).exists():
            return []
        source = self.sources[file]
        statements = [
            each for each in source.tree.body if first_line(each) <= line <= (each.end_lineno or 0)
        ]
        names = {name for each in statements for name in source.bound(each, line)}
        levels = [_own(source, line)]
        seen = set[str | Name](levels[0])
        for _ in range(STEPS):
            users = {
                user for name in names for user in self.uses.get(self._origin(name), ())
            } - seen
            seen |= users
            levels.append({user for user in users if isinstance(user, str)})
            names = {user for user in users if isinstance(user, Name)}
        return [level for level in levels if level]


@cache
def all_users() -> Users:
    """Those of the working tree, read once."""
    return Users()


def _own(source: Source, line: int) -> set[str]:
    """The blocks of the function at whose head a line stands."""
    around = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef) and first_line(node) <= line <= (node.end_lineno or 0)
    ]
    if not around:
        return set()
    inner = max(around, key=first_line)
    return {
        f"{source.file}:{block.name}"
        for block in source.blocks
        if inner.lineno <= block.first <= (inner.end_lineno or 0)
    }


def first_line(node: ast.stmt) -> int:
    """The line of a statement's first decorator, or its own."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(part.lineno for part in decorators)])
