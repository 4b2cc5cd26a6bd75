"""Random questions with their truth decided by evaluation: the soundness bench of the prover.

Usage: ``python benchmarks/prover/random_goals.py 1000000 [seed]`` prints how many goals were
proved, refuted and left open, and every wrong answer; the exit status is 1 if there was one.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Context, Proved, Prover, Refuted, Verdict
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import show

_BINARY = (tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod, tir.Min, tir.Max)
_RARE = (tir.TruncDiv, tir.TruncMod)
_COMPARE = (tir.EQ, tir.EQ, tir.EQ, tir.NE, tir.LT, tir.LE, tir.GT, tir.GE)
_CASTS = ("int8", "uint8", "int32", "int64", "uint32", "uint64", "bool")
_HUGE = (2**31, 2**63 - 1, -(2**63), 2**64 + 3, 10**30)
_LIMITS: tuple[tuple[int | None, int | None], ...] = (
    *[(0, None)] * 5,
    (1, None),
    (None, None),
    (-3, 5),
    (2, 2),
    (None, -1),
    (0, 255),
)


class RandomGoal:
    """A question and what it is asked under."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.context = Context()
        names = "nmk"[: rng.randint(1, 3)]
        self.variables = [tir.Var(name) for name in names]
        for var in self.variables:
            self.context.declare(var, *rng.choice(_LIMITS))
        for _ in range(rng.choice((0, 0, 0, 0, 1, 1, 2))):
            self.context.assume(self._fact())
        if rng.random() < 0.05:
            # What is known of the old variable must not be used for the new one.
            self.context.declare(rng.choice(self.variables), *rng.choice(_LIMITS))
        self.condition = self._condition()

    def _fact(self) -> PrimExpr:
        rng = self.rng
        var = rng.choice(self.variables)
        other = rng.choice(self.variables)
        size = tir.IntImm(rng.randint(1, 6))
        return rng.choice(
            (
                tir.EQ(tir.FloorMod(var, size), tir.IntImm(0)),
                tir.EQ(tir.FloorMod(var, other), tir.IntImm(0)),
                tir.LE(var, other),
                tir.LT(var, size),
                tir.NE(var, size),
                tir.GE(self.integer(1), size),
                tir.EQ(var, self.integer(1)),
                self.comparison(1),
            )
        )

    def integer(self, depth: int) -> PrimExpr:
        """A random integer expression."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            if rng.random() < 0.65:
                return rng.choice(self.variables)
            if rng.random() < 0.03:
                return tir.IntImm(rng.choice(_HUGE))
            return tir.IntImm(rng.choice((-4, -3, -2, -1, 0, 1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16)))
        draw = rng.random()
        kind: type[tir.Binary]
        if draw < 0.84:
            kind = rng.choice(_BINARY)
        elif draw < 0.90:
            kind = rng.choice(_RARE)
        elif draw < 0.95:
            return tir.Cast(dtype(rng.choice(_CASTS)), self.integer(depth - 1))
        elif draw < 0.96:
            shift = rng.choice(("shift_left", "shift_right"))
            amount = tir.IntImm(rng.randint(0, 5))
            return tir.Call(shift, (self.integer(depth - 1), amount), INT64)
        elif draw < 0.98:
            return tir.Select(
                self.comparison(depth - 1), self.integer(depth - 1), self.integer(depth - 1)
            )
        else:
            branches = (self.comparison(0), self.integer(depth - 1), self.integer(depth - 1))
            return tir.Call("if_then_else", branches)
        return kind(self.integer(depth - 1), self.integer(depth - 1))

    def comparison(self, depth: int) -> PrimExpr:
        kind = self.rng.choice(_COMPARE)
        return kind(self.integer(depth), self.integer(depth))

    def _condition(self) -> PrimExpr:
        rng = self.rng
        depth = rng.choice((1, 2, 2, 3))
        draw = rng.random()
        if draw < 0.12:
            return self._quotients()
        if draw < 0.6:
            left = self.integer(depth)
            return tir.EQ(left, self.varied(left))
        if draw < 0.85:
            return self.comparison(depth)
        kind = rng.choice((tir.And, tir.Or))
        joined = kind(self.comparison(depth - 1), self.comparison(depth - 1))
        return tir.Not(joined) if rng.random() < 0.3 else joined

    def _quotients(self) -> PrimExpr:
        """A law of quotients and remainders by constants, in which some constant may be wrong."""
        rng = self.rng
        size, add = rng.randint(2, 9), rng.randint(0, 9)
        n: PrimExpr = rng.choice(self.variables)
        if rng.random() < 0.3:
            n = tir.Mul(n, rng.choice(self.variables))
        divisor, most = tir.IntImm(size), tir.IntImm(max(0, size - add - rng.choice((0, 0, 0, 1))))
        rest, part = tir.FloorMod(n, divisor), tir.FloorDiv(n, divisor)
        over = rng.choice(
            (
                tir.Select(tir.GE(rest, most), tir.IntImm(1), tir.IntImm(0)),
                tir.Min(
                    tir.Max(tir.Sub(rest, tir.Sub(most, tir.IntImm(1))), tir.IntImm(0)),
                    tir.IntImm(1),
                ),
                tir.FloorDiv(tir.Add(rest, tir.IntImm(add)), divisor),
            )
        )
        left = tir.FloorDiv(tir.Add(n, tir.IntImm(add)), divisor)
        sides = [
            (left, tir.Add(part, over)),
            (tir.Mul(tir.Mul(rest, rest), rest), tir.Mul(rest, tir.Mul(rest, n))),
            (
                tir.FloorMod(tir.Mul(tir.Mul(n, n), n), divisor),
                tir.FloorMod(tir.Mul(tir.Mul(rest, rest), rest), divisor),
            ),
            (tir.FloorMod(tir.FloorDiv(n, tir.IntImm(-size)), divisor), rest),
        ]
        return rng.choice((tir.EQ, tir.EQ, tir.LE, tir.NE))(*rng.choice(sides))

    def varied(self, expr: PrimExpr) -> PrimExpr:
        """The expression rewritten by laws, of which some do not hold."""
        rng = self.rng

        def change(node: PrimExpr) -> PrimExpr | None:
            return _law(rng, node) if rng.random() < 0.5 else None

        return tir.transform([expr], change)[0]


def _law(rng: random.Random, node: PrimExpr) -> PrimExpr | None:
    c = tir.IntImm(rng.choice((2, 3, 4, -2)))
    one = tir.IntImm(1)
    match node:
        case tir.Add(a=a, b=b):
            return rng.choice((tir.Add(b, a), tir.Sub(a, tir.Sub(tir.IntImm(0), b))))
        case tir.Mul(a=a, b=tir.Add(a=x, b=y)):
            return tir.Add(tir.Mul(a, x), tir.Mul(a, y))
        case tir.Mul(a=a, b=b):
            return tir.Mul(b, a)
        case tir.FloorMod(a=a, b=b):
            other = tir.FloorMod(tir.Add(a, tir.Mul(b, c)), b)
            return rng.choice(
                (tir.Sub(a, tir.Mul(b, tir.FloorDiv(a, b))), other, tir.TruncMod(a, b))
            )
        case tir.FloorDiv(a=tir.FloorDiv(a=a, b=b), b=d):
            return tir.FloorDiv(a, tir.Mul(b, d))
        case tir.FloorDiv(a=a, b=b):
            return rng.choice(
                (
                    tir.FloorDiv(tir.Mul(a, c), tir.Mul(b, c)),
                    tir.Sub(tir.FloorDiv(tir.Add(a, b), b), one),
                    tir.Add(tir.FloorDiv(tir.Sub(a, one), b), one),
                    tir.TruncDiv(a, b),
                )
            )
        case tir.Max(a=a, b=b):
            return rng.choice(
                (tir.Select(tir.GE(a, b), a, b), tir.Sub(tir.Add(a, b), tir.Min(a, b)))
            )
        case tir.Min(a=a, b=b):
            return tir.Select(tir.LE(a, b), a, b)
        case tir.Cast(value=value):
            return value
    return rng.choice((tir.Add(tir.Sub(node, c), c), tir.FloorDiv(tir.Mul(node, c), c)))


_EDGES = [2**bits + near for bits in (7, 8, 31, 32, 63, 64) for near in (-1, 0, 1)]
_VALUES = (*range(-4, 9), -9, 12, 16, 100, 2**40 + 1, *_EDGES, *(-edge for edge in _EDGES))


def points(goal: RandomGoal, count: int) -> Iterator[dict[tir.Var, int]]:
    """Admissible values of all variables that the goal and its facts mention."""
    state = goal.context.state
    used = tir.free_vars(goal.condition, *state.facts)
    for _ in range(count):
        values: dict[tir.Var, int] = {}
        for var in used:
            low, high = state.range_of(var)
            value = goal.rng.choice(_VALUES)
            value = value if low is None else max(low, value)
            values[var] = value if high is None else min(high, value)
        try:
            if all(evaluate(fact, values) for fact in state.facts):
                yield values
        except UndefinedError:
            continue


def wrong(goal: RandomGoal, verdict: Verdict, tries: int = 40) -> str | None:
    """The mistake in a verdict; None if it is right."""
    match verdict:
        case Proved():
            for values in points(goal, tries):
                try:
                    if not evaluate(goal.condition, values):
                        return f"proved ({verdict.means}), but false at {_named(values)}"
                except UndefinedError:
                    continue
        case Refuted(values=given):
            found = {v: x for v, x in given.items() if isinstance(v, tir.Var)}
            return _wrong_example(goal, found)
    return None


def _wrong_example(goal: RandomGoal, values: dict[tir.Var, int]) -> str | None:
    state = goal.context.state
    for var, value in values.items():
        low, high = state.range_of(var)
        if (low is not None and value < low) or (high is not None and value > high):
            return f"counterexample outside of the range of {var.name}: {value}"
    own = set(tir.free_vars(goal.condition))
    facts = [f for f in state.facts if own & set(tir.free_vars(f)) or not tir.free_vars(f)]
    try:
        if not all(evaluate(fact, values) for fact in facts):
            return f"counterexample against the facts: {_named(values)}"
        if evaluate(goal.condition, values):
            return f"counterexample makes the goal true: {_named(values)}"
    except UndefinedError as reason:
        return f"counterexample undefined ({reason}): {_named(values)}"
    return None


def _named(values: dict[tir.Var, int]) -> dict[str, int]:
    return {v.name: x for v, x in values.items()}


def describe(goal: RandomGoal) -> str:
    """The question as text."""
    state = goal.context.state
    ranges = {v.name: r for v, r in state.ranges.items()}
    return f"{show(goal.condition)}  facts {[show(f) for f in state.facts]}  ranges {ranges}"


def main() -> int:
    """Run as many goals as the first argument says."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tally: Counter[str] = Counter()
    slowest = 0.0
    for number in range(count):
        goal = RandomGoal(random.Random(seed * 1_000_003 + number))
        started = time.perf_counter()
        verdict = Prover(goal.context).always(goal.condition)
        seconds = time.perf_counter() - started
        if seconds > max(slowest, 0.5):
            print(f"{seconds:.2f} s: {number}: {describe(goal)}")
        slowest = max(slowest, seconds)
        tally[verdict.status] += 1
        if (number + 1) % 50_000 == 0:
            print(f"{number + 1} goals: {dict(tally)}", flush=True)
        error = wrong(goal, verdict)
        if error is not None:
            tally["WRONG"] += 1
            print(f"WRONG {number}: {describe(goal)}\n      {error}")
    print(dict(tally), f"slowest {slowest:.2f} s")
    return int(tally["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main())
