"""Names unknown to Python in a Relax function are errors exactly if running the file with TVM fails."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path

import pytest

from rlx.checker import check_text
from rlx.checker.fixing import mended

HEAD = "from tvm.script import ir as I, relax as R\n"
G = """\
@R.function
def g(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    return x

"""
F = """\
@R.function
def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    BODY
    return y
"""


def bare(body: str, before: str = G) -> str:
    return HEAD + before + F.replace("BODY", body.replace("; ", "\n    "))


def inside(body: str, before: str = "") -> str:
    module = "@I.ir_module\nclass M:\n" + textwrap.indent(G + F.replace("BODY", body), "    ")
    return HEAD + before + module.replace("; ", "\n        ")


CASES = {
    "a function beside it": (bare("y = g(x)"), None),
    "a function of its class": (inside("y = g(x)"), "PYTHON-name"),
    "a function of its class, in a call of a call": (inside("y = R.add(x, g(x))"), "PYTHON-name"),
    "by the class": (inside("y = M.g(x)"), None),
    "cls that nothing binds": (inside("y = cls.g(x)"), "PYTHON-name"),
    "cls": (inside("cls = M; y = cls.g(x)"), None),
    "a variable of that name": (inside("g = R.exp(x); y = R.exp(g)"), None),
    "a function outside, too": (inside("y = g(x)", G), None),
    "the shape of a parameter": (bare("y = R.reshape(x, x.shape)"), "PYTHON-attribute"),
    "the shape of a binding": (bare("z = R.exp(x); y = R.reshape(z, z.shape)"), "PYTHON-attribute"),
    "the shape of a type": (bare("y = R.reshape(x, x.ty.shape)"), None),
    "shape_of": (bare("y = R.reshape(x, R.shape_of(x))"), None),
    "a parameter without annotation": (
        HEAD + "@R.function\ndef f(x):\n    y = x\n    return y\n",
        "PYTHON-annotation",
    ),
    "a parameter for an object, as in a class of PyTorch": (
        inside("y = R.exp(x)").replace("def f(x:", "def f(self, x:"),
        "PYTHON-annotation",
    ),
    "a parameter without annotation, of a local function": (
        bare("h = 0; @R.function; def h(z):; return z; y = h(x)", "")
        .replace("\n    h = 0", "")
        .replace("    return z", "        return z"),
        "PYTHON-annotation",
    ),
    "the shape of an array": (
        bare("y = R.reshape(x, a.shape)", "import numpy\na = numpy.zeros((4,))\n\n"),
        None,
    ),
}


EVALUATED = {
    'A: T.Buffer(("n",), "float32")': True,
    'A: T.Buffer((n,), "float32")': True,
    'A: T.Buffer((4, n * 2), "float32")': True,
    'A: T.Buffer((4,), "float32", strides=("s",))': False,
    'A: R.Tensor((n,), "float32")': False,
    'A: R.Tensor(("n * 2", "n"), "float32")': False,
    'A: R.Tensor((n * 2, n), "float32")': True,
    'A: R.Tensor((n,), "float32"), B: R.Shape([2 - n])': True,
}
"""Parameters, and whether defining their function fails where annotations are evaluated."""


def runs(text: str, folder: Path) -> bool:
    path = folder / "file.py"
    path.write_text(text)
    try:
        runpy.run_path(str(path))
    except Exception:  # noqa: BLE001 - TVM raises what it likes
        return False
    return True


@pytest.mark.parametrize("name", CASES)
def test_what_python_refuses_is_an_error(name: str, tmp_path: Path) -> None:
    text, code = CASES[name]
    found = check_text(text, "file.py").errors
    assert [each.code for each in found] == ([] if code is None else [code])
    assert runs(text, tmp_path) == (code is None)
    if code is not None:
        fixed = mended(text, "file.py")
        assert fixed.report.ok
        assert runs(fixed.text, tmp_path)
    assert check_text(text, "file.rlx").ok or name == "the shape of an array"


@pytest.mark.parametrize("parameters", EVALUATED)
def test_annotations_that_python_evaluates(parameters: str, tmp_path: Path) -> None:
    kernel = "T.Buffer" in parameters
    text = (
        "from typing import TypeVar\nfrom tvm.script import relax as R, tirx as T\n"
        f'n = TypeVar("n")\n@{"T.prim_func" if kernel else "R.function"}\n'
        f"def f({parameters}):\n    {'A[0] = 1.0' if 'strides' in parameters else 'pass'}\n"
    ).replace("pass", "T.evaluate(0)" if kernel else "return A")
    found = [each.code for each in check_text(text, "file.py").diagnostics]
    assert found.count("PYTHON-evaluated") == EVALUATED[parameters]
    assert runs(text, tmp_path) != EVALUATED[parameters]
    another = "@" + text.partition("@")[2].replace("def f", "def g")
    twice = [each.code for each in check_text(text + another, "file.py").diagnostics]
    assert twice.count("PYTHON-evaluated") == EVALUATED[parameters]  # the first one ends the run
    postponed = "from __future__ import annotations\n" + text
    assert "PYTHON-evaluated" not in str(check_text(postponed, "file.py").diagnostics)
    assert runs(postponed, tmp_path)


HEADS = {
    'R: x: R.Tensor(("n",))) -> R.Tensor((n,))': True,
    'R: x: R.Tensor(("n + 1", "n"))) -> R.Tensor((n + 1, n))': True,
    'R: x: R.Tensor((n,))) -> R.Tensor(("n",))': False,
    'R: x: R.Tensor(("n",)), y: R.Tensor((n,)))': False,
    'R: x: R.Tuple(R.Tensor(("n",)), R.Tensor((n,))))': False,
    'T: x: T.Buffer(("n",)), y: T.Buffer((n + 1,)))': True,
    'T: x: T.Buffer(("n + 1",)), y: T.Buffer((n,)))': True,
    "T: n: T.int32, x: T.Buffer((n,)))": True,
    "R: n: T.int64, x: R.Tensor((n,)))": True,
    "T: x: T.Buffer((n,)), n: T.int32)": False,
    'T: x: T.Buffer((n,)), y: T.Buffer(("n",)))': False,
}
"""Heads, and whether TVM, which does not evaluate annotations at once, knows the names in them."""


@pytest.mark.parametrize("head", HEADS)
def test_names_that_the_head_quotes_elsewhere(head: str, tmp_path: Path) -> None:
    module, parameters = head.split(": ", 1)
    kind, body = ("R.function", "return x") if module == "R" else ("T.prim_func", "T.evaluate(0)")
    script = f"@{kind}\ndef f({parameters}:\n    {body}\n"
    text = f"from tvm.script import relax as R, tirx as T\n{script}"
    assert not check_text(text, "file.py").ok
    assert not runs(text, tmp_path)
    postponed = f"from __future__ import annotations\n{text}"
    assert runs(postponed, tmp_path) == HEADS[head]
    assert check_text(postponed, "file.py").ok == HEADS[head]
    assert check_text(script, "file.rlx", "0.27").ok == HEADS[head]


SHARED = {
    'x: R.Tensor(("x",))': False,
    'x: R.Tensor((2,)), y: R.Tensor(("x",))': False,
    'x: R.Tensor(("n",)), n: R.Tensor((2,))': False,
    'x: R.Tensor(("n",)), n: R.Prim("int64")': False,
    'n: R.Prim("int64"), x: R.Tensor(("n",))': True,
    'n: T.int64, x: R.Tensor(("n",))': True,
    'x: R.Tensor(("n",))):\n    x = T.int64(': False,
    'x: R.Tensor(("n",))):\n    n = T.int64(': True,
}
"""Parameters, and whether TVM allows that a dimension of the function has the name of one."""


@pytest.mark.parametrize("parameters", SHARED)
def test_a_dimension_with_the_name_of_a_variable(parameters: str, tmp_path: Path) -> None:
    end = ")" if "\n" in parameters else "):"
    script = f"@R.function\ndef f({parameters}{end}\n    return x\n"
    text = f"from tvm.script import relax as R, tirx as T\n{script}"
    assert runs(text, tmp_path) == SHARED[parameters]
    assert check_text(text, "file.py").ok == SHARED[parameters]
    assert check_text(script, "file.rlx").ok == SHARED[parameters]
