"""Steps that several cases have in common are made once, before the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

from rlx.solver.proofs.draft import Below, Found

_FRESH = 1 << 40
"""Where the numbers of shared facts begin: after all those of a draft."""


def shared(steps: list[Found], fresh: Iterator[int] | None = None) -> list[Found]:
    """A proof with the same conclusion, in which facts that two cases derive from what is known before
    them are derived before them.
    """
    fresh = count(_FRESH) if fresh is None else fresh
    result: list[Found] = []
    for given, number in steps:
        if "proofs" not in given:
            result.append(Found(given, number))
            continue
        proofs = [
            Below(shared(each.steps, fresh), each.first, each.facts) for each in given["proofs"]
        ]
        own = [_own(each) for each in proofs]
        times = Counter(fact for facts in own for fact in set(facts.values()))
        names: dict[str, int] = {}
        cases = []
        for below, facts in zip(proofs, own, strict=True):
            wanted = {n for n, fact in facts.items() if times[fact] > 1}
            for step, n in reversed(below.steps):
                if n in wanted:
                    wanted |= _uses(step) & facts.keys()
            numbers: dict[int, int] = {}
            kept = []
            for step, n in below.steps:
                turned = _renumbered(step, numbers)
                if n is None or n not in wanted:
                    kept.append(Found(turned, n))
                    continue
                if facts[n] not in names:
                    names[facts[n]] = next(fresh)
                    result.append(Found(turned, names[facts[n]]))
                numbers[n] = names[facts[n]]
            cases.append(Below(kept, below.first, below.facts))
        result.append(Found({**given, "proofs": cases}, number))
    return result


def _own(below: Below) -> dict[int, str]:
    """The facts of a case that do not need what it assumes, by number."""
    inside = below.assumed()
    found: dict[int, str] = {}
    for step, number in below.steps:
        if number is None or _uses(step) & inside:
            inside |= {number} if number is not None else set()
        else:
            found[number] = step["gives"]
    return found


def _uses(step: dict[str, Any]) -> set[int]:
    """The facts that a step uses, also in the proofs below it."""
    found: set[int] = set()
    for use in step.get("uses", ()):
        found |= set(use) if isinstance(use, list) else {use}
    for below in step.get("proofs", ()):
        inside = below.assumed()
        for inner, number in below.steps:
            found |= _uses(inner) - inside
            inside |= {number} if number is not None else set()
    return found


def _renumbered(step: dict[str, Any], numbers: dict[int, int]) -> dict[str, Any]:
    if not numbers:
        return step
    step = dict(step)
    if "uses" in step:
        step["uses"] = [
            [numbers.get(n, n) for n in use] if isinstance(use, list) else numbers.get(use, use)
            for use in step["uses"]
        ]
    if "proofs" in step:
        step["proofs"] = [
            Below(
                [Found(_renumbered(s, numbers), n) for s, n in below.steps],
                below.first,
                below.facts,
            )
            for below in step["proofs"]
        ]
    return step
