"""An answer that is not unknown does not depend on how much work a question may cost."""

from __future__ import annotations

from random import Random

import pytest

from rlx.grammar.nodes import tir
from rlx.solver import Proved, Prover, budget
from rlx.solver.api import question
from rlx.solver.proofs.checker import check

FUELS = (0, 3, 8, 15, 25, 40, 60, 90, 130, 190, 260, 360, 500, 700, 1000, 1500, 2500, 5000, 12000)
"""At most so many steps; the last lets most tactics end."""

QUESTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("(n + 3)//4*4 >= n", ()),
    ("(x % (a*b)) % b == x % b", ()),
    ("n//4*4 == n", ("n % 4 == 0", "m >= 1")),
    ("n*n + m*m >= 2*n*m", ("n < m", "k == n + 1")),
    ("n % 6 == 0 or n % 6 != 2*(n//2) % 6", ()),
    ("max(max(n, m), k) == max(n, max(k, m))", ()),
    ("truncdiv(n - m, k) == -truncdiv(m - n, k)", ()),
    ("(n + m)//2 == n//2 + m//2", ("n//m >= 1",)),
    ("n*(n + 1) % 2 == 0 and m >= n", ("m == 2*n",)),
    ("(n//m)*(n//m) + n//m >= n//m", ()),
    ("select(n < m, m, n) >= n and int8(n) <= 127", ("n != m",)),
    ("n >= 1", ("n > 5", "n < 3")),
)


@pytest.mark.parametrize(("goal", "facts"), QUESTIONS)
def test_answers_with_little_work(
    goal: str, facts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "QUESTION_SMT", 0)
    found: set[str] = set()
    for fuel in FUELS:
        monkeypatch.setattr(budget, "QUESTION_FUEL", fuel)
        prover, condition = question(goal, assume=list(facts))
        found.add(prover.always(condition).status)
    assert found - {"unknown"} in ({"proved"}, {"refuted"}, set())


@pytest.mark.parametrize(
    ("goal", "facts"),
    [
        ("n == 0 or m == 0", ["n*m == 0"]),
        ("n == 0 or m == k", ["n*m == n*k"]),
        ("select(n < m, n*k, m*k) == min(n, m)*k", []),
        ("truncdiv(truncdiv(n - m, a), b) == truncdiv(n - m, a*b)", ["a >= 1", "b >= 1"]),
    ],
)
def test_factors_and_choices_need_no_z3(
    goal: str, facts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "QUESTION_SMT", 0)
    prover, condition = question(goal, assume=facts)
    verdict = prover.always(condition)
    assert isinstance(verdict, Proved)
    check(verdict.certificate)  # raises for a certificate that does not hold


@pytest.mark.parametrize("smt", [0, 1, 20_000, 60_000, 100_000, 400_000])
def test_answers_with_little_work_of_z3(smt: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "QUESTION_SMT", smt)
    for goal, facts in (("n*n*n != 2*m*m*m + 1", ("m >= 4",)), ("n*n != 2*m*m", ("m >= 1",))):
        prover, condition = question(goal, assume=list(facts))
        verdict = prover.always(condition)
        assert verdict.status in ("unknown", "refuted" if "+ 1" in goal else "proved")


@pytest.mark.parametrize("seed", range(10))
def test_the_slowest_questions_are_kept(seed: int) -> None:
    """The slowest first; of those that take as long the earlier ones."""
    random, statistics = Random(seed), budget.Statistics()
    seconds = [random.randrange(6) / 2 for _ in range(random.randrange(9))]
    for at, time in enumerate(seconds):
        statistics.time(time, tir.IntImm(at))
    wanted = sorted(enumerate(seconds), key=lambda pair: (-pair[1], pair[0]))[:3]
    kept = [(getattr(slow.question, "value", None), slow.seconds) for slow in statistics.slowest]
    assert kept == wanted


def test_each_question_has_the_whole_work_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prover that was asked other questions before answers as a new one does."""
    monkeypatch.setattr(budget, "QUESTION_SMT", 0)
    monkeypatch.setattr(budget, "QUESTION_FUEL", 2500)
    used = Prover()
    for _ in range(3):
        for goal, facts in QUESTIONS:
            prover, condition = question(goal, assume=list(facts))
            alone = prover.always(condition).status
            if not facts and alone != "unknown":
                assert used.always(condition).status == alone, goal
