"""A file has one subject and a function does one thing: neither is long, but for the ones that are listed with a reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.test_names import ROOT, sources

FILE_LINES = 400
FUNCTION_LINES = 40

CASES = "one case for each node"
FAMILY = "one family of operators"
LONG_FILES = {
    "operators/evaluate/windows.py": FAMILY,
}
"""Longer files with the reason; the list only shrinks."""

TEXT = "the text of a program"
KERNEL = "one kernel, written as a loop nest"
OPTIONS = "a table of options"
COMMAND = "a command: its options, and what it does with them"
LONG_FUNCTIONS = {
    "benchmarks/operators.py program": TEXT,
    "benchmarks/prover/peers.py _sympy": CASES,
    "benchmarks/prover/peers.py to_tvm": CASES,
    "operators/evaluate/windows.py transposed": KERNEL,
    "rlx/commands/bisect.py _parser": OPTIONS,
    "rlx/commands/fuzz.py _parser": OPTIONS,
    "rlx/commands/generate.py _parser": OPTIONS,
    "rlx/commands/prove.py _parser": OPTIONS,
}
"""Longer functions, by file and name, with the reason; the list only shrinks."""


def test_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT))
        for path in sources()
        if len(path.read_text(encoding="utf-8").splitlines()) > FILE_LINES
    }
    assert long == LONG_FILES.keys()


def test_functions_are_short() -> None:
    long = {
        f"{path.relative_to(ROOT)} {node.name}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and body_lines(node) > FUNCTION_LINES
    }
    assert long == LONG_FUNCTIONS.keys()


def body_lines(function: ast.FunctionDef) -> int:
    """The lines of a function without its signature and its docstring."""
    first = function.body[1] if ast.get_docstring(function) and function.body[1:] else None
    start = (first or function.body[0]).lineno
    assert function.end_lineno is not None
    return function.end_lineno - start + 1


LINE_COLUMNS = 100


def test_lines_are_short() -> None:
    """But for texts that are written as they are read, and what only a type checker reads."""
    long = []
    for path in sources():
        lines = path.read_text(encoding="utf-8").splitlines()
        over = [at for at, line in enumerate(lines, 1) if len(line) > LINE_COLUMNS]
        if over:
            inside = set(texts("\n".join(lines)))
            long += [
                f"{path.relative_to(ROOT)}:{at}"
                for at in over
                if at not in inside and not re.search(r"  # (type|noqa): ", lines[at - 1])
            ]
    assert not long


def texts(source: str) -> Iterator[int]:
    """The lines of strings of several lines that are no docstrings."""
    tree = ast.parse(source)
    told = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            last = node.end_lineno or node.lineno
            if last > node.lineno and id(node) not in told:
                yield from range(node.lineno, last + 1)
