"""How each question of the benchmark is settled: by what means, with which divisors and counterexamples.

A question that needs dearer means than before shows here. `RLX_UPDATE_SNAPSHOTS=1 pytest tests/solver/arith/test_means.py`
writes the answers anew.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks.prover.families import HELD_OUT, KNOWN, FamilyQuestion, cases
from rlx.solver import prove
from tests.snapshots import assert_entries

SNAPSHOTS = Path(__file__).parent / "snapshots"


def answer(case: FamilyQuestion, int64: bool) -> str:
    """The question and its answer, on one line."""
    assumed = "".join(f" | {fact}" for fact in case.assume)
    return f"{case.goal}{assumed}: {prove(case.goal, case.assume, int64=int64)}"


@pytest.mark.parametrize("int64", [False, True], ids=["exact", "int64"])
def test_answers_are_as_they_were(int64: bool) -> None:
    asked = cases(HELD_OUT) if int64 else [*cases(KNOWN), *cases(HELD_OUT)]
    families = defaultdict[str, list[str]](list)
    for case in asked:
        families[case.family].append(answer(case, int64))
    assert_entries(
        SNAPSHOTS / f"answers-{'int64' if int64 else 'exact'}.txt",
        [(family, "\n".join(lines)) for family, lines in families.items()],
    )
