"""Integer expressions below an expression, variables that occur in one expression only, functions
that are used as values.
"""

from __future__ import annotations

import re
from itertools import product

import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import analyse
from rlx.checker.dynamic_checks.uses import prim_exprs, stand_once
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import ShapeStructInfo

N, M = tir.Var("n"), tir.Var("m")


def test_arguments_and_attributes_are_looked_through() -> None:
    attrs = {"pads": [N, (N + 1, 4)], "deep": {"at": (M,)}, "kind": ShapeStructInfo((N, M), 2)}
    call = ast.Call(ast.op("relax.f"), (ast.ShapeExpr((N, N * 2)),), attrs=attrs)
    found = list(prim_exprs(call))
    assert [found.count(N), found.count(M)] == [3, 2]
    assert len([each for each in found if isinstance(each, tir.Add | tir.Mul)]) == 2


def test_a_variable_stands_once_or_more_often() -> None:
    once = ast.Call(ast.op("relax.f"), (ast.ShapeExpr((N, M * M)),))
    assert stand_once(once) == {N, M}
    assert stand_once(once, {N}) == {N}
    more = ast.Call(ast.op("relax.f"), (ast.ShapeExpr((N, N + M)),), attrs={"at": (N,)})
    assert stand_once(more) == {M}


MODULE = """@I.ir_module
class M:
    @R.function(private=True)
    def f(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return a
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")):
        cls = M
        y = cls.f(x)
        {}
        return y
"""
PACKED = r'R.call_packed("g", \1, sinfo_args=R.Tuple())'
AS_VALUES = [
    *("z = cls.f", "z = (cls.f,)", "z = (x, (cls.f, x))", "z = (x, (x, cls.f))[1][1]"),
    *(
        "z = PACKED(cls.f)",
        "z = PACKED((cls.f, x))",
        "z = PACKED(x, (x, (cls.f,)))",
        "z = PACKED(x, (x,), cls.f)",
    ),
    "if c:\n            z = cls.f\n        else:\n            z = cls.f",
]
CALLED = [
    "z = cls.f(y)",
    "z = R.exp(cls.f(cls.f(x)))",
    "z = (cls.f(x), x)",
    "z = PACKED(x, (cls.f(x),))",
]


def entry(statement: str) -> str:
    """The status of the check at the entry of the private function."""
    text = MODULE.replace("{}", re.sub(r"PACKED\((.*)\)", PACKED, statement))
    report = check_text(text, "uses.rlx")
    assert [d for d in report.diagnostics if d.is_error] == []
    (module,) = report.modules
    (found,) = [c for c in analyse(module) if (c.kind, c.function) == ("entry", "f")]
    return found.status


@pytest.mark.parametrize("statement", AS_VALUES)
def test_a_function_that_stands_as_a_value_may_be_called_by_anyone(statement: str) -> None:
    assert entry(statement) == "needed"


@pytest.mark.parametrize("statement", CALLED)
def test_all_calls_of_a_function_that_is_only_called_are_known(statement: str) -> None:
    assert entry(statement) == "redundant"


CASTS = ["(k, 4)", "(n, 4)", "(n, 5)", "(n + 1, 4)", "(n, 4, 1)", "(4, n)", "(k, k)", "(m, n)"]


@pytest.mark.parametrize(
    "call", ['R.call_dps_packed("g", (x,), out_sinfo={})', "R.match_cast(x, {})"]
)
@pytest.mark.parametrize("held", ["R.shape([n, 4])", "R.shape_of(x)"])
def test_a_shape_that_a_variable_holds_is_the_shape(call: str, held: str) -> None:
    """Each cast is judged as behind the dimensions themselves."""
    declared = [f"{name} = T.int64()" for name in ("n", "k", "m")]
    judged = []
    for shape, cast in product(("(n, 4)", "t"), CASTS):
        given = call.format(f'R.Tensor({shape}, "float32")')
        lines = [f"t = {held}", f"y = {given}", f'z = R.match_cast(y, R.Tensor({cast}, "float32"))']
        text = "\n    ".join(
            ['def main(x: R.Tensor(("n", 4), "float32")):', *declared, *lines, "return y"]
        )
        (module,) = check_text(f"@R.function(pure=False)\n{text}\n", "held.rlx").modules
        judged.append([(c.status, c.reason) for c in analyse(module) if c.subject == "y"])
    assert judged[: len(CASTS)] == judged[len(CASTS) :]
    assert all(len(each) == 1 for each in judged)


@pytest.mark.parametrize(  # a negative number itself is an error of the text
    ("written", "size"),
    [*(("{}", k) for k in range(3)), *(("n - n + {}", k) for k in range(-3, 3))],
)
def test_only_a_negative_size_is_impossible_for_what_is_not_known(written: str, size: int) -> None:
    text = (
        '@R.function\ndef main(x: R.Object, p: R.Tensor(("n",))):\n    n = T.int64()\n'
        f"    y = R.match_cast(x, R.Tensor(({written.format(size)},)))\n    return y\n"
    )
    (module,) = check_text(text, "negative.rlx").modules
    (found,) = [c.status for c in analyse(module) if c.subject == "x"]
    assert found == ("impossible" if size < 0 else "needed")
