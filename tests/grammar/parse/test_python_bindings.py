"""The names that Python binds are those that Python itself says; comments and strings bind none."""

from __future__ import annotations

import symtable
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.grammar.read.surroundings import PythonScope, Surroundings

ROOT = Path(__file__).parents[3]
LIBRARY = Path(sysconfig.get_paths()["stdlib"])
FOLDERS = [
    *(ROOT / room for room in ("checker", "grammar", "operators", "tests/checker", "vm")),
    *(LIBRARY, LIBRARY / "asyncio"),
]


def _files(folder: Path) -> Iterator[Path]:
    """Python that nobody wrote for this test."""
    yield from (folder.glob("*.py") if folder.is_relative_to(LIBRARY) else folder.rglob("*.py"))


def _bound(table: symtable.SymbolTable) -> set[str]:
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_parameter()
    }


def _passed_over(table: symtable.SymbolTable) -> set[str]:
    """Names of other scopes, and those of which only the type may be said."""
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_annotated() or symbol.is_declared_global() or symbol.is_nonlocal()
    }


def _pairs(text: str, path: str) -> Iterator[tuple[symtable.SymbolTable, PythonScope]]:
    """The scopes of a text, as Python has them and as they are found here."""
    root, found = Surroundings(text).scopes
    by_line = {text.count("\n", 0, at) + 1: scope for at, scope in found[1:]}
    pending = [symtable.symtable(text, path, "exec")]
    while pending:
        table = pending.pop()
        pending += table.get_children()
        scope = root if table.get_type() == "module" else by_line.get(table.get_lineno())
        if scope is None or scope.kind != table.get_type():
            continue
        if scope.outer is None or table.get_name() in scope.outer.names:
            yield table, scope


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_names_are_those_that_python_binds(folder: Path) -> None:
    count = 0
    for path in _files(folder):
        text = path.read_text("utf-8", "replace")
        if not text.isascii():
            continue
        for table, scope in _pairs(text, str(path)):
            names = {name for name in scope.names if not name.startswith("__")}
            theirs = {name for name in _bound(table) if not name.startswith("_")}
            known = _passed_over(table)
            where = (str(path), table.get_name(), table.get_lineno())
            assert theirs - known <= names, where
            assert {name for name in names - known if name[0] != "_"} <= theirs, where
            count += 1
    assert count > 100


HEAD = "from tvm.script import relax as R\nN = 4\n"


def _codes(around: str, body: str) -> list[str]:
    lines = "".join(f"    {line}\n" for line in around.splitlines())
    text = (
        f"{HEAD}def make(config):\n{lines}\n    @R.function\n"
        f"    def f(x: R.Tensor((4, 8), 'float32')):\n        {body}\n"
    )
    return [d.code for d in check_text(text, "a.py").diagnostics if d.severity != "note"]


@pytest.mark.parametrize(
    "around",
    [
        "log(1)  # other = 3",
        "log(1)  # for other in range(3), as other",
        'log(\'other = 3\', """\nother = 3\n""")  # don\'t',
        "import os  # sys, other",
        "log(other=3)",
        "config.other = 3",
        "values = [other for other in config]",
        "def g(a='(b, other)'):\n    pass",
    ],
)
def test_what_is_no_binding_leaves_a_name_unknown(around: str) -> None:
    assert _codes(around, "return R.add(x, other)") == ["WF02-undefined"]


@pytest.mark.parametrize(
    "around",
    [
        "try: other = 3\nexcept E: pass",
        "*other, b = config",
        "other, b.c = config",
        "with config as (a, other): pass",
        "total = sum((other := 3) for _ in config)",
        "if config: import other",
        "match config:\n    case [a, {'k': other}]:\n        pass",
    ],
)
def test_what_binds_is_found(around: str) -> None:
    assert _codes(around, "return R.add(x, other)") == []


@pytest.mark.parametrize(
    "around",
    [
        "K = 5",
        "import os; K = 5",
        "K = 5  # five; not 6",
        "K = 5; L = 6",
        "L = ';'; K = 5",
        "K: 'a = b' = 5",
    ],
)
def test_a_constant_is_one_whatever_is_said_beside_it(around: str) -> None:
    assert _codes(around, "return R.reshape(x, (K, 3))") == ["OBL-reshape-count"]


def test_a_comment_between_parameters_hides_none() -> None:
    text = (
        f"{HEAD}def make(\n    a,  # the first one, or: n\n    k=')',  # as TVM\n    *b: int | None,"
        "\n    c=1):\n    @R.function\n    def f(x: R.Tensor((4,), 'float32')):\n        return %s\n"
    )
    for name in ("a", "b", "c", "k"):
        (note,) = check_text(text % f"R.add(x, {name})", "a.py").diagnostics
        assert note.code == "PARSE-captured"
    (found,) = check_text(text % "R.add(x, n)", "a.py").diagnostics
    assert found.code == "WF02-undefined"


def test_an_item_of_a_tuple_or_a_text_of_python_is_taken() -> None:
    text = """
from tvm.script import relax as R

SHAPE, NAMES = (4, 8), ["float32", "int8"]


@R.function
def f(x: R.Tensor((SHAPE[0], SHAPE[-1]), NAMES[0])) -> R.Tensor((8, 4), "float32"):
    y: R.Tensor(SHAPE[0:2], NAMES[0][:]) = R.exp(x)
    return R.reshape(y, (SHAPE[1], SHAPE[0]))
"""
    assert not [d for d in check_text(text, "file.py").diagnostics if d.is_error]
    (found,) = check_text(text.replace("SHAPE[-1]", "SHAPE[2]"), "file.py").diagnostics[:1]
    assert found.message == "this tuple has 2 items, but the index is 2"


TAKEN = [
    *(
        "SHAPE[:1]",
        "SHAPE[1:]",
        "SHAPE[:]",
        "SHAPE[::2]",
        "SHAPE[::-1]",
        "SHAPE[0:3:2]",
        "SHAPE[:2:]",
    ),
    *("SHAPE[::]", "SHAPE[-1:]", "SHAPE[1:][:1]", "SHAPE[:1] + SHAPE[2:]", "(2,) * 2 + SHAPE[:1]"),
    *("SHAPE[3:]", "SHAPE[9:]", "SHAPE[:-9]", "2 * SHAPE", "-1 * SHAPE"),
]


@pytest.mark.parametrize("taken", TAKEN)
def test_parts_of_tuples_are_those_that_python_takes(taken: str) -> None:
    text = """from tvm.script import relax as R
SHAPE = (4, 8, 2)


@R.function
def f(x: R.Tensor(TAKEN, "float32")) -> R.Tensor(TAKEN, "float32"):
    y: R.Tensor(TAKEN, "float32x"[:-1]) = R.zeros(TAKEN, "xfloat32"[1:])
    return R.add(x, y)
"""
    written = str(eval(taken, {"SHAPE": (4, 8, 2)}))
    (one,), (other,) = (
        parse(text.replace("TAKEN", each), "a.py").modules for each in (taken, written)
    )
    assert not [
        d for d in check_text(text.replace("TAKEN", taken), "a.py").diagnostics if d.is_error
    ]
    assert print_module(one) == print_module(other)


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        ("SHAPE[::0]", "the step of a slice cannot be zero"),
        ('SHAPE["a":]', "a tuple cannot be indexed"),
        ("SHAPE[3]", "this tuple has 3 items, but the index is 3"),
    ],
)
def test_a_part_that_python_refuses_is_an_error(taken: str, words: str) -> None:
    text = f"""from tvm.script import relax as R
SHAPE = (4, 8, 2)


@R.function
def f(x: R.Tensor({taken}, "float32")) -> R.Tensor:
    return R.add(x, unknown)
"""
    found = [d.message for d in check_text(text, "a.py").diagnostics if d.is_error]
    assert found == [words, "'unknown' is not defined"]
