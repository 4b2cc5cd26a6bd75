"""Analyses of a program agree with TVM's `relax.analysis`, on the programs of `same_passes.md`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

pytest.importorskip("tvm")

import tvm
from tvm.relax import analysis

import rlx
from rlx import transform
from rlx.grammar.nodes import ast
from tests.markdown import BLOCK
from tests.tvm.same_passes import in_tvm


def modules() -> Iterator[ast.IRModule]:
    """The programs, in normal form, with all annotations."""
    for block in BLOCK.finditer(Path(__file__).with_name("same_passes.md").read_text("utf-8")):
        text = block["text"]
        whole = text if "class " in text else f"@I.ir_module\nclass Module:\n{indent(text, '    ')}"
        yield transform.annotated(rlx.parse(whole))


def functions() -> Iterator[tuple[ast.Function, Any]]:
    """Their functions, for rlx and for TVM."""
    for module in modules():
        read = in_tvm(module)
        for gv, function in module.relax_functions.items():
            yield function, read[gv.name_hint]


def names(variables: Any) -> list[str]:
    """Their names, without those of scalars: TVM counts shape variables among the others."""
    return sorted(
        getattr(each, "name_hint", None) or each.name
        for each in variables
        if not isinstance(getattr(each, "struct_info", None), ast.PrimStructInfo)
        and not isinstance(getattr(each, "ty", None), tvm.ir.PrimType)
    )


@pytest.mark.parametrize(
    "name", ["free_vars", "bound_vars", "used_vars", "all_vars", "all_global_vars"]
)
def test_names_in_functions(name: str) -> None:
    for ours, theirs in functions():
        assert names(getattr(transform, name)(ours)) == names(getattr(analysis, name)(theirs)), str(
            ours
        )


def test_shape_variables() -> None:
    for ours, theirs in functions():
        for name in ("defined_symbolic_vars", "free_symbolic_vars"):
            wanted = {var.name for var in getattr(analysis, name)(theirs)}
            scalars = {var.name_hint for var in transform.bound_vars(ours)}
            assert {var.name for var in getattr(transform, name)(ours)} == wanted - scalars


def test_impure_calls() -> None:
    for ours, theirs in functions():
        assert transform.contains_impure_call(ours) == analysis.contains_impure_call(theirs)


def test_uses_in_dataflow_blocks() -> None:
    for ours, theirs in functions():
        assert isinstance(ours.body, ast.SeqExpr)
        for block, other in zip(ours.body.blocks, theirs.body.blocks, strict=True):
            others = (ast.Function, ast.MatchCast)  # TVM forgets their users
            plain = not any(
                isinstance(each, others) for b in block.bindings for each in (b, b.value)
            )
            if isinstance(block, ast.DataflowBlock) and plain:
                made, given = transform.udchain(block), analysis.udchain(other)
                wanted = {name: var for var in given for name in names([var])}
                assert sorted(wanted) == names(made)
                for var, users in made.items():
                    assert names(users) == names(given[wanted[var.name_hint]]), str(ours)


def test_circles_of_functions() -> None:
    for module in modules():
        wanted = sorted(map(names, analysis.detect_recursion(in_tvm(module))))
        assert sorted(map(names, transform.detect_recursion(module))) == wanted


def test_each_expression_is_visited() -> None:
    for ours, theirs in functions():
        calls: tuple[list[str], list[str]] = ([], [])
        transform.post_order_visit(ours, lambda e: calls[0].append(type(e).__name__))  # noqa: B023
        analysis.post_order_visit(theirs, lambda e: calls[1].append(type(e).__name__))  # noqa: B023
        for kind in ("Call", "If", "Function"):  # of other expressions, TVM visits equal ones once
            assert calls[0].count(kind) == calls[1].count(kind)


def test_derived_annotations() -> None:
    """All variables have one, and TVM finds the program with them well-formed."""
    for module in modules():
        analysis.check_well_formed(in_tvm(module))
        for function in module.relax_functions.values():
            assert all(var.struct_info is not None for var in transform.bound_vars(function))
