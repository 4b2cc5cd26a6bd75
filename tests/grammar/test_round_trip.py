"""A printed program reads back as the same program, in every dialect."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.grammar.dialects import DIALECTS
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.print.printer import print_module, print_prim_expr, print_struct_info
from rlx.grammar.read.parser import parse, parse_prim_expr, parse_struct_info

from .strategies import dims, modules, struct_infos

SLOW = settings(deadline=None)
VERSIONS = ["0.16", "0.24", "0.25", "0.26", "0.27"]
"""One of each kind; the versions between differ in nothing but their name."""
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.rlx"))


def read(text: str) -> ast.IRModule:
    """The one module of a text without errors."""
    parsed = parse(text)
    errors = [d.message for d in parsed.diagnostics if d.is_error]
    assert not errors, f"{errors}\n{text}"
    (module,) = parsed.modules
    return module


@SLOW
@given(modules(), st.sampled_from(VERSIONS))
def test_a_module_reads_back_equal_and_prints_the_same(module: ast.IRModule, version: str) -> None:
    text = print_module(module, version)
    again = read(text)
    assert first_difference(module, again) is None, text
    assert print_module(again, version) == text


@SLOW
@given(modules(), st.sampled_from(VERSIONS), st.sampled_from(VERSIONS))
def test_dialects_can_be_changed_and_changed_back(
    module: ast.IRModule, first: str, second: str
) -> None:
    there = read(print_module(module, first))
    back = read(print_module(there, second))
    assert first_difference(module, back) is None


@SLOW
@given(modules())
def test_comments_above_definitions_survive(module: ast.IRModule) -> None:
    again = read(print_module(module))
    assert again.comments == module.comments
    before = [f.comments for f in module.functions.values()]
    assert [f.comments for f in again.functions.values()] == before


@SLOW
@given(dims())
def test_a_dimension_reads_back_equal(dim: tir.PrimExpr) -> None:
    again = parse_prim_expr(print_prim_expr(dim))
    assert first_difference(dim, again, map_free_vars=True) is None


@SLOW
@given(struct_infos(), st.sampled_from(VERSIONS))
def test_struct_info_reads_back_equal(info: ast.StructInfo, version: str) -> None:
    again = parse_struct_info(print_struct_info(info, version))
    assert first_difference(info, again, map_free_vars=True) is None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("version", list(DIALECTS))
def test_examples_read_back_equal(path: Path, version: str) -> None:
    parsed = parse(path.read_text())
    for module in parsed.modules:
        text = print_module(module, version)
        assert first_difference(module, read(text)) is None
        assert print_module(read(text), version) == text


def test_a_tuple_of_shape_type_reads_back() -> None:
    text = """@R.function
def f(x: R.Tensor((4,), "float32")):
    y: R.Shape(ndim=0) = R.tuple(R.tuple(x, R.shape([])))
    return x
"""
    module = read(text)
    assert first_difference(module, read(print_module(module))) is None
