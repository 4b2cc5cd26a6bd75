"""A mistake in a program is the same mistake in a file of Python, unless Python around could make something of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.grammar.read.parser import parse
from tests.checker.test_reports import CASE, FILES
from tests.grammar.parse.test_forms import KERNEL, LINES, RELAX, STATEMENTS

EVALUATED = {
    *("y = R.sum(x, *[0])", "y: int = x", "lambda a: a", "y = [a for a in t]", "y = await x"),
    *("y = x if c else x", 'y = f"{x}"', "T.func_attr(n)"),
}
"""Lines of which Python may make something that rlx does not see."""
REFUSED = """
B[0, 0] = +v
B[0, 0] = v ** 2.0
C[0] = n / 2
C[0] = -T.bool(True)
C[0] = -T.uint8(3)
C[0] = T.reads(A[0, 0])
C[0] = T.block("B")
C[0] = 1 + T.where(n)
C[0] = T.func_attr(1)
C[0] = T.int32()
C[0] = T.Cast(dtype="int32", datatype="int64", value=n)
C[0] = T.cast(n, "int32", 3)
C[0] = T.cast(n, "int32", digits=3)
C[0] = T.Cast(n, "int32")
C[0] = T.cast("int32", n)
C[0] = T.bool(2)
C[0] = T.cast(n)
y: 3 = n
y: "int32" = 3
y = T.reads(A[0, 0])
n, C = 1, 2
B[0, 0] = "text"
C[0] = "text"
T.evaluate(n, n)
T.evaluate()
T.where()
T.reads("A")
T.writes({})
T.writes([A[0, 0], "A"])
y = T.axis.spatial(8)
x: T.handle = a
y = "text"
"""
"""Lines of a PrimFunc that nothing around it could make right."""
OUTSIDE = (
    *("no Relax program", "expected a decorated class or function"),
    "this text has numbers in front of its lines",
    *("unknown decorator '@", "the function 'f' has no decorator", "the class 'M' has no"),
    "Python code cannot be called",
    "expected ',' or ']', found 'for'",
    "a Relax value has no method 'system'",
)
"""How the errors of texts begin that are other Python for a reader of Python files."""


def errors(text: str, path: str) -> list[tuple[str, tuple[int, int] | None, str | None]]:
    """The mistake, its place and its fix; names that only Python would look up are left out."""
    found = parse(text, path).diagnostics
    wrong = (d for d in found if d.is_error and not d.code.startswith("PYTHON-"))
    return [(d.message, d.span, d.help) for d in wrong]


@pytest.mark.parametrize(("frame", "lines"), [(RELAX, LINES), (KERNEL, STATEMENTS)])
def test_lines(frame: str, lines: str) -> None:
    for line in lines.strip().splitlines():
        text = frame.replace("LINE", line)
        same = errors(text, "program.py") == errors(text, "program.rlx")
        assert same is (line not in EVALUATED), line


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_lines_that_are_refused(line: str) -> None:
    text = KERNEL.replace("LINE", f"{line}\n    C[0] = 1")
    assert errors(text, "program.py") == errors(text, "program.rlx") != []


@pytest.mark.parametrize("line", ["C[0] = y[0]", "y, z = 1, 2"])
def test_a_scalar_that_is_no_buffer_and_is_bound(line: str) -> None:
    text = KERNEL.replace("LINE", f"y: T.int32 = 3\n    {line}")
    assert errors(text, "program.py") == errors(text, "program.rlx") != []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_programs(path: Path) -> None:
    for case in CASE.finditer(path.read_text("utf-8")):
        wrong = errors(case["program"], "program.rlx")
        same = errors(case["program"], "program.py") == wrong
        assert same is not any(message.startswith(OUTSIDE) for message, _, _ in wrong), wrong


def test_a_function_of_another_library_takes_no_relax_values() -> None:
    text = """\
import numpy as np
import torch.nn.functional as F
from tvm.script import relax as R

@R.function
def f(x: R.Any):
    y = F.relu(x)
    z = R.const(np.zeros((2, 3)), "float32")
    return np.transpose(z, axes=x)
"""
    found = [d for d in parse(text, "file.py").diagnostics if d.is_error]
    assert [text[slice(*d.span)] for d in found if d.span] == ["F.relu", "np.transpose"]
    assert "a function of torch, which does not take Relax values" in found[0].message
