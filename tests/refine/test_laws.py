"""A few programs and elements of the laws; more with `python -m tests.refine.laws` and `tests.refine.elements`, COUNT SEED."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.refine.question import compare
from rlx.refine.runs import differing
from tests.refine.elements import of_elements
from tests.refine.laws import of_programs, proofs_alone
from tests.transform.legalization import law


def test_no_run_contradicts_a_proof() -> None:
    """Programs refine themselves, and no mutant is proved whose run differs."""
    answers: Counter[str] = Counter()
    assert list(of_programs(range(101, 104), answers, 3)) == []
    assert answers["mutant proved"] and answers["mutant not proved"]


def test_numpy_contradicts_no_proof_about_elements() -> None:
    answers: Counter[str] = Counter()
    assert list(of_elements(120, 1, answers)) == []
    assert answers["bitwise"] and answers["real"] and answers["unknown"]


@pytest.mark.parametrize("name", law.DEFINED)
def test_what_is_not_used_is_computed_for_nothing_or_fails(name: str) -> None:
    """If a call that is not used is proved to change nothing, no run of it fails."""
    made = law.case(name, law.templates(name, 20, random.Random(name))[0])
    [(main, function)] = made.module.functions.items()
    assert isinstance(function.body, ast.SeqExpr)
    kept = made.params[0] if made.params else ast.Tuple(())
    before, after = (
        normalize(ast.IRModule({main: replace(function, body=ast.SeqExpr(blocks, kept))}))
        for blocks in ((), function.body.blocks)
    )
    with proofs_alone():
        found = compare(before, after)
    if found.proved:
        assert differing(before, after, "main", runs=20, special=True).example is None
