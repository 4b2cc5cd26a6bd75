"""Random conditions with bit operations; Python judges each answer.

Usage: ``python -m tests.solver.arith.bit_goals [COUNT] [SEED]``; the exit status is 1 if an answer is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random
from warnings import catch_warnings, simplefilter

from benchmarks.prover.bits import refutation
from rlx.solver import prove
from tests.long_run import long_run

_NAMES = ("x", "y", "k")
_CONSTANTS = (0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 64, 85, 255, 256, -1, -2, -8, -16)
_INFIX = ("&", "|", "^", "&", "|", "^", "+", "-", "+", "-", "*", "//", "%", "<<", ">>")
_COMPARED = ("==", "==", "==", "!=", "<", "<=", ">=")
_LAWS = (
    ("{a} ^ {b} ^ {b}", "{a}"),
    ("({a} | {b}) + ({a} & {b})", "{a} + {b}"),
    ("{a} & ~{b}", "{a} - ({a} & {b})"),
    ("({a} & {b}) | ({a} & {c})", "{a} & ({b} | {c})"),
    ("~({a} - 1)", "-{a}"),
    ("{a} >> 2 << 2", "{a} & -4"),
    ("({a} & 7) + ({a} >> 3 << 3)", "{a}"),
    ("({a} << 3 | {b} & 7) >> 3", "{a}"),
    ("({a} ^ {b}) & 15", "({a} & 15) ^ ({b} & 15)"),
    ("{a} & (1 << k) - 1", "{a} % (1 << k)"),
    ("{a} & {b} & 12", "({a} & 12) & ({b} & 4)"),
    ("({a} | {b}) >> 1", "({a} >> 1) | ({b} >> 1)"),
)


def number(random: Random, depth: int) -> str:
    """The text of an integer."""
    if depth <= 0 or random.random() < 0.15:
        found = random.choice(_NAMES) if random.random() < 0.65 else str(random.choice(_CONSTANTS))
        return f"({found})"
    a, b = (number(random, depth - 1) for _ in range(2))
    draw = random.random()
    if draw < 0.08:
        return f"(~{a})"
    if draw < 0.14:
        return f"{random.choice(('min', 'max'))}({a}, {b})"
    if draw < 0.18:
        return f"{random.choice(('int8', 'uint8', 'uint16'))}({a})"
    return f"({a} {random.choice(_INFIX)} {b})"


def question(random: Random) -> tuple[str, list[str], dict[str, int | None]]:
    """A goal, assumptions, and lower limits."""
    if random.random() < 0.3:
        operands = {name: number(random, 1) for name in "abc"}
        left, right = (side.format(**operands) for side in random.choice(_LAWS))
        goal = f"({left}) == ({right})"
        if random.random() < 0.3:
            goal = f"({left}) <= ({right}) + {random.choice(_CONSTANTS)}"
    else:
        goal = (
            f"{number(random, 3)} {random.choice(_COMPARED)} {number(random, random.randint(0, 2))}"
        )
    assume = [
        f"{random.choice(_NAMES)} {random.choice(('<', '>=', '!='))} {random.choice(_CONSTANTS)}"
        for _ in range(random.choice((0, 0, 1, 2)))
    ]
    if random.random() < 0.2:
        assume.append(f"{number(random, 1)} == {number(random, 0)}")
    return goal, assume, {name: None for name in _NAMES[:2] if random.random() < 0.4}


def wrong(seed: int, kinds: Counter[str]) -> str:
    """The answer to a question, if it is wrong; `kinds` counts the answers by their status."""
    random = Random(seed)
    goal, assume, lower = question(random)
    with catch_warnings():
        simplefilter("ignore")  # of limits of variables that do not occur
        verdict = prove(goal, assume, lower)
    kinds[verdict.status] += 1
    refutes = refutation(goal, assume)
    shown = f"{verdict}: {goal} | {'; '.join(assume)} | {lower}"
    if verdict.refuted:
        values = dict.fromkeys(_NAMES, 0) | dict(verdict.counterexample or {})
        inside = all(value >= 0 or name in lower for name, value in values.items())
        return "" if inside and refutes(values) else shown
    bad = verdict.proved and any(map(refutes, points(random, lower)))
    return shown if bad else ""


def points(random: Random, lower: dict[str, int | None]) -> Iterator[dict[str, int]]:
    """Small values, negative ones where they are allowed, and some of up to 63 bits."""
    ranges = [(*range(-5 if name in lower else 0, 6), 8, 15) for name in _NAMES]
    for values in product(*ranges):
        yield dict(zip(_NAMES, values, strict=True))
    for _ in range(60):
        point = {name: random.getrandbits(random.choice((5, 9, 33, 63))) for name in _NAMES}
        point["k"] = random.choice((point["k"], random.randrange(64)))
        yield {name: -x if name in lower and x % 3 == 0 else x for name, x in point.items()}


if __name__ == "__main__":
    long_run(wrong)
