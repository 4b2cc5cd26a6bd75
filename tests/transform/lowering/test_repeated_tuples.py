"""Tuples whose fields are shared: as many checks as there are fields, or a refusal."""

from __future__ import annotations

from itertools import pairwise

import pytest

import rlx
from rlx.checker.dynamic_checks import analyse
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo, TupleStructInfo
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.print.printer import print_module
from rlx.transform.lowering.passes import PassError
from rlx.vm.compilation import STAGES


def closure(levels: int) -> str:
    """A program whose closure, which a tuple holds, captures tuples that double."""
    names = ["x", *(f"v{k}" for k in range(levels))]
    doubled = "".join(f"    {name} = ({before}, {before})\n" for before, name in pairwise(names))
    return f"""@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
{doubled}    @R.function
    def f(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        z = {names[-1]}
        w = R.add(y, y)
        return w
    held = (f,)
    g = held[0]
    r = g(x)
    return r
"""


def lowered(levels: int) -> str:
    module = rlx.load(closure(levels))
    for stage in STAGES:
        module = stage()(module)
    return print_module(module)


def test_each_field_is_checked() -> None:
    text = lowered(3)
    assert text.count('"vm.builtin.check_tuple_info"') == 1 + 2 + 4
    assert text.count('"vm.builtin.check_tensor_info", field') == 8


def test_the_texts_of_checks_repeat_no_long_annotation() -> None:
    checks = [line for line in lowered(7).splitlines() if "vm.builtin.check_" in line]
    assert len(checks) > 250
    assert max(map(len, checks)) < 2_000


def test_more_checks_than_anybody_reads_are_refused() -> None:
    with pytest.raises(PassError, match=r"main_f: parameter 1, v59.* more than 1,000"):
        lowered(60)


def repeated(leaf: StructInfo, levels: int = 60) -> StructInfo:
    for _ in range(levels):
        leaf = TupleStructInfo((leaf, leaf))
    return leaf


def sized(n: tir.Var) -> TensorStructInfo:
    return TensorStructInfo(ast.ShapeExpr((n,)), dtype("float32"), 1)


def test_a_check_that_is_not_looked_into_stays_needed() -> None:
    """Neither the tuple nor a variable that it binds counts as known for what follows it."""
    n = tir.Var("n")
    wide, x = ast.Var("wide", repeated(sized(n))), ast.Var("x", sized(n))
    inner = ast.Function((wide, x), x, sized(n), True, {}, (n,))
    name = ast.GlobalVar("inner")
    m = tir.Var("m")
    a, b = ast.Var("a", repeated(sized(m))), ast.Var("b", sized(m))
    call = ast.Call(name, (a, b))
    main = ast.Function((a, b), call, sized(m), True, {"global_symbol": "main"}, (m,))
    module = ast.IRModule({name: inner, ast.GlobalVar("main"): main})
    found = {(c.function, c.subject): c.status for c in analyse(normalize(module))}
    assert found["inner", "wide"] == "needed"
    assert found["inner", "x"] == "needed"
    assert found["main", "a"] == "needed"
