"""The law of rlx.tvm.Analyzer: random expressions of TVM, judged by brute force.

What it proves holds for all values tried, also where TVM says nothing; what it refutes is false at
its counterexample, also where TVM proves it; what it simplifies keeps its value; bounds and residues
hold. ``python -m tests.tvm.analyzer_law NUMBER SEED`` runs more of it than the tests do.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from tvm import sym, tirx
from tvm.error import InternalError

from rlx.tvm import Analyzer

Env = dict[str, int]
Operator = Callable[[int, int], int]
_VALUES = range(-5, 7)
_BINARY: dict[str, Operator] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "FloorDiv": lambda a, b: a // b,
    "FloorMod": lambda a, b: a % b,
    "Div": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "Mod": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "Min": min,
    "Max": max,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


def value(node: Any, env: Env) -> int:
    """The value of an expression of TVM; ZeroDivisionError where it has none."""
    match type(node).__name__:
        case "Var":
            return env[node.name]
        case "IntImm":
            return int(node.value)
        case "And":
            return int(value(node.a, env) and value(node.b, env))
        case "Or":
            return int(value(node.a, env) or value(node.b, env))
        case "Not":
            return int(not value(node.a, env))
        case "Select":
            chosen = value(node.condition, env)
            yes, no = value(node.true_value, env), value(node.false_value, env)
            return yes if chosen else no
        case "Call":  # if_then_else
            condition, yes, no = node.args
            return value(yes if value(condition, env) else no, env)
        case "Cast":
            return value(node.value, env)
        case name:
            return int(_BINARY[name](value(node.a, env), value(node.b, env)))


class RandomExpressions:
    """Random expressions over three variables, built node by node so that TVM folds nothing."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.variables = [tirx.Var(name, "int64") for name in "nmk"]

    def integer(self, depth: int) -> Any:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            if rng.random() < 0.7:
                return rng.choice(self.variables)
            return tirx.IntImm("int64", rng.choice((-3, -1, 0, 1, 2, 3, 4, 8)))
        kind = rng.choice(
            [
                *("Add", "Sub", "Mul", "FloorDiv", "FloorMod", "Div", "Mod", "Min", "Max"),
                *("Select", "if"),
            ]
        )
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        if kind == "Select":
            return tirx.Select(self.condition(depth - 1), a, b)
        if kind == "if":
            return tirx.if_then_else(self.condition(depth - 1), a, b)
        if kind in ("FloorDiv", "FloorMod", "Div", "Mod") and rng.random() < 0.8:
            b = tirx.IntImm("int64", rng.choice((2, 3, 4, 8)))
        return getattr(tirx, kind)(a, b)

    def condition(self, depth: int) -> Any:
        rng = self.rng
        if depth > 1 and rng.random() < 0.2:
            first, second = self.condition(depth - 1), self.condition(depth - 1)
            return rng.choice((tirx.And, tirx.Or))(first, second)
        a = self.integer(depth)
        b = self._similar(a) if rng.random() < 0.4 else self.integer(depth - 1)
        return getattr(tirx, rng.choice(("EQ", "NE", "LT", "LE", "GT", "GE")))(a, b)

    def _similar(self, a: Any) -> Any:
        """A text that an optimiser might write instead; often right."""
        try:
            found = sym.Analyzer().simplify(a)
        except InternalError:
            return a
        return found if str(found.ty) == "int64" else a

    def environments(self) -> Iterator[Env]:
        for values in product(_VALUES, repeat=3):
            yield dict(zip("nmk", values, strict=True))


def contradiction(seed: int, seen: Counter[str]) -> str:
    """The problem with the answers to one random question; "" if there is none."""
    questions = RandomExpressions(seed)
    rng, n = questions.rng, questions.variables[0]
    ours, theirs = Analyzer(), sym.Analyzer()
    envs = list(questions.environments())
    if rng.random() < 0.4:
        low = rng.choice((-2, 0, 1))
        for analyzer in (ours, theirs):
            analyzer.update(n, sym.ConstIntBound(low, 6))
        envs = [env for env in envs if low <= env["n"] <= 6]
    fact = questions.condition(1) if rng.random() < 0.4 else tirx.IntImm("bool", 1)
    goal, expr = questions.condition(2), questions.integer(3)
    inside: list[Env] = []
    for env in envs:
        try:
            if value(fact, env):
                inside.append(env)
        except ZeroDivisionError:
            continue
    try:
        with theirs.constraint_scope(fact):
            known = bool(theirs.can_prove(goal))
    except InternalError:  # it folds quotients of literals, also by zero
        known = False
    with ours.constraint_scope(fact):
        proved = ours.can_prove(goal)
        verdict = ours.verdict
        assert verdict is not None
        seen[f"{verdict.status}, TVM: {'proved' if known else 'unknown'}"] += 1
        new, bound, parts = ours.simplify(expr), ours.const_int_bound(expr), ours.modular_set(expr)
    if verdict.refuted:
        example = {name: 0 for name in "nmk"} | dict(verdict.counterexample or {})
        if value(goal, example) or not value(fact, example):
            return f"{goal} under {fact}: refuted by {example}"
    for env in inside:
        try:
            if proved and not value(goal, env):
                return f"{goal} under {fact}: proved, but false at {env}"
        except ZeroDivisionError:
            pass
        try:
            old = value(expr, env)
        except ZeroDivisionError:
            continue
        if not bound.min_value <= old <= bound.max_value:
            return f"{expr} under {fact}: {old} at {env} is outside of {bound}"
        if (old - parts.base) % parts.coeff if parts.coeff else old != parts.base:
            return f"{expr} under {fact}: {old} at {env} is not in {parts}"
        try:
            if value(new, env) != old:
                return f"{expr} under {fact}: simplified to {new}, another number at {env}"
        except ZeroDivisionError:
            return f"{expr} under {fact}: simplified to {new}, undefined at {env}"
    return ""


def main(number: int = 1000, seed: int = 0) -> int:
    """Ask many questions; 1 if an answer is wrong."""
    seen: Counter[str] = Counter()
    wrong = [said for i in range(number) if (said := contradiction(seed + i, seen))]
    print(*wrong, *(f"{kind}: {count}" for kind, count in sorted(seen.items())), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
