"""Public names: `__all__` of every room, with a docstring for each name; documents and examples use nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import rlx

ROOT = Path(__file__).parents[2]
ROOMS = ["rlx", *(f"rlx.{name}" for name in sorted({*rlx.ROOMS}))]
PAGES = [
    page
    for page in sorted([*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("docs/**/*.md")])
    if page.parent.name not in ("spec", "findings")
]
FENCE = re.compile(r"^```(?:python|pycon)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_what_is_public(room: str) -> None:
    module = import_module(room)
    assert module.__doc__, f"{room} has no docstring"
    names = module.__all__
    assert len(set(names)) == len(names)
    for name in names:
        value = getattr(module, name)
        assert name == "__version__" or isinstance(value, dict) or value.__doc__, f"{room}.{name}"


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    for room in ("checker", "generate", "grammar", "semantics", "solver", "tvm"):
        with pytest.raises(AttributeError, match="it has: "):
            getattr(import_module(f"rlx.{room}"), "nothing")  # noqa: B009


def blocks(page: Path) -> Iterator[ast.Module]:
    """The Python that a page shows."""
    for found in FENCE.finditer(page.read_text("utf-8")):
        text = found[1]
        if ">>> " in text:
            lines = [
                line[4:] for line in text.splitlines() if line.startswith((">>> ", "... ", "..."))
            ]
            text = "\n".join(lines)
        try:
            yield ast.parse(text)
        except SyntaxError:
            continue  # a program of Relax that shows a mistake


def used(tree: ast.Module) -> Iterator[str]:
    """The names of rlx that Python imports or reaches through modules: ``rlx.solver.prove``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rlx":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("rlx."))
        elif isinstance(node, ast.Attribute):
            path = ast.unparse(node)
            if re.fullmatch(r"rlx(\.\w+)+", path):
                yield path


def is_public(path: str) -> bool:
    """Whether each step of a path is in the `__all__` of what stands before it, or a room that has one."""
    here: object = rlx
    for name in path.split(".")[1:]:
        if not isinstance(here, ModuleType):
            return True  # attributes of public things
        inner = f"{here.__name__}.{name}"
        if name in getattr(here, "__all__", ()):
            here = getattr(here, name)
        elif name not in vars(here) or isinstance(vars(here)[name], ModuleType):
            try:
                here = import_module(inner)
            except ImportError:
                return False
            if not hasattr(here, "__all__"):
                return False
        else:
            return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_documents_use_what_is_public(page: Path) -> None:
    hidden = {path for tree in blocks(page) for path in used(tree) if not is_public(path)}
    assert hidden == set()


@pytest.mark.parametrize(
    "example", sorted(ROOT.glob("examples/**/*.py")), ids=lambda path: path.stem
)
def test_examples_use_what_is_public(example: Path) -> None:
    tree = ast.parse(example.read_text("utf-8"))
    assert {path for path in used(tree) if not is_public(path)} == set()


def test_the_law_is_not_empty() -> None:
    assert (
        is_public("rlx.check")
        and is_public("rlx.grammar.ast.Function")
        and is_public("rlx.tvm.Instrument")
    )
    assert not is_public("rlx.api.DIALECT") and not is_public("rlx.checker.check.check_text")
    assert not is_public("rlx.solver.poly") and not is_public("rlx.nothing")
    assert sum(1 for page in PAGES for tree in blocks(page) for _ in used(tree)) > 20


def test_a_listing_has_what_is_public_and_the_rooms() -> None:
    listed = dir(rlx)
    assert listed == sorted(set(listed)) and {*rlx.__all__, "relay", "transform"} <= {*listed}
    assert all(getattr(rlx, name) is not None for name in listed)
