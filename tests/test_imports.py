"""No file imports itself by way of others, late imports and those for types alone included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    *("checker", "generate", "grammar", "old", "operators", "refine", "relay", "semantics"),
    *("solver", "spec", "te", "transform", "vm"),
)


def modules() -> dict[str, Path]:
    """The files of the package, by the names that imports have for them."""
    found = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(("rlx", *parts)).removesuffix(".__init__")] = path
    for path in (ROOT / "rlx").glob("*.py"):
        found[f"rlx.{path.stem}".removesuffix(".__init__")] = path
    for folder in (ROOT / "rlx").iterdir():
        if folder.is_dir() and not folder.is_symlink():
            for path in folder.glob("*.py"):
                found[f"rlx.{folder.name}.{path.stem}".removesuffix(".__init__")] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The imports of a file, late imports and those for types alone included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def circles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """Groups of modules each of which imports all others, by whatever way."""
    reached = {start: _reached(graph, start) for start in graph}
    found = {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}
    return sorted(found, key=min)


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    pending = list(graph[start])
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += graph[name]
    return found


def test_no_circles() -> None:
    known = modules()
    graph = {
        name: {other for other in imported(path, known) if other in known and other != name}
        for name, path in known.items()
    }
    assert [sorted(circle) for circle in circles(graph)] == []
