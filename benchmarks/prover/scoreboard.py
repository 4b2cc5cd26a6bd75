"""The scoreboard: 500 questions in the style of each of five compilers, put to our prover and to all
peers that are installed, and the audit of 400 rewrite rules.

Usage: ``python -m benchmarks.prover.scoreboard [questions] [rules] [column …]``, everything without
a choice. The exit status is 1 if an answer of ours is wrong.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from benchmarks.prover.compare import Row, ours
from benchmarks.prover.families import STYLES, holds, rules, style
from benchmarks.prover.peers import PEERS
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.solver import Context, Prover, Verdict, prove
from rlx.solver.overflow import obligation
from rlx.solver.prim_exprs import dtype_range
from rlx.solver.proofs.checker import RefusedError, check
from rlx.solver.question_parser import parse


def questions(wanted: list[str]) -> int:
    """Print the table of each style, and return how many answers of ours are wrong."""
    wrong = 0
    for name in STYLES:
        cases = style(name)
        true = sum(case.truth for case in cases)
        print(f"\n{name}: {true} true, {len(cases) - true} false")
        for case in cases:
            # What is stated is checked by evaluation; a rare counterexample is one of the prover,
            # which its evaluator replays.
            found = holds(case, samples=300)
            if found != case.truth and (case.truth or ours(case) != "refuted"):
                print(f"misjudged: {case.goal} | {'; '.join(case.assume)}")
        rows = []
        for column, load in {"ours": lambda: ours, **PEERS}.items():
            if wanted and column not in wanted:
                continue
            try:
                ask = load()
            except ImportError as reason:
                print(f"{column} is left out: {reason}")
                continue
            row = Row(column)
            ask(cases[0])
            for case in cases:
                row.ask(ask, case)
            rows.append(row.show(true, len(cases) - true))
            if column == "ours":
                wrong += row.wrong
                for case in row.open:
                    print(f"open: {case.goal} | {'; '.join(case.assume)}")
        print(
            "prover       proved  refuted  wrong  median ms     p95 ms     max ms", *rows, sep="\n"
        )
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
    parts = [word for word in arguments if word in ("questions", "rules")]
    wrong = 0
    if not parts or "questions" in parts:
        wrong = questions([word for word in arguments if word not in parts])
    if not parts or "rules" in parts:
        audit()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
