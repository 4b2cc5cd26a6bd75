"""A check that names, the order of facts and the order of questions do not change a verdict.

Usage: ``python -m benchmarks.prover.flips [seeds]`` asks every question of the benchmark under
other names and with its facts in another order, 20 times without an argument, and all that have no
facts in random order of one prover. It prints every verdict that differs; the exit status is 1 if
there is one.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator

from benchmarks.prover.families import FamilyQuestion
from benchmarks.prover.recheck import name, questions
from rlx.grammar.nodes import tir
from rlx.solver import Prover, prove
from rlx.solver.question_parser import parse

EXPECTED = {True: "proved", False: "refuted"}
_NAME = re.compile(r"\b[a-z_]\w*\b(?!\()")
_WORDS = {"and", "or", "not"}


def renamed(case: FamilyQuestion, rng: random.Random) -> tuple[str, list[str]]:
    """The question with other names and its facts in another order."""
    names = sorted(set(_NAME.findall(" ; ".join((case.goal, *case.assume)))) - _WORDS)
    fresh = [f"x{i}" for i in range(len(names))]
    rng.shuffle(fresh)
    mapping = dict(zip(names, fresh, strict=True))

    def change(text: str) -> str:
        return _NAME.sub(lambda m: mapping.get(m[0], m[0]), text)

    facts = [change(fact) for fact in case.assume]
    rng.shuffle(facts)
    return change(case.goal), facts


def flips(cases: list[FamilyQuestion], seed: int) -> Iterator[str]:
    """Questions with a wrong verdict, or none, under other names and order of facts."""
    rng = random.Random(seed)
    for case in cases:
        goal, facts = renamed(case, rng)
        status = prove(goal, facts).status
        if status != EXPECTED[case.truth]:
            yield f"{status}: {goal} | {'; '.join(facts)} (which is {name(case)})"


def flips_of_order(cases: list[FamilyQuestion], seed: int) -> Iterator[str]:
    """The same for one prover that is asked everything in random order."""
    names: dict[str, tir.Var] = {}
    prover = Prover()
    free = [case for case in cases if not case.assume]
    for case in random.Random(seed).sample(free, len(free)):
        status = prover.always(parse(case.goal, names)).status
        if status != EXPECTED[case.truth]:
            yield f"{status}: {name(case)}"


def main() -> int:
    """Print all flips."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    asked = questions()
    found = 0
    for seed in range(seeds):
        for flip in (*flips(asked, seed), *flips_of_order(asked, seed)):
            found += 1
            print(f"seed {seed}: {flip}")
    print(f"{len(asked)} questions, {seeds} seeds, {found} flips")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
