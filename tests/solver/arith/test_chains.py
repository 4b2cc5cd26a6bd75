"""Thousands of facts, each about two neighbours: ``a0 < a1``, ``a1 < a2``, … in any order."""

from __future__ import annotations

from random import Random

import pytest

from rlx.solver import prove
from rlx.solver import verdict as verdicts

_LENGTH = 3000

CHAINS: tuple[tuple[str, str, str], ...] = (
    # What is known of neighbours x and y, and what follows, or not, for the first and the last.
    ("x < y", "first < last", "proved"),
    ("x < y", "first + 3000 <= last", "proved"),
    ("x < y", "first + 3001 <= last", "refuted"),
    ("x < y", "last >= 3000", "proved"),
    ("x < y", "first != last", "proved"),
    ("x <= y", "first != last", "refuted"),
    ("y > x", "last > first", "proved"),
    ("x + 3 <= y", "last - first >= 9000", "proved"),
    ("x + 3 <= y", "last - first >= 9001", "refuted"),
    ("not (y < x)", "not (last < first)", "proved"),
    ("x <= y", "max(first, last) == last", "proved"),
    ("x <= y", "max(first, last) == first", "refuted"),
    ("x <= y", "first*8 <= last*8", "proved"),
    ("x <= y", "first//4 <= last//4", "proved"),
    ("x <= y", "first//4 < last//4", "refuted"),
    ("y == x + 1", "last == first + 3000", "proved"),
)


@pytest.mark.parametrize(("known", "goal", "status"), CHAINS)
def test_a_chain_of_facts_in_any_order(
    known: str, goal: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "PARANOID", 0)  # the certificate takes longer
    names = {"first": "a0", "last": f"a{_LENGTH}"}
    facts = [
        known.replace("x", f"a{place}").replace("y", f"a{place + 1}") for place in range(_LENGTH)
    ]
    Random(known).shuffle(facts)
    for word, name in names.items():
        goal = goal.replace(word, name)
    verdict = prove(goal, assume=facts)
    assert verdict.status == status


def test_facts_of_another_kind_beside_a_chain() -> None:
    facts = [f"a{place + 1} == a{place} + 4" for place in range(_LENGTH)]
    assert prove(f"a{_LENGTH} % 4 == 0", assume=[*facts, "a0 % 4 == 0"]).proved
    assert prove(f"a{_LENGTH} % 4 == 1", assume=[*facts, "a0 % 4 == 1"]).proved
    facts = [f"a{place} <= a{place + 1}" for place in range(_LENGTH)]
    assert prove(f"a{_LENGTH} >= 2", assume=[*facts, "a0 % 5 == 3"]).proved
    assert prove(f"a{_LENGTH} >= 4", assume=[*facts, "a0 % 5 == 3"]).refuted


@pytest.mark.parametrize("seed", range(12))
def test_short_chains_as_brute_force_says(seed: int) -> None:
    """Differences of a few variables, each a chain of 50: what holds for all small values."""
    rng = Random(seed)
    steps = [rng.randint(0, 2) for _ in range(3)]
    facts = [
        f"{name}{place} + {step if place == 7 else 0} <= {name}{place + 1}"
        for name, step in zip("abc", steps, strict=True)
        for place in range(20)
    ]
    facts += ["a20 <= b0", "b20 <= c0"]
    rng.shuffle(facts)
    total, wanted = sum(steps), rng.randint(0, 7)
    verdict = prove(f"a0 + {wanted} <= c20", assume=facts)
    assert verdict.status == ("proved" if wanted <= total else "refuted")
