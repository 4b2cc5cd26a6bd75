"""Modules that Python makes of functions, and their attributes."""

from __future__ import annotations

import pytest

import rlx
from rlx.grammar.nodes import ast

MODULE = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def callee(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.exp(x)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        return cls.callee(x)

    @T.prim_func(private=True)
    def kernel(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)
""")


def test_names_may_be_texts() -> None:
    made = rlx.IRModule({name: MODULE[name] for name in ("callee", "main", "kernel")})  # type: ignore[misc]
    assert made.get_global_var("callee") is MODULE.get_global_var("callee")  # it is called
    assert rlx.check(made).ok and rlx.show(made) == rlx.show(MODULE)


def test_a_module_of_one_function() -> None:
    callee = MODULE["callee"]
    made = rlx.IRModule.from_expr(callee)
    assert [gv.name_hint for gv in made] == ["callee"] and made["callee"] is callee
    assert [gv.name_hint for gv in rlx.IRModule.from_expr(MODULE["kernel"])] == ["main"]


@pytest.mark.parametrize("wrong", [None, [], {"main": 3}, {3: MODULE["main"]}, MODULE["main"]])
def test_what_makes_no_module(wrong: object) -> None:
    with pytest.raises(rlx.MisuseError, match="expected functions by name"):
        rlx.IRModule(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("subject", [MODULE, MODULE["main"], MODULE["kernel"]])
def test_attributes(subject: rlx.IRModule | ast.Function) -> None:
    made = subject.with_attr("note", 1).with_attrs({"word": "a", "note": 2})
    assert (made.get_attr("note"), made.get_attr("word"), made.get_attr("none", 3)) == (2, "a", 3)
    assert "note" not in made.without_attr("note").attrs and "note" not in subject.attrs


def test_modules_do_not_change() -> None:
    with pytest.raises(TypeError, match="modules do not change"):
        MODULE["main"] = MODULE["callee"]  # type: ignore[index]
