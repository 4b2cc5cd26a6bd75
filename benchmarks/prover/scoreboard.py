"""The scoreboard: sets of questions, put to our prover and to all peers that are installed, and the
audit of 400 rewrite rules.

Usage: ``python -m benchmarks.prover.scoreboard [SET …] [rules] [COLUMN …]``, everything without a
choice. A set is ``known``, ``held-out``, or one of the compilers in whose style there are 500
questions. The exit status is 1 if an answer of ours is wrong.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from statistics import median

from benchmarks.prover.families import (
    HELD_OUT,
    KNOWN,
    STYLES,
    FamilyQuestion,
    cases,
    holds,
    rules,
    style,
)
from benchmarks.prover.peers import PEERS, Ask
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.solver import Context, Prover, Verdict, prove
from rlx.solver.overflow import obligation
from rlx.solver.prim_exprs import dtype_range
from rlx.solver.proofs.checker import RefusedError, check
from rlx.solver.question_parser import parse


def ours(case: FamilyQuestion) -> str:
    """Our own answer, text to verdict, with nothing remembered."""
    return prove(case.goal, case.assume).status


class Row:
    """The answer of one prover."""

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


SETS: dict[str, Callable[[], list[FamilyQuestion]]] = {
    "known": lambda: cases(KNOWN),
    "held-out": lambda: cases(HELD_OUT),
    **{name: lambda name=name: style(name) for name in STYLES},  # type: ignore[misc]
}


def compare(name: str, columns: list[str]) -> int:
    """Print the table of one set, and return how many answers of ours are wrong."""
    questions, wrong, rows = SETS[name](), 0, []
    true = sum(case.truth for case in questions)
    print(f"\n{name}: {true} true, {len(questions) - true} false")
    for case in questions:
        # What is stated is checked by evaluation; a rare counterexample is one of the prover,
        # which its evaluator replays.
        found = holds(case, samples=300)
        if found != case.truth and (case.truth or ours(case) != "refuted"):
            print(f"misjudged: {case.goal} | {'; '.join(case.assume)}")
    for column, load in {"ours": lambda: ours, **PEERS}.items():
        if columns and column not in columns:
            continue
        try:
            ask = load()
        except ImportError as reason:
            print(f"{column} is left out: {reason}")
            continue
        row = Row(column)
        ask(questions[0])
        for case in questions:
            row.ask(ask, case)
        rows.append(row.show(true, len(questions) - true))
        if column == "ours":
            wrong = row.wrong
            for case in row.open:
                print(f"open: {case.goal} | {'; '.join(case.assume)}")
    print("prover       proved  refuted  wrong  median ms     p95 ms     max ms", *rows, sep="\n")
    return wrong


def audit() -> None:
    """Print what is found of each rule that does not hold everywhere, and the numbers."""
    started = time.process_time()
    counts: Counter[str] = Counter()
    known = rules()
    for rule in known:
        left, _, right = rule.goal.partition(" -> ")
        names: dict[str, tir.Var] = {}
        a, b = parse(left, names), parse(right, names)
        facts = [parse(fact, names) for fact in rule.assume]
        anything = prove(tir.EQ(a, b), facts, dict.fromkeys(names))
        limited = _in_int64(a, b, facts, list(names.values()))
        counts[f"integers: {_said(anything)}"] += 1
        counts[f"int64: {limited.status}"] += 1
        if not (anything.proved and limited.proved):
            condition = f" | {'; '.join(rule.assume)}" if rule.assume else ""
            print(f"{rule.goal}{condition}: {anything}; int64: {limited}")
    print(f"\n{len(known)} rules in {time.process_time() - started:.1f} s of the processor")
    print(*(f"{kind}: {count}" for kind, count in sorted(counts.items())), sep="\n")


def _said(verdict: Verdict) -> str:
    """The status; of a proof, whether its certificate is checked."""
    if not verdict.proved:
        return verdict.status
    try:
        check(verdict.certificate)  # type: ignore[attr-defined]
    except RefusedError:
        return "proved, unchecked"
    return "proved, certificate checked"


def _in_int64(
    left: tir.PrimExpr, right: tir.PrimExpr, facts: list[tir.PrimExpr], variables: list[tir.Var]
) -> Verdict:
    """Whether the right side has the value of the left one, and no value beyond int64, wherever the
    left side has none.
    """
    context = Context()
    for var in variables:
        context.declare(var, *dtype_range(INT64))
    for fact in (*facts, obligation(tir.EQ(left, left))):
        context.assume(fact)
    same = tir.And(tir.EQ(left, right), obligation(tir.EQ(right, right)))
    return Prover(context).always(same)


def main(arguments: list[str]) -> int:
    """Print what is wanted."""
    chosen = [word for word in arguments if word in SETS or word == "rules"]
    columns = [word for word in arguments if word not in chosen]
    chosen = chosen or [*SETS, "rules"]
    wrong = sum(compare(name, columns) for name in chosen if name in SETS)
    if "rules" in chosen:
        audit()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
