"""Questions that are large in every way there is, and how long they take.

Usage: ``python -m benchmarks.prover.sizes`` prints the slowest first; the exit status is 1 if one
takes over 2 s. The right answer, ``proved`` or ``refuted``, stands beside each question;
``unknown`` is allowed where it is said.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from rlx.grammar.nodes.node import Record
from rlx.solver import prove

LARGEST = 2**63 - 1
PROVED, REFUTED, OPEN = "proved", "refuted", "unknown"


class Large(Record):
    """A question, and the answers it may get."""

    name: str
    goal: str
    assume: tuple[str, ...]
    answers: tuple[str, ...]
    int64: bool = False
    unbounded: tuple[str, ...] = ()

    def ask(self) -> str:
        """The answer it gets."""
        lower = dict.fromkeys(self.unbounded)
        return prove(self.goal, self.assume, lower, int64=self.int64).status


def _x(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def _sum(terms: Iterator[str] | list[str]) -> str:
    return "(" + "+".join(terms) + ")"


def _power(base: str, count: int) -> str:
    return "(" + "*".join([base] * count) + ")"


def _nested(step: Callable[[str, int], str], levels: int, text: str = "n") -> str:
    for level in range(levels):
        text = step(text, level)
    return text


def _sums(terms: int) -> Iterator[Large]:
    many = _x(terms)
    there, back = _sum(many), _sum(many[::-1])
    mods = _sum([f"(n + {i}) % {i % 17 + 2}" for i in range(terms)])
    yield Large("sum reversed", f"{there} == {back}", (), (PROVED,))
    yield Large("sum and quotient", f"{there} == {back} + y//3", (), (REFUTED,))
    yield Large("sum divided", f"{there}//7*7 + {there} % 7 == {back}", (), (PROVED,))
    yield Large("sum of remainders", f"{mods} >= 0", (), (PROVED,))
    yield Large("sum of remainders, wrong", f"{mods} == n", (), (REFUTED,))
    multiples = _sum([f"{x}*m" for x in many[: terms // 2]])
    yield Large("sum of multiples", f"{multiples}//m == {_sum(many[: terms // 2])}", (), (PROVED,))
    fifth = terms // 5
    smaller = _sum(
        [f"min({a}, {b})" for a, b in zip(many[:fifth], many[fifth : 2 * fifth], strict=True)]
    )
    yield Large("sum of minima", f"{smaller} <= {_sum(many[:fifth])}", (), (PROVED,))
    floors = _sum([f"{x}//m*m" for x in many[: terms // 10]])
    yield Large("sum of floors", f"{floors} <= {_sum(many[: terms // 10])}", (), (PROVED, OPEN))
    chosen = _sum([f"select({x} < m, {x}, m)" for x in many[: terms // 10]])
    yield Large("sum of choices", f"{chosen} <= {terms // 10}*m", (), (PROVED, OPEN))
    sides = _sum(_x(60)), _sum([f"y{i}" for i in range(60)])
    yield Large(
        "product of sums", f"{sides[0]}*{sides[1]}//{sides[1]} == {sides[0]}", (), (PROVED,)
    )


def _term_by_term(terms: int) -> Iterator[Large]:
    """Sums on both sides that are not simply the same."""
    many = [(f"x{i}", f"y{i}", i) for i in range(terms)]
    minima = _sum([f"min({x}, {y}) % {i % 5 + 2}" for x, y, i in many])
    maxima = _sum([f"max({x}, {y})//{i % 5 + 2}" for x, y, i in many])
    for int64, how in ((False, ""), (True, ", int64")):
        goal = f"{minima} == {maxima}"
        yield Large(f"remainders of minima{how}", goal, (), (REFUTED,), int64)
    sevenths = _sum([f"{x}//{i % 7 + 2}" for x, _, i in many])
    thirds = _sum([f"{x} % 3" for x, _, _ in many])
    yield Large("quotients and remainders", f"{sevenths} == {thirds}", (), (REFUTED,))
    eighths = _sum([f"{x}//{i % 7 + 3}" for x, _, i in many])
    yield Large("quotients, wrong", f"{sevenths} <= {eighths} + 1", (), (REFUTED,))
    minima = _sum([f"min({x}, {y})" for x, y, _ in many[:200]])
    maxima = _sum([f"max({x}, {y})" for x, y, _ in many[:200]])
    yield Large("minima and maxima", f"{minima} <= {maxima}", (), (PROVED,))
    yield Large("quotients", f"{eighths} <= {sevenths} + 1", (), (PROVED, OPEN))


def _variables() -> Iterator[Large]:
    names = _x(200)
    product = "*".join(names)
    half = "*".join(names[:100])
    yield Large("200 factors", f"{product}//({half}) == {'*'.join(names[100:])}", (), (PROVED,))
    divided = "n" + "".join(f"//{x}" for x in names)
    yield Large("200 divisors", f"{divided} == n//({product})", (), (PROVED,))
    yield Large("maximum of 500", f"max({','.join(_x(500))}) >= x77", (), (PROVED, OPEN))
    same = f"max({','.join(names[:12])}) == max({','.join(names[11::-1])})"
    yield Large("maximum of 12", same, (), (PROVED, OPEN))
    parts = [f"(x{i} + {i})//2 <= x{i} + {i}" for i in range(3000)]
    yield Large("3,000 conditions", " and ".join(parts), (), (PROVED,))
    never = [f"(x{i} + {i})//2 > x{i} + {i}" for i in range(3000)]
    yield Large("3,000 alternatives", " or ".join(never), (), (REFUTED,))


def _facts() -> Iterator[Large]:
    chain = tuple(f"x{i} <= x{i + 1}" for i in range(999))
    yield Large("chain of facts", "x0 <= x999", chain, (PROVED, OPEN))
    divided = tuple(f"x{i} % {i % 7 + 2} == 0" for i in range(1000))
    yield Large("divisible, all", "x5//3 <= x999", divided, (REFUTED,))
    products = tuple(f"x{i}*x{i + 1} >= x{i + 2}" for i in range(300))
    yield Large("products of neighbours", "x0*x1 >= x0", products, (REFUTED,))
    sums = tuple(f"x{i} + x{i + 1} >= x{i + 2}" for i in range(300))
    yield Large("sums of neighbours", "x0 + x150 >= x3", sums, (REFUTED,))
    tangled = tuple(f"x{i} == x{i + 1}*x{i + 2} % x{i + 3}" for i in range(200))
    yield Large("remainders of neighbours", "x0 % 2 == 0", tangled, (REFUTED, OPEN))
    holes = [f"x{i} < 9" for i in range(10)]
    holes += [f"x{i} != x{j}" for i in range(10) for j in range(i)]
    yield Large("ten in nine", "0 == 1", tuple(holes), (PROVED, OPEN))


def _depth() -> Iterator[Large]:
    ceiled = _nested(lambda s, i: f"(({s}) + {i})//({i} + 2)", 90)
    yield Large("90 divisions", f"{ceiled} == {ceiled.replace('n', '(n + 0)')}", (), (PROVED,))
    yield Large(
        "90 remainders", _nested(lambda s, i: f"({s}) % x{i}", 90) + " <= n", (), (PROVED, OPEN)
    )
    mixed = _nested(lambda s, i: f"(({s})//{i % 5 + 2}*{i + 2} + ({s}) % {i % 3 + 2})", 12)
    yield Large("doubled 12 times", f"{mixed} >= 0", (), (PROVED, OPEN))
    collatz = _nested(lambda s, i: f"select(({s}) % 2 == 0, ({s})//2, 3*({s}) + 1)", 7)
    yield Large("collatz", f"{collatz} != 27", (), (REFUTED, OPEN))
    truncated = _nested(lambda s, i: f"tmod(({s}) - m, k - {i})", 60)
    yield Large("60 truncated", f"{truncated} <= n", (), (REFUTED, OPEN))


def _numbers() -> Iterator[Large]:
    digits = "9" * 3999
    yield Large("3,999 digits", f"n*{digits}//{digits} == n", (), (PROVED,))
    yield Large("largest divisor", f"(n*{LARGEST} + m) % {LARGEST} == m % {LARGEST}", (), (PROVED,))
    other = f"(n*{LARGEST} + m) % {LARGEST - 2} == m % {LARGEST - 2}"
    yield Large("largest divisor, wrong", other, (), (REFUTED,))
    yield Large(
        "coefficients without a common factor",
        f"{LARGEST}*n != {LARGEST - 24}*m + 1",
        (),
        (REFUTED,),
    )
    yield Large("two factors", "n*m != 1000000016000000063", ("n >= 2", "m >= 2"), (REFUTED, OPEN))


def _powers() -> Iterator[Large]:
    four = "(a + b + c + d)"
    yield Large(
        "power of four", f"{_power(four, 20)} == {_power('(d + b + a + c)', 20)}", (), (PROVED,)
    )
    yield Large(
        "quotient of powers",
        f"{_power('(a + b)', 16)}//{_power('(a + b)', 8)} == {_power('(a + b)', 8)}",
        (),
        (PROVED,),
    )
    yield Large("even power", f"{_power('(a - b)', 20)} >= 0", (), (PROVED, OPEN))
    yield Large("power 300", f"{_power('a', 300)} >= a", (), (PROVED, OPEN))
    steps = "*".join(f"(n + {i})" for i in range(12))
    yield Large("12 in a row", f"{steps} % 479001600 == 0", (), (PROVED, OPEN))
    for degree in (3, 5, 8):
        apart = "*".join(f"(n + {i * LARGEST})" for i in range(degree))
        yield Large(
            f"{degree} far apart", f"{apart} % {LARGEST - 24} != 5", (), (PROVED, REFUTED, OPEN)
        )
    cubes = "x*x*x + y*y*y != z*z*z"
    yield Large("cubes", cubes, ("x >= 1", "y >= 1"), (PROVED, OPEN))


def _slow_once() -> Iterator[Large]:
    """Small questions at which one step of Z3 takes three seconds and more, which it is told to
    leave out, or is left alone with.
    """
    cast = "not (min(n*n, max(n, 4)) == tmod(n + 3, min(4, n)) or int8(n)*(-3*n) == max(n, n % n))"
    yield Large("a cast and a product", cast, (), (PROVED, OPEN))
    shifted = "(n - 4 + 4)"
    left = "n*n % uint32(n) % (min(n, 2) - -2//6)"
    right = (
        f"({shifted}*(n - 4) + {shifted}*4) % {shifted} % (min({shifted}, 2) - -2*3//(3*6) - 4 + 4)"
    )
    answers = (PROVED, REFUTED, OPEN)
    cube = "6 != n*n*(n + n) - select(n*1 != max(n, -2), min(n, -4), min(6, -1))"
    yield Large("a cube", cube, (), (PROVED, OPEN), unbounded=("n",))
    high, six = "18446744073709551619", "(6 - 3 + 3)"
    mods = (
        f"({high} - m) % bool(6) % (m*m % (-3*1)) == "
        f"tmod(({high}*-2//-2 - m + {six}*3) % {six}, tmod(m*m, 1*3//3*(-3*2//2)))"
    )
    yield Large("a remainder of remainders", mods, ("m >= 1",), (REFUTED, OPEN))
    factors = "(n - m) * (-4 * n) != max(m, 1) + m % m"
    yield Large("a product of differences", factors, (), (PROVED, OPEN))
    yield Large("a remainder by a cast", f"{left} == {right}", ("3 + n >= n", "n >= 1"), answers)


def large(terms: int = 10_000) -> list[Large]:
    """All of them; the sums have as many terms."""
    return [*_sums(terms), *_term_by_term(terms), *(q for part in _PARTS for q in part())]


_PARTS = (_variables, _facts, _depth, _numbers, _powers, _slow_once)


def main() -> int:
    """Print how long each takes."""
    rows: list[tuple[float, str, str]] = []
    for question in large():
        started = time.perf_counter()
        status = question.ask()
        rows.append((time.perf_counter() - started, question.name, status))
        if status not in question.answers:
            print(f"WRONG {question.name}: {status}")
    for seconds, name, status in sorted(rows, reverse=True):
        print(f"{seconds:6.2f} s  {status:8} {name}")
    return int(max(rows)[0] > 2)


if __name__ == "__main__":
    sys.exit(main())
