"""The output of a failing test: programs to paste, not the plans that they were made of."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

import rlx
from rlx.generate import functions, modules, prim_funcs, struct_infos
from rlx.grammar.nodes.ast import Function, IRModule, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.tir import PrimFunc

FAST = settings()


def pasted(text: str) -> object:
    """The value of the printed expression."""
    value: object = eval(text, {"rlx": rlx})
    return value


@FAST
@given(modules())
def test_a_module_is_pasted_back(module: IRModule) -> None:
    again = pasted(pretty(module))
    assert isinstance(again, IRModule) and structural_equal(again, module)


@FAST
@given(functions(), prim_funcs(rare=True))
def test_a_function_is_pasted_back(function: Function, prim: PrimFunc) -> None:
    for one in (function, prim):
        again = pasted(pretty(one))
        assert isinstance(again, Node) and structural_equal(again, one)


def test_a_failing_test_prints_the_program() -> None:
    @settings(database=None, deadline=None, max_examples=50, phases=[Phase.generate])
    @given(modules(size=3), struct_infos(), st.data())
    def test(module: IRModule, info: StructInfo, data: st.DataObject) -> None:
        drawn = data.draw(functions(size=1))
        assert drawn is None

    try:
        test()
    except AssertionError as error:
        said = "\n".join(getattr(error, "__notes__", ()))
    assert "module=rlx.parse('''\n" in said and "@I.ir_module\nclass Module:" in said
    assert "info=R." in said
    assert "Draw 1: rlx.parse('''\n@R.function\ndef main(" in said
    assert "Plan(" not in said and "\\x00" not in said


def test_strings_that_end_a_literal() -> None:
    text = "@R.function(pure=False)\ndef f(x: R.Any):\n    _ = R.print(x, format=\"''' \\\\n {}\")\n    return x\n"
    module = rlx.parse(text)
    again = pasted(pretty(module))
    assert isinstance(again, IRModule) and structural_equal(again, module)


def test_a_class_is_shown_as_before() -> None:
    """Printers look for methods on whatever they print, classes too."""
    assert "IRModule" in pretty([IRModule])


def test_functions_by_name() -> None:
    module = rlx.parse("@R.function\ndef f(x: R.Any):\n    return x\n")
    assert isinstance(module["f"], Function)
    try:
        module["g"]
    except KeyError as error:
        assert "it has: f" in str(error)
