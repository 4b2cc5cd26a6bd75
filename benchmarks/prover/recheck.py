"""A second opinion: cvc5 on the SMT-LIB text of every question.

`cvc5_open.txt` lists the questions that cvc5 does not decide within its bound on work; the list may
only shrink.

Usage: ``python -m benchmarks.prover.recheck`` asks everything and writes the list anew; the exit
status is 1 if cvc5 contradicts the truth.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.prover.families import HELD_OUT, KNOWN, FamilyQuestion, cases
from rlx.solver import to_smtlib

OPEN = Path(__file__).parent / "cvc5_open.txt"
ATTEMPTS = (("split", 20_000), ("purified", 20_000), ("raw", 20_000), ("split", 100_000))
"""Encodings and bounds on cvc5's own count of work, so that every machine decides the same."""


def questions() -> list[FamilyQuestion]:
    """All of the benchmark, the held-out part too."""
    return [case for part in (KNOWN, HELD_OUT) for case in cases(part)]


def name(case: FamilyQuestion) -> str:
    """The question as a line of a list."""
    return " | ".join(part for part in (case.goal, "; ".join(case.assume)) if part)


def listed() -> set[str]:
    """The questions that cvc5 leaves open."""
    return set(OPEN.read_text(encoding="utf-8").splitlines())


def recheck(case: FamilyQuestion, attempts: int = len(ATTEMPTS)) -> bool | None:
    """Whether cvc5 holds the question for true (``unsat``) or false (``sat``); None where it does
    not say.
    """
    for style, work in ATTEMPTS[:attempts]:
        answer = _ask(to_smtlib(case.goal, case.assume, style=style), work)
        if answer in ("sat", "unsat"):
            return answer == "unsat"
    return None


def _ask(script: str, work: int) -> str:
    import cvc5  # type: ignore[import-untyped]

    solver = cvc5.Solver()
    solver.setOption("rlimit-per", str(work))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols).strip() or answer
    return answer


def main() -> int:
    """Write the list."""
    left: list[str] = []
    wrong = 0
    for case in questions():
        answer = recheck(case)
        if answer is None:
            left.append(name(case))
        elif answer is not case.truth:
            wrong += 1
            print(f"contradicted: {name(case)}")
    OPEN.write_text("\n".join(left) + "\n", encoding="utf-8")
    print(f"{len(questions())} questions, {len(left)} left open, {wrong} contradicted")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
