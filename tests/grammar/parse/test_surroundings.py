"""Python around a program: constants are resolved, other names are captured, imports are followed."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast

HEAD = "from tvm.script import ir as I, relax as rx\nimport tvm.script.relax as R\nN, M = 4, 8\nDT = 'float32'\n"


def _errors(body: str, around: str = "", head: str = HEAD) -> list[str]:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = f"{head}def make(config, *args):\n    {around}\n    @rx.function\n    def f(x: rx.Tensor((N, M), DT)):\n{lines}"
    return [d.code for d in check_text(text, "a.py").diagnostics if d.severity != "note"]


@pytest.mark.parametrize(
    "body",
    [
        "return R.reshape(x, (M, N))",
        "return R.reshape(x, (N * M,))",
        "return R.sum(x, axis=N - 3)",
        "return R.exp(x).astype('float16')",
        "return R.reshape(x, (config.n, -1))",
        "return R.softmax(x) if config.soft else x",
        "y = R.concat([x for _ in range(N)])\nreturn R.reshape(y, (3, 3))",
        "y = R.call_pure_packed(f'f{N}', x, sinfo_args=R.Tensor((N, M), DT))\nreturn y",
        "return R.astype(x, config.dtype)",
        "return R.add(x, R.const(config.bias, config.dtype))",
        "return R.reshape(x, (*args, N))",
    ],
)
def test_what_python_gives_is_no_error(body: str) -> None:
    assert _errors(body) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return R.reshape(x, (M, M))", "OBL-reshape-count"),
        ("return R.add(x, undefined)", "WF02-undefined"),
        ("return R.sum(x, axis=N)", "OBL-axis-range"),
        ("y = R.exp(x\nreturn y", "PARSE"),
    ],
)
def test_what_is_wrong_whatever_python_gives_is_an_error(body: str, code: str) -> None:
    assert _errors(body) == [code]


def test_a_constant_that_is_bound_twice_is_captured() -> None:
    body = "return R.reshape(x, (K, 3))"
    assert _errors(body, "K = 5") == ["OBL-reshape-count"]
    assert _errors(body, "K = config.k") == []
    assert _errors(body, "if config:\n        K = 5") == []


@pytest.mark.parametrize(
    ("steps", "codes"), [(1, ["OBL-reshape-count"]), (20, ["OBL-reshape-count"]), (99, [])]
)
def test_a_name_may_be_given_by_names(steps: int, codes: list[str]) -> None:
    """Twenty steps are followed; what lies behind more of them is taken as it comes."""
    head = HEAD + "C0 = 5\n" + "".join(f"C{at + 1} = C{at}\n" for at in range(steps))
    assert _errors(f"return R.reshape(x, (C{steps},))", head=head) == codes


def test_names_that_are_given_by_each_other_are_captured() -> None:
    assert _errors("return R.reshape(x, (A,))", head=HEAD + "A = B\nB = A\n") == []


def test_what_a_shell_shows_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell keeps the last value as `_` among Python's own names; what a program says does not depend on that."""
    text = "x = 1\n@R.function\ndef main(x: R.Tensor[_, 'float32']):\n    return x\n"
    alone = [str(found) for found in check_text(text, "a.py").diagnostics]
    monkeypatch.setattr("builtins._", 3, raising=False)
    assert [str(found) for found in check_text(text, "a.py").diagnostics] == alone


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("z = R.reshape(x, (4,))", "OBL-reshape-count"),
        ("z = M.h(x)", "D14-argument"),
        ("z: R.Tensor((4,), DT) = x", "D11-annotation"),
    ],
)
@pytest.mark.parametrize("given", ["other.m", "'m'", "4"])
@pytest.mark.parametrize(("size", "doubted"), [("'n'", True), ("other.n", False), ("4", False)])
def test_only_what_python_gives_itself_is_not_doubted(
    size: str, doubted: bool, given: str, statement: str, code: str
) -> None:
    """A size of the program is doubted, whatever Python gives to another tensor."""
    text = (
        f"import other\n{HEAD}@I.ir_module\nclass M:\n"
        "    @R.function\n    def h(x: R.Tensor((4,), DT)) -> R.Tensor((4,), DT):\n        return x\n"
        f"    @R.function\n    def g(x: R.Tensor(({size},), DT), y: R.Tensor(({given},), DT)):\n"
        f"        {statement}\n        return (y, z)\n"
    )
    found = [(d.severity, d.code) for d in check_text(text, "a.py").diagnostics]
    assert [f for f in found if f[0] != "note"] == ([("warning", code)] if doubted else [])


@pytest.mark.parametrize(("given", "ndim"), [("config.n", -1), ("-1", -1), ("0", 0), ("N", 4)])
@pytest.mark.parametrize("annotation", ["R.Tensor(ndim={}, dtype=DT)", "R.Shape(ndim={})"])
def test_a_rank_that_python_gives_is_not_known(annotation: str, given: str, ndim: int) -> None:
    text = f"{HEAD}@rx.function\ndef f(x: {annotation.format(given)}):\n    return x\n"
    (module,) = check_text(f"import config\n{text}", "a.py").modules
    (function,) = module.functions.values()
    assert isinstance(function, ast.Function)
    info = function.params[0].struct_info_annotation
    assert isinstance(info, ast.TensorStructInfo | ast.ShapeStructInfo)
    assert info.ndim == ndim


@pytest.mark.parametrize(
    "body",
    [
        "y = config.layer(x)\nreturn R.reshape(y, (3, 3))",
        "y = (config[0])(x)\nreturn R.reshape(y, (3, 3))",
        "y = (config.layer)(x)\nreturn R.reshape(y, (3, 3))",
        "return R.reshape(x, config[0])",
        "y: R.Tensor(config.shape, DT) = x\nz: R.Tensor((2, 16), DT) = y\nreturn z",
        "y: R.Tensor(ndim=config.rank, dtype=DT) = x\nz: R.Tensor((2, 16), DT) = y\nreturn z",
        "y: R.Tensor((4, 8), config.dtype) = x\nz: R.Tensor((4, 8), 'int8') = y\nreturn z",
        "@rx.function\ndef g(s: R.Shape(config.shape)):\n    t: R.Shape([2, 16]) = s\n    return t\nreturn x",
        "@rx.function\ndef g(s: R.Shape(ndim=config.rank)):\n    t: R.Shape([2, 16]) = s\n    return t\nreturn x",
    ],
)
def test_what_python_gives_of_a_value_or_annotation_may_be_anything(body: str) -> None:
    assert _errors(body) == []


@pytest.mark.parametrize(
    ("around", "codes"),
    [
        ("K, L = 4, 8", []),
        ("K, L = 4, 9", ["OBL-reshape-count"]),
        ("K, L = (4,)", []),  # Python refuses it when it runs
        ("K, L = 4", []),
    ],
)
def test_names_bound_together(around: str, codes: list[str]) -> None:
    assert _errors("return R.reshape(x, (K, L))", around) == codes


def test_a_bracket_that_is_not_closed_may_have_swallowed_a_binding() -> None:
    assert _errors("return R.reshape(x, (K, 3))", head=HEAD + "K = 5\n") == ["OBL-reshape-count"]
    assert _errors("return R.reshape(x, (K, 3))", head=HEAD + "foo(\nK = 5\n") == []


def test_a_long_string_is_captured() -> None:
    body = "y = R.call_pure_packed(K, x, sinfo_args=R.Object)\nreturn y"
    assert _errors(body, "K = 'a' * 1200") == _errors(body, f"K = 'b' + {'b' * 1000!r}") == []


@pytest.mark.parametrize("decorator", ["config", "config(3)", "config.traced"])
def test_a_decorator_that_python_gives_may_do_anything(decorator: str) -> None:
    text = f"""{HEAD}
def make(config):
    @rx.function
    @{decorator}
    def f(x: rx.Tensor((N, M), DT)):
        return x
"""
    assert [d.code for d in check_text(text, "a.py").diagnostics if d.severity != "note"] == []
    wrong = text.replace(f"@{decorator}", "@undefined")
    assert [d.message for d in check_text(wrong, "a.py").diagnostics] == [
        "unknown decorator 'undefined'"
    ]


def test_a_class_of_functions_without_decorators_is_told_once() -> None:
    function = "    def {}(x: R.Tensor((4,))):\n        return x\n"
    text = HEAD + "class N:\n" + function.format("f") + "class M:\n" + function.format("g")
    assert [d.message for d in check_text(text, "a.py").diagnostics] == [
        f"the class {name!r} has no decorator, so rlx does not read it" for name in "NM"
    ]


KERNEL = """
import numpy as np
from tvm.script import tirx as T

def reference(A):
    Y = np.zeros(8)  # as TX
    return Y

def make(n):
    TX = T.int64(8)
    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        for i in range({extent}):
            A[i] = {value}
    return f
"""


@pytest.mark.parametrize(
    ("extent", "value", "codes"),
    [
        ("TX", "T.float32(0)", []),
        ("n", "T.float32(0)", []),
        ("n", "Y[i]", ["TIR01-undefined"]),
        ("TY", "T.float32(0)", ["TIR01-undefined"]),
    ],
)
def test_names_of_a_prim_func_are_those_that_python_sees_there(
    extent: str, value: str, codes: list[str]
) -> None:
    found = check_text(KERNEL.format(extent=extent, value=value), "a.py").diagnostics
    assert [d.code for d in found if d.severity == "error"] == codes
