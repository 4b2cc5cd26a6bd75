"""The rewriting visitors: the same objects where nothing changes, new variables where annotations do."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import print_module

from .programs import CLEAN, TEXTS, module_of, report


class Rebuilder(Rewriter):
    """Makes every call, and every integer literal, anew."""

    def call(self, call: ast.Call) -> ast.Expr:
        new = super().call(call)
        assert isinstance(new, ast.Call)
        return ast.Call(new.op, new.args, new.attrs, new.sinfo_args)

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        return tir.IntImm(expr.value, expr.dtype) if isinstance(expr, tir.IntImm) else expr


class Renamer(Rewriter):
    """Puts one shape variable in place of another."""

    def __init__(self, old: tir.Var, new: PrimExpr) -> None:
        super().__init__()
        self.old, self.new = old, new

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        return self.new if expr is self.old else expr


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_changed_is_the_same_object(name: str) -> None:
    for module in report(name).modules:
        assert Rewriter().module(module) is module


@pytest.mark.parametrize("name", CLEAN)
def test_a_rebuilt_module_is_equal(name: str) -> None:
    for module in report(name).modules:
        rebuilt = Rebuilder().module(module)
        assert structural_equal(rebuilt, module)
        assert print_module(rebuilt) == print_module(module)


EVERYTHING = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool"), s: R.Shape(["n"])) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            a: R.Tensor((n, 4), "float32") = R.nn.relu(x)
            b = R.match_cast(a, R.Tensor((m, 4), "float32"))
            t = (a, b)
            u = t[1]
            R.output(a, u)
        @R.function
        def inner(y: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):
            z: R.Tensor((n, 4), "float32") = R.add(y, a)
            return z
        if c:
            w: R.Tensor((n, 4), "float32") = inner(a)
        else:
            w: R.Tensor((n, 4), "float32") = R.reshape(a, R.shape([n, 4]))
        p = R.call_pure_packed("f", w, R.prim_value(n), sinfo_args=R.Tuple(R.Tensor((n,), "int64"), R.Prim(value=n)))
        return w
"""


def test_a_change_reaches_every_place() -> None:
    """Annotations, shape literals, type arguments, boxed scalars, nested functions, branches."""
    module = module_of(EVERYTHING)
    (function,) = module.functions.values()
    assert isinstance(function, ast.Function)
    n = function.shape_vars[0]
    renamed = Renamer(n, tir.Var("q")).module(module)
    text = print_module(renamed)
    assert text.count("q") >= 12
    before = print_module(module).replace('("n"', '("q"').replace("(n", "(q")
    assert "(n, 4)" not in text
    assert text.count("(q, 4)") == before.count("(q, 4)")
    assert '"f", w, q, ' in text
    assert "R.shape([q, 4])" in text


def test_uses_follow_their_variable() -> None:
    module = module_of(EVERYTHING)
    (function,) = module.functions.values()
    assert isinstance(function, ast.Function)
    renamed = Renamer(function.shape_vars[0], tir.Var("q")).module(module)
    (new,) = renamed.functions.values()
    assert isinstance(new, ast.Function)
    old = {v for v in expressions(function) if isinstance(v, ast.Var) and v.struct_info_annotation}
    shared = {v for v in expressions(new) if isinstance(v, ast.Var)} & old
    assert {v.name_hint for v in shared} == {"c"}


def test_a_binding_may_become_none_or_several() -> None:
    class Twice(Rewriter):
        def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
            if binding.var.name_hint == "drop":
                return ()
            extra = ast.VarBinding(ast.Var(f"{binding.var.name_hint}_"), binding.value)
            return (extra, *super().var_binding(binding))

    module = module_of(
        "@R.function(pure=False)\n"
        'def main(x: R.Tensor((4,), "float32")):\n'
        "    first = R.nn.relu(x)\n"
        "    with R.dataflow():\n"
        "        drop = R.nn.relu(x)\n"
        "        R.output(drop)\n"
        "    second = R.nn.relu(x)\n"
        "    return second\n"
    )
    text = print_module(Twice().module(module))
    names = [line.split(" = ")[0].strip() for line in text.splitlines() if " = " in line]
    assert names == ["first_", "first", "second_", "second"]
    assert "dataflow" not in text
    (function,) = Twice().module(module).functions.values()
    assert isinstance(function, ast.Function)
    assert isinstance(function.body, ast.SeqExpr)
    assert len(function.body.blocks) == 1


def test_a_long_function_is_no_problem() -> None:
    steps = "".join(f"    v{k} = R.nn.relu(v{k - 1})\n" for k in range(1, 3000))
    text = f'@R.function\ndef main(v0: R.Tensor((4,), "float32")):\n{steps}    return v2999\n'
    module = module_of(text)
    assert Rewriter().module(module) is module
    assert Rebuilder().module(module) is not module
