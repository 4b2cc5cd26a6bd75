"""The questions recorded from real models: our prover and TVM's, side by side.

Usage: ``python -m benchmarks.prover.recorded_questions [repetitions]``. Both get finished
expressions; every occurrence of a question has its own, over shared variables, as in a module. TVM
is asked ``can_prove_equal`` (``can_prove`` where the question is no equation), we through the
prover of the checker. The exit status is 1 if a verdict contradicts evaluation.

``models``: every question as often as the models ask it. ``distinct``: each once, with nothing
remembered.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from benchmarks.prover.families import FamilyQuestion, holds
from benchmarks.prover.peers import to_tvm
from benchmarks.prover.record_questions import RECORDED
from rlx.checker.derive.knowledge import AliasProver
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Prover, Verdict
from rlx.solver.budget import Statistics
from rlx.solver.question_parser import parse

Counted = tuple[int, str]


def recorded() -> list[Counted]:
    """How often, and the text of each question."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    return [(int(count), text) for count, _, text in (line.partition("\t") for line in lines)]


@cache
def case(text: str) -> FamilyQuestion:
    """A recorded question as one of the benchmark; whether it is true is found by evaluation."""
    draft = FamilyQuestion("recorded", text, (), truth=True)
    return FamilyQuestion("recorded", text, (), truth=holds(draft, samples=300))


Question = tuple[str, PrimExpr]


def questions(counted: list[Counted]) -> tuple[list[Question], dict[str, tir.Var]]:
    """Finished expressions for every occurrence, in turn as a module would ask them."""
    names: dict[str, tir.Var] = {}
    found: list[Question] = []
    left = dict(sorted(((text, count) for count, text in counted), key=lambda pair: pair[0]))
    while left:
        found += [(text, parse(text, names)) for text in left]
        left = {text: count - 1 for text, count in left.items() if count > 1}
    return found, names


Sides = tuple[Any, ...]
"""Two sides of an equation, or one condition."""


def ask_all(prover: Prover, asked: list[Sides]) -> list[Verdict]:
    """All answers of our prover."""
    equal, always = prover.equal, prover.always
    return [equal(*goal) if len(goal) == 2 else always(goal[0]) for goal in asked]


def sides(goal: PrimExpr) -> tuple[PrimExpr, ...]:
    """What is compared."""
    return (goal.a, goal.b) if isinstance(goal, tir.EQ) else (goal,)


class Tvm:
    """TVM's analyzer, and the same questions as its expressions."""

    def __init__(self, asked: list[Question], names: dict[str, tir.Var]) -> None:
        from tvm import sym, tirx  # type: ignore[import-not-found,unused-ignore]

        mapping = {var: tirx.Var(name, "int64") for name, var in names.items()}
        self.analyzer = sym.Analyzer()
        for var in mapping.values():
            self.analyzer.update(var, sym.ConstIntBound(0, sym.ConstIntBound.POS_INF))
        self.goals: list[Sides] = []
        for _, goal in asked:
            self.goals.append(tuple(to_tvm(tirx, side, mapping) for side in sides(goal)))

    def run(self) -> list[bool]:
        """All answers."""
        equal, always = self.analyzer.can_prove_equal, self.analyzer.can_prove
        return [equal(*goal) if len(goal) == 2 else always(goal[0]) for goal in self.goals]


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result."""
    started = time.process_time()
    result = run()
    return time.process_time() - started, result


def compare(title: str, counted: list[Counted], fresh: Callable[[], Prover], rounds: int) -> int:
    """Print times of both and return how many verdicts are wrong."""
    asked, names = questions(counted)
    goals = [sides(goal) for _, goal in asked]
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        prover = fresh()
        seconds, verdicts = timed(partial(ask_all, prover, goals))
        ours.append(seconds)
        tvm = Tvm(asked, names)
        seconds, proved = timed(tvm.run)
        theirs.append(seconds)
    truth = {text: case(text).truth for _, text in counted}
    settled = sum(v.status != "unknown" for v in verdicts)
    wrong = [
        t
        for (t, _), v in zip(asked, verdicts, strict=True)
        if v.status == ("refuted" if truth[t] else "proved")
    ]
    wrong += [t for (t, _), p in zip(asked, proved, strict=True) if p and not truth[t]]
    mine, other = min(ours), min(theirs)
    print(
        f"{title}: {len(asked)} questions; rlx settles {settled} in {mine * 1e3:.1f} ms, "
        f"TVM proves {sum(proved)} in {other * 1e3:.1f} ms; ratio {mine / other:.2f}"
    )
    for text in dict.fromkeys(wrong):
        print(f"  contradicts evaluation: {text}")
    return len(wrong)


def main() -> int:
    """Print both comparisons."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    counted = recorded()
    ours = partial(AliasProver, Statistics())
    wrong = compare("models", counted, ours, rounds)
    wrong += compare("distinct", [(1, text) for _, text in counted], Prover, rounds)
    symbolic = [(count, text) for count, text in counted if any(c.isalpha() for c in text)]
    wrong += compare("models, symbolic only", symbolic, ours, rounds)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
