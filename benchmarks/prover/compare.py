"""The prover beside its peers on the same questions.

Usage: ``python -m benchmarks.prover.compare [held-out] [column …]`` with columns ``ours tvm
symbolic z3 cvc5 sympy`` (all that are installed, without a choice). A verdict that contradicts the
truth is counted as wrong and printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

from benchmarks.prover.families import HELD_OUT, KNOWN, FamilyQuestion, cases
from benchmarks.prover.peers import PEERS
from rlx.solver import prove

Ask = Callable[[FamilyQuestion], str]


def ours(case: FamilyQuestion) -> str:
    """Our own answer, text to verdict, with nothing remembered."""
    return prove(case.goal, case.assume).status


class Row:
    """What one prover said."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.proved = self.refuted = self.wrong = 0
        self.seconds: list[float] = []
        self.open: list[FamilyQuestion] = []

    def ask(self, ask: Ask, case: FamilyQuestion) -> None:
        """One question."""
        started = time.process_time()
        status = ask(case)
        self.seconds.append(time.process_time() - started)
        if status == "unknown":
            self.open.append(case)
        elif (status == "proved") != case.truth:
            self.wrong += 1
            print(f"{self.name} is wrong: {status}: {case.goal} | {'; '.join(case.assume)}")
        elif case.truth:
            self.proved += 1
        else:
            self.refuted += 1

    def show(self, true: int, false: int) -> str:
        """A line of the table."""
        times = sorted(self.seconds)
        return (
            f"{self.name:10} {self.proved / true:8.1%} {self.refuted / false:8.1%} {self.wrong:6}"
            f" {median(times) * 1e3:10.3f} {times[len(times) * 95 // 100] * 1e3:10.2f}"
            f" {times[-1] * 1e3:10.1f}"
        )


def main() -> int:
    """Print the table."""
    wanted = [word for word in sys.argv[1:] if word != "held-out"]
    questions = cases(HELD_OUT if "held-out" in sys.argv else KNOWN)
    true = sum(case.truth for case in questions)
    false = len(questions) - true
    print(f"{true} identities, {false} falsehoods")
    rows: list[str] = []
    for name, load in {"ours": lambda: ours, **PEERS}.items():
        if wanted and name not in wanted:
            continue
        try:
            ask = load()
        except ImportError as reason:
            print(f"{name} is left out: {reason}")
            continue
        row = Row(name)
        ask(questions[0])
        for case in questions:
            row.ask(ask, case)
        rows.append(row.show(true, false))
        for case in row.open if name == "ours" else ():
            print(f"open: {case.goal} | {'; '.join(case.assume)}")
    print("prover       proved  refuted  wrong  median ms     p95 ms     max ms")
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
