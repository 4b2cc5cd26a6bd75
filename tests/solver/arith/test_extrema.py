"""The largest and the smallest of many: one question has 50 of them, in any nesting and order."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from rlx.solver import Context, Prover, prove, verdict
from rlx.solver.question_parser import show

_COUNT = 50


def _nested(rng: Random, op: str, operands: list[str]) -> str:
    """The operands in random order, in a tree of calls of random shape."""
    shuffled = rng.sample(operands, len(operands))

    def tree(part: list[str]) -> str:
        if len(part) == 1:
            return part[0]
        at = rng.randrange(1, len(part))
        return f"{op}({tree(part[:at])}, {tree(part[at:])})"

    return tree(shuffled)


def _questions(count: int) -> dict[str, str]:
    """True conditions on the largest and the smallest of so many variables."""
    rng = Random(count)
    names = [f"x{place}" for place in range(count)]

    def largest(form: str = "{}", some: int = count) -> str:
        return _nested(rng, "max", [form.format(name) for name in names[:some]])

    def smallest(form: str = "{}") -> str:
        return _nested(rng, "min", [form.format(name) for name in names])

    return {
        "any nesting": f"{largest()} == {largest()}",
        "a constant": f"{largest()} + 3 == {largest('{} + 3')}",
        "a variable": f"{largest('{} - k')} + k == {largest()}",
        "a factor": f"{largest('{}*4')} == 4*{largest()}",
        "opposites": f"-{largest()} == {smallest('(-{})')}",
        "quotients": f"{largest()}//4 == {largest('{}//4')}",
        "quotients of the smallest": f"{smallest()}//t == {smallest('{}//t')}",
        "some of them": f"{largest()} >= {largest(some=count // 2)}",
        "each is below": f"{largest()} < {largest('{} + 1')}",
        "their sum": f"{largest()} <= {' + '.join(names)}",
        "smallest and largest": f"{smallest()} <= {largest()}",
        "absorbed": f"max({largest()}, {smallest()}) == {largest()}",
        "absorbed by the smallest": f"min({smallest()}, {largest()}) == {smallest()}",
    }


@pytest.mark.parametrize("what", _questions(_COUNT))
def test_fifty_operands(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict, "PARANOID", 0)  # the certificate takes longer
    assert prove(_questions(_COUNT)[what]).proved


@pytest.mark.parametrize("what", _questions(3))
def test_the_same_of_three_by_brute_force(what: str) -> None:
    """The questions are right, and each is refuted by its values if a number is off by one."""
    question = compile(_questions(3)[what], what, "eval")
    for values in product(range(3), repeat=5):
        names = dict(zip(("x0", "x1", "x2", "k", "t"), values, strict=True))
        try:
            assert eval(question, {"max": max, "min": min}, names)
        except ZeroDivisionError:
            assert names["t"] == 0
    relation = next(each for each in ("==", "<=", ">=", "<") if f" {each} " in _questions(3)[what])
    left, _, right = _questions(3)[what].partition(f" {relation} ")
    off = f"{right} {relation} {left}" if relation == "<" else f"{left} {relation} {right} + 1"
    off = f"{left} + 1 {relation} {right}" if relation == "<=" else off
    found = prove(off)
    assert found.refuted
    point = {"x0": 0, "x1": 0, "x2": 0, "k": 0, "t": 1} | dict(found.counterexample or {})
    assert not eval(off, {"max": max, "min": min}, point)


@pytest.mark.parametrize(
    ("known", "written", "short"),
    [
        ("m % 4 == 0", "m//4*4", "m"),
        ("m % 4 == 0", "m//4*4*n", "m * n"),
        ("m % 4 == 0", "(m + 3)//4*4", "m"),
        ("m % 4 == 1", "m//4*4 + 1", "m"),
        ("m % t == 0", "m//t*t + n", "m + n"),
    ],
)
def test_multiples_are_simplified(known: str, written: str, short: str) -> None:
    context = Context()
    context.assume(known)
    assert show(Prover(context).simplify(written)) == short


@pytest.mark.parametrize("seed", range(40))
def test_random_extrema_as_brute_force_says(seed: int) -> None:
    """Trees of maxima, minima, sums and quotients of three variables against all small values."""
    rng = Random(seed)

    def tree(depth: int) -> str:
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(["n", "m", "k", f"(n + {rng.randint(-2, 2)})", "2*m", "-k"])
        a, b = tree(depth - 1), tree(depth - 1)
        form = rng.choice(
            ["max({}, {})", "min({}, {})", "max({}, {})", "({} + {})", "({}//3 - {})"]
        )
        return form.format(a, b)

    for _ in range(12):
        goal = f"{tree(4)} {rng.choice(['<=', '==', '<'])} {tree(3)}"
        question = compile(goal, "goal", "eval")
        points = [dict(zip("nmk", values, strict=True)) for values in product(range(6), repeat=3)]
        holds = [bool(eval(question, {"max": max, "min": min}, point)) for point in points]
        found = prove(goal)
        if found.proved:
            assert all(holds), goal
        if found.refuted:
            point = {"n": 0, "m": 0, "k": 0} | dict(found.counterexample or {})
            assert not eval(question, {"max": max, "min": min}, point), goal
        text = tree(4)
        old = compile(text, "tree", "eval")
        new = compile(show(Prover().simplify(text)), "simplified", "eval")
        for point in points[::7]:
            names = {"max": max, "min": min, "select": lambda c, a, b: a if c else b}
            assert eval(new, names, point) == eval(old, names, point), text
