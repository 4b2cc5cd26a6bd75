"""Nothing stands in the product that nobody uses, and no docstring speaks of a parameter that is not there."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.test_names import ROOT, sources, tree

FOR_TESTS = {
    "TEXT_BREAKS": "kernels that break a rule only as texts, beside the others",
    "DECLARATION": "the header that kernels have, which a test compiles against",
}
"""What only tests use, with the reason; the list only shrinks."""


def defined(module: ast.Module) -> Iterator[str]:
    """The names at the outer level that a module defines; a decorator may give away what it decorates."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if not node.decorator_list:
                yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def words(path: Path) -> Counter[str]:
    """The number of times that each word stands in a file, in texts and comments, too."""
    return Counter(re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8")))


def test_what_is_defined_is_used() -> None:
    files = [*sources(), *(ROOT / "docs").rglob("*.py"), ROOT / "pyproject.toml"]
    used: Counter[str] = Counter()
    for path in files:
        used.update(words(path))
    pages = set().union(*(words(path) for path in ROOT.glob("[!.]*/**/*.md")))
    dead = {
        name: str(path.relative_to(ROOT))
        for path in sources()
        for name in defined(tree(path))
        if used[name] == 1 and name not in pages and not name.startswith(("__", "pytest_"))
    }
    assert dead.keys() == FOR_TESTS.keys(), dead


def documented(text: str) -> Iterator[str]:
    """The names below `Parameters` in a docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", text, re.MULTILINE | re.DOTALL
    )
    for line in section[1].splitlines() if section is not None else ():
        if re.match(r"\*{0,2}\w", line):
            yield from (name.strip().lstrip("*") for name in line.split(":")[0].split(","))


def parameters(node: ast.FunctionDef | ast.ClassDef) -> set[str] | None:
    """The parameters of a function; of a class those that it is made of, None where it takes them over."""
    if isinstance(node, ast.ClassDef):
        makers = [
            n
            for n in node.body
            if isinstance(n, ast.FunctionDef) and n.name in ("__init__", "__new__")
        ]
        fields = {
            n.target.id
            for n in node.body
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        }
        found = fields.union(*(parameters(maker) or () for maker in makers))
        return found if found or not node.bases else None
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {each.arg for each in named if each is not None}


def test_documented_parameters_are_there() -> None:
    missing = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {name}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and (found := parameters(node)) is not None
        for name in documented(ast.get_docstring(node) or "")
        if name not in found
    ]
    assert not missing
