"""One class a name: who reads `Scope` need not ask which one."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    *("benchmarks", "checker", "generate", "grammar", "operators", "rlx", "semantics", "solver"),
    *("spec", "te", "transform", "refine", "old", "relay", "vm"),
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


@cache
def tree(path: Path) -> ast.Module:
    """The syntax of a file, which several tests look at."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
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
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    shared = {name: found for name, found in places.items() if len(found) > 1}
    new = {name: found for name, found in shared.items() if name not in SHARED}
    assert not new, f"classes that share a name: {new}"
    assert SHARED.keys() == shared.keys(), "a name is not shared any more: shorten the list"


def test_the_pages_of_the_rooms_name_files_that_are_there() -> None:
    there = {path.name for path in (*sources(), *(ROOT / "tests").rglob("*.py"))}
    for page in ROOT.glob("*/README.md"):
        room = page.parent
        for name in re.findall(r"`(?:\w+/)*(\w+\.py)`", page.read_text(encoding="utf-8")):
            assert name in there, f"{room.name}/README.md names {name}"


ONLY_TESTED = {
    "relax_check": "a command of its own",
    "lower_bound": "what plans of memory are measured against",
    "pytest_addoption": "pytest calls it",
    "pytest_configure": "pytest calls it",
    "pytest_unconfigure": "pytest calls it",
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
        for path in texts
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef)
        if not node.decorator_list and named[node.name] == 1 and not node.name.startswith("__")
    }
    assert unused == ONLY_TESTED.keys()


OTHERS = {
    "_": "a shell's last value among Python's own names",
    "_actions": "the options of a parser of argparse",
    "_exit": "the end of a process of the system",
    "_expr": "the value of a tensor of TVM's modules",
    "_getframe": "the stack of Python's own functions",
    "_replace": "the method of a named tuple",
    "_repr_html_": "what notebooks call",
    "_repr_pretty_": "what IPython calls",
    "_server": "the process of a client of pygls",
}
"""Names with an underscore that other libraries, or the tests themselves, call so."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OTHERS


def private_names(tree: ast.Module) -> set[str]:
    """The names with an underscore that a test imports, reads or replaces, and does not define itself."""
    nodes = list(ast.walk(tree))
    own = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    own |= {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    used = set[str]()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("tvm"):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and not ast.unparse(node.value).endswith("_kernels"):
            used.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
            *("setattr", "delattr", "getattr", "hasattr", "object"),
        ):
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            used |= {text.rpartition(".")[2] for text in texts if isinstance(text, str)}
    return {name for name in used - own if is_private(name)}


def test_no_test_uses_a_private_name() -> None:
    """A test sees what users and other rooms see; a name that it needs is public, and has a docstring."""
    found = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / "tests").rglob("*.py")
        if (names := private_names(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert not found


def test_private_names_are_found() -> None:
    for text in (
        "from rlx.a import _b",
        "import rlx\nrlx.a._b()",
        "monkeypatch.setattr(a, '_b', 1)",
        "monkeypatch.setattr('rlx.a._b', 1)",
    ):
        assert private_names(ast.parse(text)) == {"_b"}
    assert not private_names(ast.parse("class A:\n    def _b(self):\n        return self._b()"))
