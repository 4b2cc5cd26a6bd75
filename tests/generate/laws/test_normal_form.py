"""Normalisation gives normal form, changes nothing that has it, and keeps rightness and meaning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import check_module
from rlx.checker.normal_form import normal_form
from rlx.checker.normalize import normalize
from rlx.generate import inputs_for, modules
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

from .running import RUNNABLE, entry, run, same


@given(modules())
def test_normal_form_is_reached(module: ast.IRModule) -> None:
    assert normal_form(normalize(module)) == []


@given(modules())
def test_normalisation_is_idempotent(module: ast.IRModule) -> None:
    once = normalize(module)
    assert structural_equal(once, normalize(once))


@given(modules())
def test_normalisation_keeps_rightness(module: ast.IRModule) -> None:
    assert check_module(normalize(module), Source("normal", "")).diagnostics == ()


@given(modules(features=RUNNABLE), st.data())
def test_normalisation_keeps_meaning(module: ast.IRModule, data: st.DataObject) -> None:
    """The program that the text of the normal form says ends as the program itself."""
    inputs = data.draw(inputs_for(entry(module)))
    (normal,) = parse(print_module(normalize(module))).modules
    assert same(run(module, inputs), run(normal, inputs))
