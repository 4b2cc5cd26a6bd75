"""The questions of the benchmark: all settled, whatever names and order, and re-checked by cvc5."""

from __future__ import annotations

import random
import re

import pytest

from benchmarks.prover.families import Case, cases, holds
from rlx.grammar import tir
from rlx.solver import Prover, prove, to_smtlib
from rlx.solver.text import parse

CASES = cases()
EXPECTED = {True: "proved", False: "refuted"}
SAMPLE = random.Random(5).sample(CASES, 40)


def test_there_are_enough_questions() -> None:
    assert sum(case.truth for case in CASES) >= 500
    assert sum(not case.truth for case in CASES) >= 200


def test_truth_is_established_by_evaluation() -> None:
    for case in CASES:
        if case.truth:
            assert holds(case, samples=60), case


def test_all_are_settled() -> None:
    for case in CASES:
        verdict = prove(case.goal, case.assume)
        assert verdict.status == EXPECTED[case.truth], f"{case}: {verdict}"


def renamed(case: Case, rng: random.Random) -> tuple[str, list[str]]:
    """The question with other names and its facts in another order."""
    names = sorted(set(re.findall(r"\b[a-z]+\b", " ".join((case.goal, *case.assume)))) - WORDS)
    fresh = [f"x{i}" for i in range(len(names))]
    rng.shuffle(fresh)
    mapping = dict(zip(names, fresh, strict=True))

    def change(text: str) -> str:
        return re.sub(r"\b[a-z]+\b", lambda m: mapping.get(m[0], m[0]), text)

    facts = [change(fact) for fact in case.assume]
    rng.shuffle(facts)
    return change(case.goal), facts


WORDS = {"min", "max", "select", "tdiv", "tmod", "and", "or", "not"}


@pytest.mark.parametrize("seed", range(3))
def test_names_and_order_change_nothing(seed: int) -> None:
    rng = random.Random(seed)
    for case in CASES:
        goal, facts = renamed(case, rng)
        assert prove(goal, facts).status == EXPECTED[case.truth], (goal, facts)


def test_cvc5_agrees() -> None:
    """``unsat`` and ``sat`` of the exported text against our verdict, where cvc5 decides in 1 s."""
    decided = 0
    for case in SAMPLE:
        answer = _cvc5(to_smtlib(case.goal, case.assume))
        if answer in ("sat", "unsat"):
            decided += 1
            assert (answer == "unsat") == case.truth, case
    assert decided >= len(SAMPLE) // 2


def _cvc5(script: str) -> str:
    import cvc5  # type: ignore[import-untyped]

    solver = cvc5.Solver()
    solver.setOption("tlimit-per", "1000")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    symbols = parser.getSymbolManager()
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols).strip() or answer
    return answer


def test_the_order_of_questions_changes_nothing() -> None:
    """One prover, asked everything in three orders, keeps no trace of other questions."""
    free = [case for case in CASES if not case.assume]
    for seed in range(3):
        names: dict[str, tir.Var] = {}
        prover = Prover()
        for case in random.Random(seed).sample(free, len(free)):
            verdict = prover.always(parse(case.goal, names))
            assert verdict.status == EXPECTED[case.truth], case
