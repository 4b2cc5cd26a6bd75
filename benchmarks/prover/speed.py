"""Processor time of a new question, beside TVM's analyzer with its default strength.

Usage: ``python -m benchmarks.prover.speed [rounds] [verdicts FILE]``. Both sides get finished
expressions, and ask every question of the benchmark once, nothing remembered of it: ``one prover``
asks all those without assumptions in turn, as a pass does, ``fresh`` has a prover (an analyzer) for
each. ``simplify`` simplifies the left sides. ``many facts`` enters scopes of 500 facts
``v0 <= v1 <= …`` and asks about both ends, ``many values`` binds each of 500 variables to the one
before it plus 1 and simplifies their difference: both through ``rlx.tvm.Analyzer``, with TVM's
expressions; TVM does not prove the first. The first five lines are the same by kind: equations of
polynomials, with divisions, with choices (minima, maxima, ``select``), order, and those with
assumptions, each under a prover of its own. The runs alternate, and the best of the rounds counts.
With ``verdicts FILE`` all verdicts and simplified expressions are written to a file, so that two
versions can be compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.prover.families import HELD_OUT, KNOWN, cases
from benchmarks.prover.peers import read, to_tvm
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.solver import Context, Prover
from rlx.solver.question_parser import show

MANY = 500
"""The facts, or values, about a chain of variables."""

Work = Callable[[], Callable[[], Any]]
"""Prepares a run, which is not timed, and returns it."""


def measured(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """The least seconds of the processor for each, one after the other in every round."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, prepare in works.items():
            run = prepare()
            started = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - started)
    return best


def asked() -> list[tuple[Any, Any, Any]]:
    """Every question as finished expressions: goal, assumptions, variables."""
    return [read(case) for part in (KNOWN, HELD_OUT) for case in cases(part)]


Asked = Callable[[tir.PrimExpr, Any], bool]
"""Whether a question belongs to a run, by its goal and assumptions."""


def _kind(goal: tir.PrimExpr, facts: Any) -> str:
    nodes = tir.postorder(goal)
    if facts:
        return "assumptions"
    if any(isinstance(n, (tir.Min, tir.Max, tir.Select, tir.Call, tir.Cast)) for n in nodes):
        return "choices"
    if not isinstance(goal, tir.EQ):
        return "order"
    return "divisions" if any(isinstance(n, INTEGER_DIVISIONS) for n in nodes) else "polynomials"


KINDS = ("polynomials", "divisions", "choices", "order", "assumptions")


def of_kind(kind: str) -> Asked:
    """The questions of one kind."""
    return lambda goal, facts: _kind(goal, facts) == kind


def _bare(_: tir.PrimExpr, facts: Any) -> bool:
    return not facts


def _every(_: tir.PrimExpr, __: Any) -> bool:
    return True


def _provers(wanted: Asked, fresh: bool) -> Callable[[], Any]:
    def prepare() -> Callable[[], Any]:
        questions = [question for question in asked() if wanted(*question[:2])]
        contexts = []
        for _, facts, _ in questions:
            context = Context()
            for fact in facts:
                context.assume(fact)
            contexts.append(context)
        if fresh:
            return lambda: [
                Prover(context).always(goal)
                for (goal, _, _), context in zip(questions, contexts, strict=True)
            ]
        prover = Prover()
        return lambda: [prover.always(goal) for goal, _, _ in questions]

    return prepare


def _simplifying() -> Callable[[], Any]:
    prover = Prover()
    sides = [goal.a for goal, facts, _ in asked() if not facts and isinstance(goal, tir.Comparison)]
    return lambda: [prover.simplify(side) for side in sides]


def _analyzers(wanted: Asked, fresh: bool, simplify: bool = False) -> Callable[[], Any]:
    from tvm import sym, tirx  # type: ignore[import-not-found,unused-ignore]

    def unlimited(analyzer: Any, variables: list[Any]) -> Any:
        for var in variables:
            analyzer.update(var, sym.ConstIntBound(0, sym.ConstIntBound.POS_INF))
        return analyzer

    def prepare() -> Callable[[], Any]:
        one, calls = sym.Analyzer(), []
        for goal, facts, names in asked():
            if not wanted(goal, facts):
                continue
            mapping = {v: tirx.Var(v.name, "int64") for v in names}
            analyzer = unlimited(sym.Analyzer() if fresh else one, list(mapping.values()))
            for fact in facts:
                analyzer.constraint_scope(to_tvm(tirx, fact, mapping)).__enter__()
            if simplify:
                if isinstance(goal, tir.Comparison):
                    calls.append((analyzer.simplify, (to_tvm(tirx, goal.a, mapping),)))
            elif isinstance(goal, tir.EQ):
                sides = tuple(to_tvm(tirx, side, mapping) for side in (goal.a, goal.b))
                calls.append((analyzer.can_prove_equal, sides))
            else:
                calls.append((analyzer.can_prove, (to_tvm(tirx, goal, mapping),)))
        return lambda: [call(*sides) for call, sides in calls]

    return prepare


def _chain(analyzer: Callable[[], Any], values: bool) -> Callable[[], Any]:
    """Facts about many variables, or their values, and one question about the first and the last."""
    from tvm import tirx

    def prepare() -> Callable[[], Any]:
        found, names = analyzer(), [tirx.Var(f"v{each}", "int64") for each in range(MANY + 1)]

        def run() -> None:
            for one, other in pairwise(names):
                if values:
                    found.bind(other, one + 1)
                else:
                    found.constraint_scope(one <= other).__enter__()
            if values:
                found.simplify(names[-1] - names[0])
            else:
                found.can_prove(names[0] <= names[-1])

        return run

    return prepare


def write_verdicts(path: Path) -> None:
    """Every verdict, and the simplified left side of every question."""
    lines = []
    for goal, facts, _ in asked():
        context = Context()
        for fact in facts:
            context.assume(fact)
        prover = Prover(context)
        side = goal.a if isinstance(goal, tir.Comparison) else goal
        lines.append(f"{show(goal)}\t{prover.always(goal)}\t{show(prover.simplify(side))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print the table."""
    if "verdicts" in arguments:
        write_verdicts(Path(arguments[arguments.index("verdicts") + 1]))
        return 0
    rounds = int(arguments[0]) if arguments else 5
    works: dict[str, Work] = {}
    runs = [(kind, of_kind(kind), kind == "assumptions") for kind in KINDS]
    runs += [("one prover", _bare, False), ("fresh", _every, True)]
    for name, wanted, fresh in runs:
        works[f"rlx, {name}"] = _provers(wanted, fresh)
        works[f"TVM, {name}"] = _analyzers(wanted, fresh)
    works["rlx, simplify"] = _simplifying
    works["TVM, simplify"] = _analyzers(_bare, fresh=False, simplify=True)
    from tvm import sym

    from rlx.tvm import Analyzer

    for name, analyzer in (("rlx", Analyzer), ("TVM", sym.Analyzer)):
        works[f"{name}, many facts"] = _chain(analyzer, values=False)
        works[f"{name}, many values"] = _chain(analyzer, values=True)
    best = measured(works, rounds)
    for what in (*KINDS, "one prover", "fresh", "simplify", "many facts", "many values"):
        ours, theirs = best[f"rlx, {what}"], best[f"TVM, {what}"]
        print(
            f"{what:12} rlx {ours * 1e3:8.1f} ms  TVM {theirs * 1e3:8.1f} ms  {ours / theirs:5.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
