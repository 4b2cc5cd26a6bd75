"""The identities as they look after inlining: variables replaced by expressions.

What holds for all values of a variable holds for an expression in its place, so the truth is known.

Usage: ``python -m benchmarks.prover.substituted [count] [seed]`` prints what is left open; the exit
status is 1 if an answer is wrong.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

from benchmarks.prover.families import HELD_OUT, KNOWN, FamilyQuestion, cases
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Context, Prover, Verdict
from rlx.solver.question_parser import parse, show

_IMAGES = (
    *("a", "b", "3", "16", "128", "2*a", "a + 1", "a + b", "a*b", "a*b + c", "4*a*b", "a*(b + 1)"),
    *("a//b", "a % 4", "(a + 1)//2", "(a + 3)//4", "(a + b - 1)//b"),
    *("max(a, 1)", "max(a, b)", "min(a, 16)"),
)
"""The expressions that replace variables; none of them is ever negative."""


class Substituted(Record):
    """A question made from an identity."""

    origin: FamilyQuestion
    goal: PrimExpr
    facts: tuple[PrimExpr, ...]

    def ask(self) -> Verdict:
        """The prover's answer, with nothing remembered."""
        context = Context()
        for fact in self.facts:
            context.assume(fact)
        return Prover(context).always(self.goal)

    def __str__(self) -> str:
        return f"{show(self.goal)} | {'; '.join(map(show, self.facts))}"


def substituted(count: int, seed: int) -> Iterator[Substituted]:
    """Random identities with about half of their variables replaced."""
    rng = random.Random(seed)
    true = [case for part in (KNOWN, HELD_OUT) for case in cases(part) if case.truth]
    for _ in range(count):
        yield _substituted(rng, rng.choice(true))


def _substituted(rng: random.Random, case: FamilyQuestion) -> Substituted:
    names: dict[str, tir.Var] = {}
    parts = [parse(case.goal, names), *(parse(fact, names) for fact in case.assume)]
    inside = {name: tir.Var(name) for name in "abc"}
    images: dict[tir.Var, PrimExpr] = {
        var: parse(rng.choice(_IMAGES), inside) if rng.random() < 0.6 else tir.Var(f"{name}0")
        for name, var in names.items()
    }
    goal, *facts = tir.transform(parts, lambda e: images.get(e) if isinstance(e, tir.Var) else None)
    return Substituted(case, goal, tuple(facts))


def main() -> int:
    """Print the tally and what is open."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tally: Counter[str] = Counter()
    seconds: list[float] = []
    for question in substituted(count, seed):
        started = time.process_time()
        verdict = question.ask()
        seconds.append(time.process_time() - started)
        tally[verdict.status] += 1
        if verdict.status != "proved":
            print(f"{verdict.status}: {question}")
    seconds.sort()
    middle, late = seconds[count // 2] * 1e3, seconds[count * 95 // 100] * 1e3
    print(f"{dict(tally)}; median {middle:.2f} ms, 95 % {late:.1f} ms, slowest {seconds[-1]:.2f} s")
    return int(tally["refuted"] > 0)


if __name__ == "__main__":
    sys.exit(main())
