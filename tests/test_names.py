"""One class a name: who reads `Scope` need not ask which one."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    *("benchmarks", "checker", "generate", "grammar", "operators", "rlx", "semantics", "solver"),
    *("spec", "te", "transform", "old", "relay", "vm"),
)

TWO_LANGUAGES = "Relax and TIR both have it, and TVM calls both so"
AS_TE = "TVM's tensor expressions call it so, and it is a value of the machine"
SHARED = {
    "Scalar": AS_TE,
    "Tensor": AS_TE,
    "Call": TWO_LANGUAGES,
    "StringImm": TWO_LANGUAGES,
    "Var": TWO_LANGUAGES,
    "Cast": "the cast of TIR, and `R.match_cast` before its statement is read",
    "Slice": "the slice of TIR, and a subscript before it is known what it stands in",
    **dict.fromkeys(
        ("CheckFailed", "Fault"), "how a run ends, and what the virtual machine raises"
    ),
    "Frame": "a frame of names while a text is read, and one of values while it runs",
}
"""Names of more than one class, with the reason; the list only shrinks."""


def sources() -> list[Path]:
    """The files of the product, each once."""
    found = []
    for room in ROOMS:
        paths = (ROOT / room).rglob("*.py")
        found += [p for p in paths if not any(q.is_symlink() for q in (p, *p.parents))]
    return found


def test_a_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    shared = {name: found for name, found in places.items() if len(found) > 1}
    new = {name: found for name, found in shared.items() if name not in SHARED}
    assert not new, f"classes that share a name: {new}"
    assert SHARED.keys() == shared.keys(), "a name is not shared any more: shorten the list"


def test_the_pages_of_the_rooms_name_files_that_are_there() -> None:
    for page in ROOT.glob("*/README.md"):
        room = page.parent
        there = {path.name for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
        for name in re.findall(r"`(?:\w+/)*(\w+\.py)`", page.read_text(encoding="utf-8")):
            assert name in there, f"{room.name}/README.md names {name}"


ONLY_TESTED = {
    "relax_check": "a command of its own",
    "lower_bound": "what plans of memory are measured against",
    "pytest_addoption": "pytest calls it",
    "pytest_terminal_summary": "pytest calls it",
    "pytest_testnodedown": "pytest calls it",
    "pytest_sessionfinish": "pytest calls it",
}
"""Functions that no file of the product names, with the reason."""


def test_every_function_is_used() -> None:
    """Functions of modules: a decorator may keep those that have one, and methods may be called by users."""
    texts = {path: path.read_text("utf-8") for path in sources() if "benchmarks" not in path.parts}
    named = Counter(re.findall(r"[A-Za-z_]\w*", "\n".join(texts.values())))
    unused = {
        node.name
        for text in texts.values()
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
        if not node.decorator_list and named[node.name] == 1 and not node.name.startswith("__")
    }
    assert unused == ONLY_TESTED.keys()
