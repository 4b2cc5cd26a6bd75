"""D17: scalars that are dimensions, and variables that are given for shapes. Programs in pairs: one holds, one does not."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Ended, Returned
from rlx.semantics.values import Tensor
from tests.semantics.machine.running import value

ZEROS = 'R.zeros(R.shape([{}]), "float32")'


def program(signature: str, body: str, *others: str) -> str:
    """A module with ``main`` and other functions of the same form."""
    text = "@I.ir_module\nclass M:\n"
    for head in (*others, f"main{signature}\n{body}"):
        first, *lines = head.strip("\n").split("\n")
        text += f"    @R.function\n    def {first}:\n"
        text += "".join(f"        {line}\n" for line in lines)
    return text


def codes(text: str) -> list[str]:
    """Codes of errors and warnings."""
    return [d.code for d in check_text(text).diagnostics if d.severity != "note"]


CALLEE = (
    'f(n: T.int64) -> R.Tensor((n,), "float32")\ny = R.zeros(R.shape([n]), "float32")\nreturn y'
)
BOTH = 'f(n: T.int64, x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32")\nreturn x'
TAKES = 'f(s: R.Shape(ndim=2), x: R.Tensor(s, "float32")) -> R.Tensor(s, "float32")\nreturn x'

GOOD = {
    "a parameter is a dimension": program(
        '(stop: T.int64, x: R.Tensor((stop,), "float32")) -> R.Tensor((stop,), "float32")',
        "return x",
    ),
    "arange": program(
        '(stop: T.int64) -> R.Tensor((stop,), "int64")', "y = R.arange(0, stop, 1)\nreturn y"
    ),
    "R.Prim is the same": program(
        '(stop: R.Prim("int64")) -> R.Tensor((stop,), "int64")', "y = R.arange(stop)\nreturn y"
    ),
    "only in an expression": program(
        '(n: T.int64, x: R.Tensor((n * 2 + 1,), "float32")) -> R.Tensor((n * 2 + 1,), "float32")',
        "return x",
    ),
    "in quotes": program(
        '(n: T.int64, x: R.Tensor(("n", "n * 2"), "float32")) -> R.Tensor(("n", "n * 2"), "float32")',
        "return x",
    ),
    "a value": program(
        '(n: T.int64) -> R.Tensor((n + 1,), "float32")',
        f"k = n + 1\ny = {ZEROS.format('k')}\nreturn y",
    ),
    "an annotated value": program(
        '(n: T.int64) -> R.Tensor((n + 1,), "float32")',
        f"k: T.int64 = R.prim_value(n + 1)\ny = {ZEROS.format('k')}\nreturn y",
    ),
    "a value of a value": program(
        '(n: T.int64) -> R.Tensor((n * 2 + 2,), "float32")',
        f"k = n + 1\nl = k * 2\ny = {ZEROS.format('l')}\nreturn y",
    ),
    "a field": program(
        '(t: R.Tuple(T.int64, T.int64)) -> R.Tensor("float32", ndim=2)',
        f"k = t[0]\ny = {ZEROS.format('k, k + 1')}\nreturn y",
    ),
    "a cast": program(
        '(o: R.Object) -> R.Tensor("float32", ndim=1)',
        f"k = R.match_cast(o, T.int64)\ny = {ZEROS.format('k')}\nreturn y",
    ),
    "a result of a call": program(
        '(n: T.int64) -> R.Tensor("float32", ndim=1)',
        f"k = cls.f(n)\ny = {ZEROS.format('k')}\nreturn y",
        "f(n: T.int64) -> T.int64\nreturn n",
    ),
    "a call substitutes": program(
        '(m: T.int64) -> R.Tensor((m + 1,), "float32")', "z = cls.f(m + 1)\nreturn z", CALLEE
    ),
    "a call with a number": program(
        '() -> R.Tensor((3,), "float32")', "z = cls.f(R.prim_value(3))\nreturn z", CALLEE
    ),
    "two arguments agree": program(
        '(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32")',
        "z = cls.f(R.prim_value(4), x)\nreturn z",
        BOTH,
    ),
    "a closure": program(
        '(n: T.int64) -> R.Tensor((n,), "float32")',
        "@R.function\n"
        'def g(m: T.int64, x: R.Tensor((m,), "float32")) -> R.Tensor((m,), "float32"):\n'
        "    return x\n"
        'z = g(n, R.zeros(R.shape([n]), "float32"))\nreturn z',
    ),
    "a closure captures": program(
        '(n: T.int64) -> R.Tensor((n,), "float32")',
        "@R.function\n"
        'def g() -> R.Tensor((n,), "float32"):\n'
        '    y = R.zeros(R.shape([n]), "float32")\n    return y\n'
        "z = g()\nreturn z",
    ),
    "inside a dataflow block": program(
        '(n: T.int64) -> R.Tensor((n + 1,), "float32")',
        f"with R.dataflow():\n    k = n + 1\n    y = {ZEROS.format('k')}\n    R.output(y)\nreturn y",
    ),
    "a condition": program(
        '(n: T.int64, x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32")',
        "if n > 3:\n    y = x\nelse:\n    y = R.exp(x)\nreturn y",
    ),
    "a cast proves": program(
        '(n: T.int64, x: R.Tensor("float32", ndim=1)) -> R.Tensor((n,), "float32")',
        'y = R.match_cast(x, R.Tensor((n,), "float32"))\nreturn y',
    ),
    "other scalars": program(
        '(a: T.float32, b: T.bool, c: T.int32, x: R.Tensor((3,), "float32")) -> R.Object',
        "d = c + 1\ne = a * a\nif b:\n    y = x\nelse:\n    y = R.exp(x)\nreturn y",
    ),
    "a shape": program(
        '(s: R.Shape(ndim=2), x: R.Tensor(s, "float32")) -> R.Tensor(s, "float32")', "return x"
    ),
    "of any rank": program(
        '(s: R.Shape, x: R.Tensor(s, "float32")) -> R.Tensor(s, "float32")', "return x"
    ),
    "a shape that is known": program(
        '(x: R.Tensor((n, m), "float32")) -> R.Tensor((n * m,), "float32")',
        'lv: R.Shape = (n * m,)\ngv: R.Tensor(lv, "float32") = R.flatten(x)\nreturn gv',
    ),
    "a shape by another name": program(
        '(c: R.Tensor((), "bool"), s: R.Shape(ndim=2)) -> R.Tensor(s, "float32")',
        'if c:\n    t = s\n    z = R.zeros(t, "float32")\nelse:\n    z = R.ones(s, "float32")\nreturn z',
    ),
    "of any rank by another name": program(
        '(s: R.Shape, x: R.Tensor(s, "float32")) -> R.Tensor(s, "float32")',
        't = s\ny = R.match_cast(x, R.Tensor(t, "float32"))\nreturn y',
    ),
    "a call with a shape": program(
        '(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32")',
        "y = cls.f(R.shape([2, 3]), x)\nreturn y",
        TAKES,
    ),
    "a call with a shape that is unknown": program(
        '(s: R.Shape(ndim=2), x: R.Tensor(s, "float32")) -> R.Tensor(s, "float32")',
        "y = cls.f(s, x)\nreturn y",
        TAKES,
    ),
    "a shape in its block": program(
        '(x: R.Tensor("float32", ndim=1), o: R.Object) -> R.Object',
        'with R.dataflow():\n    s = R.shape_of(x)\n    z = R.match_cast(o, R.Tensor(s, "float32"))\n'
        "    w = R.exp(z)\n    R.output(w)\nreturn w",
    ),
    "operators know the shape": program(
        '(s: R.Shape(ndim=2), x: R.Tensor(s, "float32"), y: R.Tensor(s, "float32"))'
        ' -> R.Tensor(s, "float32")',
        "z = R.add(x, y)\nreturn z",
    ),
}

BAD = {
    "another number": (
        program(
            '(n: T.int64) -> R.Tensor((n,), "float32")', f"y = {ZEROS.format('n + 1')}\nreturn y"
        ),
        "D15-result",
    ),
    "another scalar": (
        program(
            '(n: T.int64, m: T.int64, x: R.Tensor((n,), "float32")) -> R.Tensor((m,), "float32")',
            "return x",
        ),
        "D15-result",
    ),
    "two arguments differ": (
        program(
            '(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32")',
            "z = cls.f(R.prim_value(5), x)\nreturn z",
            BOTH,
        ),
        "D14-binding",
    ),
    "behind its use": (
        program(
            '(x: R.Tensor((n,), "float32"), n: T.int64) -> R.Tensor((n,), "float32")', "return x"
        ),
        "WF06-order",
    ),
    "of float32": (
        program(
            '(n: T.float32, x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32")', "return x"
        ),
        "WF05-dtype",
    ),
    "of int32": (
        program("(n: T.int32) -> R.Object", f"y = {ZEROS.format('n')}\nreturn y"),
        "WF05-dtype",
    ),
    "a tensor": (
        program('(n: R.Tensor((), "int64"), x: R.Tensor((n,), "float32")) -> R.Object', "return x"),
        "D17-dimension",
    ),
    "a value that is a tensor": (
        program(
            '(x: R.Tensor((3,), "float32")) -> R.Object',
            f"k = R.exp(x)\ny = {ZEROS.format('k')}\nreturn y",
        ),
        "D17-dimension",
    ),
    "a value of which nothing is known": (
        program("(o: R.Object) -> R.Object", f"k = o\ny = {ZEROS.format('k')}\nreturn y"),
        "D17-dimension",
    ),
    "a value that is an int32": (
        program(
            "(t: R.Tuple(R.Tensor, T.int32)) -> R.Object",
            f"u = t\nk = u[1]\ny = {ZEROS.format('k')}\nreturn y",
        ),
        "D17-dimension",
    ),
    "outside of its block": (
        program(
            "(n: T.int64) -> R.Object",
            'with R.dataflow():\n    k = n + 1\n    y = R.exp(R.zeros(R.shape([n]), "float32"))\n'
            f"    R.output(y)\nz = {ZEROS.format('k')}\nreturn z",
        ),
        "WF01-escape",
    ),
    "outside of its branch": (
        program(
            '(n: T.int64, c: R.Tensor((), "bool")) -> R.Object',
            f"if c:\n    k = n + 1\n    y = {ZEROS.format('k')}\nelse:\n    y = {ZEROS.format('n')}\n"
            f"z = {ZEROS.format('k')}\nreturn z",
        ),
        "WF05-unbound",
    ),
    "the result names what the body binds": (
        program(
            '(n: T.int64) -> R.Tensor((k,), "float32")', f"k = n\ny = {ZEROS.format('k')}\nreturn y"
        ),
        "WF04-unbound",
    ),
    "a negative scalar": (
        program(
            '(n: T.int64, x: R.Tensor((3,), "float32")) -> R.Object',
            "y = R.reshape(x, (n - n + 3, T.max(n, 0) - n + 1))\nreturn y",
        ),
        "OBL-reshape-count",
    ),
    "no shape": (
        program('(t: R.Tensor((2,), "int64"), x: R.Tensor(t, "float32")) -> R.Object', "return x"),
        "D17-shape",
    ),
    "any object as shape": (
        program('(t: R.Object, x: R.Tensor(t, "float32")) -> R.Object', "return x"),
        "D17-shape",
    ),
    "another rank": (
        program('(s: R.Shape(ndim=2), x: R.Tensor(s, "float32", ndim=1)) -> R.Object', "return x"),
        "D17-rank",
    ),
    "another rank in a tuple": (
        program(
            '(s: R.Shape([2, 3]), x: R.Tuple(R.Tensor(s, "float32", ndim=3))) -> R.Object',
            "return x",
        ),
        "D17-rank",
    ),
    "a shape behind its use": (
        program('(x: R.Tensor(s, "float32"), s: R.Shape(ndim=1)) -> R.Object', "return x"),
        "WF14-variable",
    ),
    "a shape outside of its block": (
        program(
            '(x: R.Tensor("float32", ndim=1), o: R.Object) -> R.Object',
            "with R.dataflow():\n    s = R.shape_of(x)\n    z = R.exp(x)\n    R.output(z)\n"
            'y = R.match_cast(o, R.Tensor(s, "float32"))\nreturn y',
        ),
        "WF01-escape",
    ),
    "a shape that a function captures": (
        program(
            '(x: R.Tensor("float32", ndim=1)) -> R.Object',
            "with R.dataflow():\n    s = R.shape_of(x)\n    @R.function\n"
            "    def f(b: R.Object) -> R.Object:\n"
            '        c = R.match_cast(b, R.Tensor(s, "float32"))\n        return c\n'
            '    y = f(R.zeros(R.shape([9]), "float32"))\n    R.output(y)\nreturn y',
        ),
        "WF11-capture",
    ),
    "a shape that is known to be another": (
        program(
            '(x: R.Tensor((n, m), "float32")) -> R.Tensor((n * m,), "float32")',
            'lv: R.Shape = (n * m + 1,)\ngv: R.Tensor(lv, "float32") = R.flatten(x)\nreturn gv',
        ),
        "D11-annotation",
    ),
    "a call with another shape": (
        program(
            '(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32")',
            "y = cls.f(R.shape([2, 4]), x)\nreturn y",
            TAKES,
        ),
        "D14-binding",
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_it_holds(name: str) -> None:
    assert codes(GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_it_does_not_hold(name: str) -> None:
    text, code = BAD[name]
    assert codes(text) == [code]


def run(text: str, *args: object) -> object:
    (module,) = parse(text).modules
    outcome = load(module).run("main", [value(arg) for arg in args])
    if isinstance(outcome, Returned):
        return outcome.value.shape if isinstance(outcome.value, Tensor) else outcome.value
    assert isinstance(outcome, Ended)
    return outcome.code


RUNS = [
    ("arange", (3,), (3,)),
    ("a value", (2,), (3,)),
    ("a value", (-2,), "E-lengths-negative"),
    ("a value of a value", (0,), (2,)),
    ("a field", ((4, 5),), (4, 5)),
    ("a cast", (5,), (5,)),
    ("a cast", ([5],), "E-cast-kind"),
    ("a result of a call", (6,), (6,)),
    ("a call substitutes", (6,), (7,)),
    ("a call with a number", (), (3,)),
    ("a closure", (2,), (2,)),
    ("a closure captures", (2,), (2,)),
    ("inside a dataflow block", (2,), (3,)),
]


@pytest.mark.parametrize(("name", "args", "wanted"), RUNS)
def test_it_runs(name: str, args: tuple[object, ...], wanted: object) -> None:
    assert run(GOOD[name], *args) == wanted


def test_a_packed_function_may_break_its_word() -> None:
    text = program(
        "(o: R.Object) -> R.Object",
        f'k: T.int64 = R.call_pure_packed("f", o, sinfo_args=(R.Object,))\n'
        f"y = {ZEROS.format('k')}\nreturn y",
    )
    (module,) = parse(text).modules
    outcome = load(module, packed={"f": lambda o: o}).run("main", [value([1])])
    assert isinstance(outcome, Ended)
    assert outcome.code == "E-binding-scalar"
