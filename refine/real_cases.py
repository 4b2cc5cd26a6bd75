"""Equality of two sums of floats as real numbers where it depends on which operand is the larger.

What :mod:`rlx.refine.real_sums` leaves are sums whose atoms are extrema, choices and functions of
the same elements, as `max(x, 0) + min(a * (exp(x) - 1), 0)`. Z3 gets them as polynomials over the
reals, with what is used of each function: an exponential is positive, grows, is 1 at 0 and turns
sums into products; a logarithm is its inverse; a root is not negative, and its square is what it
is the root of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.prim_operators import BY_NODE
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine.matching import Matcher
from rlx.refine.terms import Reduce
from rlx.solver import smt

RLIMIT = 400_000
"""The work of one question to Z3."""
ATOMS = 12
"""The most atoms of two sums that are asked about."""
POINTS = 6
"""How many random numbers two sums are compared at first."""
CLOSE = 1e-6
"""Up to this part of them, the values of two sums differ by rounding."""
QUESTIONS = 12
"""The most questions in vain for one pair of functions."""
_FUNCTIONS = ("exp", "log", "sqrt", "fabs")
_COMPARISONS = {tir.LT: "<", tir.LE: "<=", tir.GT: ">", tir.GE: ">=", tir.EQ: "="}

Monomial = tuple[PrimExpr, ...]
Sum = Mapping[Monomial, Fraction]
Normal = Callable[[PrimExpr], Sum]
"""An element as a sum of monomials."""
Parts = Callable[[PrimExpr], Sequence[PrimExpr] | None]
"""The elements that are added up, if they are few."""
Partial = Callable[[PrimExpr], bool]
"""Whether an element is not defined for all real numbers."""


def equal(matcher: Matcher, x: Sum, y: Sum, normal: Normal, parts: Parts, partial: Partial) -> bool:
    """Whether two sums are equal, and defined alike, for all real numbers that the elements in them may be.

    The conditions on floats that are assumed hold. Where one is that an element is not a number,
    nothing is said; nor of integers, whose sums wrap.
    """
    atoms = dict.fromkeys(atom for side in (x, y) for mono in side for atom in mono)
    if not all(tir.type_of(atom).is_float for atom in atoms):
        return False
    known = any(map(_is_open, atoms)) or any(map(_compares_floats, matcher.facts.chosen))
    if len(atoms) > ATOMS or not known or matcher.real_questions >= QUESTIONS:
        return False
    if _differ_somewhere(matcher, x, y, normal, parts):
        return False
    question = _RealQuestion(normal, parts, partial)
    for condition, value in matcher.facts.chosen.items():
        if isinstance(condition, tir.Call) and condition.op == "isnan" and value:
            return False
        if _compares_floats(condition):
            question.suppose(condition, value)
    question.differ(x, y)
    if smt.solve("\n".join(question.lines), RLIMIT).status != "unsat":
        matcher.real_questions += 1
        return False
    sides = [tuple(dict.fromkeys(atom for mono in side for atom in mono)) for side in (x, y)]
    matcher.trail.note("cases", *sides)
    return True


def _differ_somewhere(matcher: Matcher, x: Sum, y: Sum, normal: Normal, parts: Parts) -> bool:
    """Whether two sums differ at some random numbers: then Z3 need not be asked."""
    for seed in range(POINTS):
        point = _Point(Random(seed), normal, parts)
        try:
            if all(
                point.holds(c) is v for c, v in matcher.facts.chosen.items() if _compares_floats(c)
            ):
                one, other = point.sum(x), point.sum(y)
                if abs(one - other) > CLOSE * max(1.0, abs(one), abs(other)):
                    return True
        except (ValueError, ZeroDivisionError, OverflowError):
            continue  # one of them is not defined there
    return False


def _compares_floats(condition: PrimExpr) -> bool:
    return isinstance(condition, tir.Comparison) and tir.type_of(condition.a).is_float


def _is_open(atom: PrimExpr) -> bool:
    """Whether something is known of the values of an atom."""
    if isinstance(atom, tir.Call) and not isinstance(atom, Reduce):
        return atom.op in _FUNCTIONS
    return isinstance(atom, tir.Min | tir.Max | tir.Select | tir.Div)


def _all_of(conditions: set[str]) -> str:
    return f"(and true {' '.join(sorted(conditions))})"


def _fraction(value: Fraction) -> str:
    size = f"(/ {abs(value.numerator)}.0 {value.denominator}.0)"
    return size if value >= 0 else f"(- {size})"


class _Point:
    """Elements as numbers, where all that they read is random: a read, a reduction, a condition on
    what is no float. A function of which nothing is used but its name is some function.
    """

    def __init__(self, random: Random, normal: Normal, parts: Parts) -> None:
        self._random, self._normal, self._parts = random, normal, parts
        self._known: dict[PrimExpr, float] = {}

    def sum(self, side: Sum) -> float:
        """The value of a sum."""
        return math.fsum(
            float(factor) * math.prod(map(self._value, mono)) for mono, factor in side.items()
        )

    def holds(self, condition: PrimExpr) -> bool:
        """Whether a condition holds."""
        match condition:
            case tir.And(a=a, b=b):
                return self.holds(a) and self.holds(b)
            case tir.Or(a=a, b=b):
                return self.holds(a) or self.holds(b)
            case tir.Not(a=a):
                return not self.holds(a)
            case tir.Comparison(a=a, b=b) if _compares_floats(condition):
                compare = BY_NODE[type(condition)].exact
                assert compare is not None
                return bool(compare(self._element(a), self._element(b)))
        return self._value(condition) > 0

    def _element(self, node: PrimExpr) -> float:
        return self.sum(self._normal(node))

    def _value(self, node: PrimExpr) -> float:
        if node not in self._known:
            self._known[node] = self._read(node)
        return self._known[node]

    def _read(self, node: PrimExpr) -> float:
        match node:
            case Reduce() if (parts := self._parts(node)) is not None:
                return math.fsum(map(self._element, parts))
            case tir.Max(a=a, b=b):
                return max(self._element(a), self._element(b))
            case tir.Min(a=a, b=b):
                return min(self._element(a), self._element(b))
            case tir.Select(condition=condition, true_value=a, false_value=b):
                return self._element(a if self.holds(condition) else b)
            case tir.Div(a=a, b=b):
                return self._element(a) / self._element(b)
            case tir.Call(op=str() as name, args=(inner,)) if not isinstance(node, Reduce):
                if name in _FUNCTIONS:
                    return float(getattr(math, name)(self._element(inner)))
                if tir.type_of(inner).is_float:
                    return math.sin(len(name) + self._element(inner))
        return self._random.uniform(-1.0, 3.0)


class _RealQuestion:
    """The text of a question to Z3, in which each expression has a name."""

    def __init__(self, normal: Normal, parts: Parts, partial: Partial) -> None:
        self._normal, self._parts, self._partial = normal, parts, partial
        self.lines: list[str] = []
        self._known: dict[object, tuple[str, set[str]]] = {}
        self._defined: set[str] = set()
        self._growing: list[tuple[str, str]] = []
        self._functions: set[str] = set()

    def suppose(self, condition: PrimExpr, value: bool) -> None:
        """Assume that a condition holds, or that it does not."""
        text = self._condition(condition)
        self.lines.append(f"(assert {text if value else f'(not {text})'})")

    def differ(self, x: Sum, y: Sum) -> None:
        """Ask for numbers at which two sums differ, or if they have logarithms, at which their
        exponentials do; or at which only one of them is defined.
        """
        atoms = [atom for side in (x, y) for mono in side for atom in mono]
        logarithms = any(isinstance(a, tir.Call) and a.op == "log" for a in atoms)
        texts, defined = [], []
        for side in (x, y):
            self._defined = set()
            texts.append(self._product(side) if logarithms else self._sum(side))
            defined.append(_all_of(self._defined))
        for (a, power_a), (b, power_b) in combinations(self._growing, 2):
            positive = f"(and (> {power_a} 0.0) (> {power_b} 0.0))"
            self.lines += [
                f"(assert (=> {positive} (= ({sign} {a} {b}) ({sign} {power_a} {power_b}))))"
                for sign in "<="
            ]
        equal = f"(and (= {defined[0]} {defined[1]}) (=> {defined[0]} (= {texts[0]} {texts[1]})))"
        self.lines.append(f"(assert (not {equal}))")

    def _once(self, key: object, make: Callable[[], str]) -> str:
        """The name of a part, which is described where it is met first."""
        if key not in self._known:
            outside, self._defined = self._defined, set()
            self._known[key] = make(), self._defined
            self._defined = outside
        name, needed = self._known[key]
        self._defined |= needed
        return name

    # ------------------------------------------------------------ sums

    def _sum(self, side: Sum) -> str:
        parts = [
            f"(* {' '.join([_fraction(factor), *map(self._value, mono)])} 1.0)"
            for mono, factor in side.items()
        ]
        return f"(+ {' '.join(parts)} 0.0)" if parts else "0.0"

    def _product(self, side: Sum) -> str:
        """The exponential of a sum: the product of those of its monomials."""
        parts = ["1.0"]
        for mono, factor in side.items():
            if abs(factor) in (1, 2, 3):
                power = self._power(mono[0]) if len(mono) == 1 else self._base(mono, Fraction(1))
                parts += [power if factor > 0 else f"(/ 1.0 {power})"] * abs(factor.numerator)
            else:
                parts.append(self._base(mono, factor))
        return f"(* {' '.join(parts)} 1.0)"

    def _base(self, mono: Monomial, factor: Fraction) -> str:
        """The exponential of a monomial, as an unknown number."""

        def make() -> str:
            value, power = self._sum({mono: factor}), self._new()
            self._growing.append((value, power))
            self.lines += [
                f"(assert (> {power} 0.0))",
                f"(assert (= (> {value} 0.0) (> {power} 1.0)))",
                f"(assert (= (= {value} 0.0) (= {power} 1.0)))",
            ]
            return power

        return self._once(("power", mono, factor), make)

    def _power(self, node: PrimExpr) -> str:
        """The exponential of an element that is no sum."""
        match node:
            case tir.Call(op="log", args=(inner,)):
                self._value(node)
                return self._element(inner)
            case tir.Max() | tir.Min() | tir.Select() | tir.Call(op="fabs"):
                return self._once(("power", node), lambda: self._choice(node, self._exponential))
        return self._base((node,), Fraction(1))

    def _exponential(self, node: PrimExpr) -> str:
        return self._product(self._normal(node))

    # ------------------------------------------------------------ elements

    def _choice(self, node: PrimExpr, of: Callable[[PrimExpr], str]) -> str:
        """A choice, with a function applied to what is chosen from."""
        match node:
            case tir.Select(condition=condition, true_value=a, false_value=b):
                test = self._condition(condition)
            case tir.Max(a=a, b=b):
                test = f"(>= {self._element(a)} {self._element(b)})"
            case tir.Min(a=a, b=b):
                test = f"(<= {self._element(a)} {self._element(b)})"
            case tir.Call(args=(a,)):
                b = tir.interned(tir.Mul(a, tir.FloatImm(-1.0, tir.type_of(a))))
                test = f"(>= {self._element(a)} 0.0)"
            case _:
                raise AssertionError(node)
        outside = self._defined
        self._defined = when = set[str]()
        one = of(a)
        self._defined = otherwise = set[str]()
        other = of(b)
        self._defined = outside
        if isinstance(node, tir.Select):
            if when != otherwise:
                outside.add(f"(ite {test} {_all_of(when)} {_all_of(otherwise)})")
            outside |= when & otherwise
        else:
            outside |= when | otherwise
        return self._named(f"(ite {test} {one} {other})")

    def _element(self, node: PrimExpr) -> str:
        return self._sum(self._normal(node))

    def _value(self, node: PrimExpr) -> str:
        """An element that is no sum."""
        return self._once(node, lambda: self._read(node))

    def _read(self, node: PrimExpr) -> str:
        match node:
            case Reduce() if (parts := self._parts(node)) is not None:
                return self._named(f"(+ {' '.join(map(self._element, parts))} 0.0)")
            case tir.Max() | tir.Min() | tir.Select() | tir.Call(op="fabs"):
                return self._choice(node, self._element)
            case tir.Div(a=a, b=b):
                divisor = self._element(b)
                self._defined.add(f"(not (= {divisor} 0.0))")
                return self._named(f"(/ {self._element(a)} {divisor})")
            case tir.Call(op="exp", args=(inner,)):
                return self._named(self._exponential(inner))
            case tir.Call(op="log", args=(inner,)):
                power, value = self._element(inner), self._new()
                self._growing.append((value, power))
                self._defined.add(f"(> {power} 0.0)")
                return value
            case tir.Call(op="sqrt", args=(inner,)):
                square, root = self._element(inner), self._new()
                self._defined.add(f"(>= {square} 0.0)")
                self.lines.append(f"(assert (>= {root} 0.0))")
                self.lines.append(f"(assert (=> (>= {square} 0.0) (= (* {root} {root}) {square})))")
                return root
            case tir.Call(op=str() as name, args=(inner,)) if tir.type_of(inner).is_float:
                if name not in self._functions:
                    self._functions.add(name)
                    self.lines.append(f"(declare-fun |{name}| (Real) Real)")
                if self._partial(node):
                    self._defined.add(self._new("Bool"))
                return self._named(f"(|{name}| {self._element(inner)})")
        if self._partial(node):
            self._defined.add(self._new("Bool"))
        return self._new()

    def _condition(self, node: PrimExpr) -> str:
        match node:
            case tir.And(a=a, b=b):
                return f"(and {self._condition(a)} {self._condition(b)})"
            case tir.Or(a=a, b=b):
                return f"(or {self._condition(a)} {self._condition(b)})"
            case tir.Not(a=a):
                return f"(not {self._condition(a)})"
            case tir.Comparison(a=a, b=b) if tir.type_of(a).is_float and type(node) in _COMPARISONS:
                return f"({_COMPARISONS[type(node)]} {self._element(a)} {self._element(b)})"
        return self._once(("truth", node), lambda: self._new("Bool"))

    def _new(self, sort: str = "Real") -> str:
        name = f"n{len(self.lines)}"
        self.lines.append(f"(declare-const {name} {sort})")
        return name

    def _named(self, text: str) -> str:
        name = f"n{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () Real {text})")
        return name
