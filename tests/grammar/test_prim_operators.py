"""The table of operators: whole, without contradictions, and of the same meaning as the independent evaluator."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.prim_operators import (
    BY_INTRINSIC,
    BY_NODE,
    INTEGER_DIVISIONS,
    ON_INTEGERS,
    OPERATORS,
    exact,
)
from rlx.grammar.print.printer import show
from rlx.grammar.read.parser import parse_struct_info
from rlx.solver import question_parser
from rlx.solver.evaluate import UndefinedError, evaluate

A, B = tir.Var("a"), tir.Var("b")


def classes(base: type) -> set[type]:
    """The classes below one that have none below them."""
    below: list[type] = base.__subclasses__()
    return {base} if not below else {c for b in below for c in classes(b)}


def test_every_node_of_two_operands_has_its_row() -> None:
    assert set(BY_NODE) == classes(tir.Binary)


def test_no_spelling_means_two_operators() -> None:
    spellings = [s for o in OPERATORS for s in {o.symbol, o.name.lower(), *o.short} if s]
    assert len(spellings) == len(set(spellings))
    names = [name for o in OPERATORS for name in (o.name, *o.names)]
    assert len(names) == len(set(names))


def test_all_that_questions_are_made_of_has_every_meaning() -> None:
    for kind in ON_INTEGERS:
        row = BY_NODE[kind]
        assert row.exact is not None
        assert row.c
        assert row.smt
    assert all(row.c for row in BY_INTRINSIC.values() if row.symbol != "**")


@given(st.sampled_from(ON_INTEGERS), st.integers(-40, 40), st.integers(-40, 40))
def test_the_table_means_what_the_evaluator_means(kind: type[tir.Binary], a: int, b: int) -> None:
    logical = kind in (tir.And, tir.Or)
    a, b = (int(a > 0), int(b > 0)) if logical else (a, b)
    try:
        wanted = evaluate(kind(A, B), {A: a, B: b})
    except UndefinedError:
        assert kind in INTEGER_DIVISIONS
        with pytest.raises(ZeroDivisionError):
            exact(kind)(a, b)
    else:
        assert exact(kind)(a, b) == wanted


@pytest.mark.parametrize("kind", ON_INTEGERS)
@pytest.mark.parametrize("other", ON_INTEGERS)
def test_both_printers_are_read_back(kind: type[tir.Binary], other: type[tir.Binary]) -> None:
    for expr in (kind(other(A, B), A), kind(A, other(A, B))):
        question = question_parser.show(expr)
        if tir.And not in (kind, other) and tir.Or not in (kind, other):
            variables = {"a": A, "b": B}
            assert question_parser.show(question_parser.parse(question, variables)) == question
        info = parse_struct_info(f"R.Prim(value={show(expr)})")
        assert show(info.value) == show(expr)  # type: ignore[attr-defined]
