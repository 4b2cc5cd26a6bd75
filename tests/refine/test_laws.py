"""A few programs of the law in `laws.py`; more with `python -m tests.refine.laws COUNT SEED`."""

from __future__ import annotations

from collections import Counter

from tests.refine.laws import of_programs


def test_no_run_contradicts_a_proof() -> None:
    """Programs refine themselves, and no mutant is proved whose run differs."""
    answers: Counter[str] = Counter()
    assert list(of_programs(range(101, 104), answers, 3)) == []
    assert answers["mutant proved"] and answers["mutant not proved"]
