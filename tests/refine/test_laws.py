"""A few programs and elements of the laws; more with `python -m tests.refine.laws` and `tests.refine.elements`, COUNT SEED."""

from __future__ import annotations

from collections import Counter

from tests.refine.elements import of_elements
from tests.refine.laws import of_programs


def test_no_run_contradicts_a_proof() -> None:
    """Programs refine themselves, and no mutant is proved whose run differs."""
    answers: Counter[str] = Counter()
    assert list(of_programs(range(101, 104), answers, 3)) == []
    assert answers["mutant proved"] and answers["mutant not proved"]


def test_numpy_contradicts_no_proof_about_elements() -> None:
    answers: Counter[str] = Counter()
    assert list(of_elements(120, 1, answers)) == []
    assert answers["bitwise"] and answers["real"] and answers["unknown"]
