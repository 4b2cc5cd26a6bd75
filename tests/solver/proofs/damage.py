"""Kinds of damage to a step of a proof, and whether the checker refuses all of them.

Usage: ``python -m tests.solver.proofs.damage [STRIDE]`` damages each step of the proofs of every STRIDE-th true
question of the benchmark, in each way, and prints what is accepted nevertheless.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rlx.solver.proofs.checker import RULES, RefusedError, check

Step = dict[str, Any]
Steps = list[Step]


def _fields(**changes: Callable[[Any], Any]) -> Callable[[Steps, int], None]:
    """Damage to some fields of a step, if it has them."""

    def damage(steps: Steps, place: int) -> None:
        for name, change in changes.items():
            if steps[place].get(name):
                steps[place][name] = change(steps[place][name])

    return damage


def _each(change: Callable[[int], Any]) -> Callable[[Any], Any]:
    """A change of each number of a fact."""

    def changed(uses: Any) -> Any:
        return [changed(use) if isinstance(use, list) else change(use) for use in uses]

    return changed


def _first(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda listed: [change(listed[0]), *listed[1:]]


def _rules(steps: Steps, place: int) -> None:
    names = [
        name for name in RULES if name.partition("-")[0] != steps[place]["rule"].partition("-")[0]
    ]
    steps[place]["rule"] = names[place % len(names)]


def _dropped(steps: Steps, place: int) -> None:
    del steps[place]


def _twice(steps: Steps, place: int) -> None:
    steps.insert(place, copy.deepcopy(steps[place]))


def _cut_off(steps: Steps, place: int) -> None:
    del steps[place:]


def _late(steps: Steps, place: int) -> None:
    steps.append(steps.pop(place))


def _lost_field(steps: Steps, place: int) -> None:
    del steps[place][next(iter(reversed(steps[place])))]


def _another_number(text: str) -> str:
    return re.sub(r"(?<!\w)\d+", lambda found: str(int(found[0]) + 1), text, count=1)


def _another_sign(text: str) -> str:
    return (
        text.replace(">=", "==") if ">=" in text else text.replace("!=", ">=").replace("==", "!=")
    )


DAMAGE: dict[str, Callable[[Steps, int], None]] = {
    "a step is missing": _dropped,
    "a step stands twice": _twice,
    "the proof breaks off": _cut_off,
    "a step stands at the end": _late,
    "another rule": _rules,
    "no such rule": _fields(rule=lambda rule: rule + "s"),
    "a later fact": _fields(uses=_each(lambda use: use + 1)),
    "an earlier fact": _fields(uses=_each(lambda use: use - 1)),
    "a fact that is not there": _fields(uses=_each(lambda use: use + 10**6)),
    "a fact by another type": _fields(uses=_each(str)),
    "a truth value for a fact": _fields(uses=_each(lambda use: bool(use) if use > 1 else None)),
    "a fact is missing": _fields(uses=lambda uses: uses[1:]),
    "a fact too many": _fields(uses=lambda uses: [*uses, uses[-1]]),
    "the facts in another order": _fields(
        uses=lambda uses: uses[1:] + uses[:1] if len(uses) > 1 else [*uses, 0]
    ),
    "another factor": _fields(terms=_first(lambda text: f"{text} + 1")),
    "the opposite factor": _fields(terms=_first(lambda text: f"-({text})")),
    "a factor of 0": _fields(terms=_first(lambda _: "0")),
    "a factor that is no text": _fields(terms=_first(lambda _: 1)),
    "a factor is missing": _fields(terms=lambda listed: listed[1:]),
    "another number in the result": _fields(
        gives=lambda text: _another_number(text) if text != "False" else "0 >= 0"
    ),
    "another sign in the result": _fields(
        gives=lambda text: _another_sign(text) if text != "False" else "True"
    ),
    "no result": _fields(gives=lambda _: ""),
    "another atom": _fields(atom=lambda name: name + "_"),
    "a case is missing": _fields(proofs=lambda proofs: proofs[1:]),
    "a case is open": _fields(proofs=lambda proofs: [[], *proofs[1:]] if proofs[0] else [[{}]]),
    "a case too many": _fields(proofs=lambda proofs: [*proofs, proofs[-1]]),
    "a field too many": lambda steps, place: steps[place].update(note="trust me"),
    "a field is missing": _lost_field,
}
"""What is done to the step at a place of a list."""


def places(steps: Steps, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all lists of steps."""
    if steps:
        yield way
    for place, step in enumerate(steps):
        for number, below in enumerate(step.get("proofs", ())):
            yield from places(below, (*way, place, "proofs", number))


def damaged(
    certificate: dict[str, Any], at_most: int | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The certificate with each step damaged in each way."""
    for count, way in enumerate(places(certificate["proof"])):
        if at_most is not None and count >= at_most:
            return
        steps = certificate["proof"]
        for part in way:
            steps = steps[part]
        for place in range(len(steps)):
            for name, damage in DAMAGE.items():
                other = copy.deepcopy(certificate)
                inner = other["proof"]
                for part in way:
                    inner = inner[part]
                damage(inner, place)
                if other != certificate:
                    yield f"{name}: {'/'.join(map(str, (*way, place)))}", other


def accepted(certificate: dict[str, Any], at_most: int | None = None) -> list[str]:
    """The damage that is not refused."""
    found = []
    for name, other in damaged(certificate, at_most):
        try:
            check(other)
        except RefusedError:
            continue
        found.append(name)
    return found


def main() -> int:
    """Print what is accepted."""
    from benchmarks.prover.recheck import questions
    from rlx.solver import Proved, prove

    stride = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = 0
    wrong = 0
    for case in [case for case in questions() if case.truth][::stride]:
        verdict = prove(case.goal, case.assume)
        assert isinstance(verdict, Proved)
        certificate = verdict.certificate
        if isinstance(certificate["proof"], list):
            count += sum(1 for _ in damaged(certificate, 3))
            for name in accepted(certificate, 3):
                wrong += 1
                print(f"accepted: {name}: {json.dumps(certificate)}")
    print(f"{count} damaged proofs, {wrong} accepted")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
