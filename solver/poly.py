"""Polynomials with integer coefficients, and the hash-consed ones of the prover.

A monomial is a sorted tuple of indeterminates (``(1, 1, 4)`` is x1*x1*x4, ``()`` is 1); a polynomial
maps monomials to coefficients. In the prover, an indeterminate is the number of an atom, and equal
polynomials are the same object, so two normal forms are compared by identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd
from typing import Any

Mono = tuple[int, ...]
Terms = dict[Mono, int]

DEGREE_LIMIT = 40
MONOMIAL_LIMIT = 2000
TERM_LIMIT = 4000
BIT_LIMIT = 1 << 17
DEPTH_LIMIT = 100


class TooMuchWorkError(Exception):
    """A question exceeds its work limit."""


class Polynomial:
    """A polynomial with integer coefficients.

    Its indeterminates are whatever its user needs: numbers of atoms in the prover, names of C
    variables, expressions of a sum. A product needs ones that can be sorted.

    Attributes
    ----------
    terms
        Non-zero coefficients by monomial. Never changed.
    value
        The value of a constant polynomial, else None.
    """

    __slots__ = ("terms", "value")

    def __init__(self, terms: Mapping[tuple[Any, ...], int]) -> None:
        self.terms = {m: c for m, c in terms.items() if c}
        self.value = self.terms.get((), 0 if not self.terms else None)
        if len(self.terms) > 1:
            self.value = None

    @staticmethod
    def of(value: int | str) -> Polynomial:
        """A constant, or an indeterminate by its name."""
        return Polynomial({(): value} if isinstance(value, int) else {(value,): 1})

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial(_sum(((1, self), (1, other))))

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return Polynomial(_sum(((1, self), (-1, other))))

    def __mul__(self, other: Polynomial) -> Polynomial:
        return Polynomial(_product(self, other))

    def variables(self) -> set[Any]:
        """The indeterminates that occur."""
        return {each for mono in self.terms for each in mono}

    def parts(self, variable: object) -> tuple[Terms, Terms] | None:
        """``(c, rest)`` with ``c * variable + rest`` as this polynomial, or None if the variable
        occurs squared.
        """
        inside: Terms = {}
        outside: Terms = {}
        for mono, coef in self.terms.items():
            if variable not in mono:
                outside[mono] = coef
            elif mono.count(variable) > 1:
                return None
            else:
                at = mono.index(variable)
                inside[mono[:at] + mono[at + 1 :]] = coef
        return inside, outside

    def coefficient(self, variable: object) -> Polynomial | None:
        """The coefficient of a variable, or None if the variable occurs squared."""
        parts = self.parts(variable)
        return None if parts is None else Polynomial(parts[0])

    def with_bound(self, variable: object, bound: Polynomial) -> Polynomial:
        """This polynomial with ``bound`` substituted for a variable, which occurs linearly."""
        parts = self.parts(variable)
        assert parts is not None
        factor, rest = map(Polynomial, parts)
        return rest + factor * bound


def _sum(parts: Iterable[tuple[int, Polynomial]]) -> Terms:
    """The terms of a sum of multiples; some may be zero."""
    total: Terms = {}
    get = total.get
    for factor, poly in parts:
        for mono, coef in poly.terms.items():
            total[mono] = get(mono, 0) + factor * coef
    return total


def _product(a: Polynomial, b: Polynomial) -> Terms:
    """The terms of a product; some may be zero."""
    total: Terms = {}
    for left, x in a.terms.items():
        for right, y in b.terms.items():
            mono = tuple(sorted(left + right)) if left and right else left or right
            total[mono] = total.get(mono, 0) + x * y
    return total


class Poly(Polynomial):
    """A hash-consed polynomial over atoms; made by :meth:`PolyStore.poly` only.

    Attributes
    ----------
    index
        The creation number.
    """

    __slots__ = ("index",)

    def __init__(self, terms: Terms, value: int | None, index: int) -> None:
        self.terms = terms
        self.value = value
        self.index = index


class Cond:
    """A hash-consed condition.

    ``kind`` is ``"true"``, ``"false"``, ``"eq"`` (poly == 0), ``"ne"`` (poly != 0), ``"ge"`` (poly
    >= 0), ``"and"`` or ``"or"`` (of ``parts``).
    """

    __slots__ = ("depth", "index", "kind", "parts", "poly")

    def __init__(
        self, kind: str, poly: Poly | None, parts: tuple[Cond, ...], index: int, depth: int
    ) -> None:
        self.kind = kind
        self.poly = poly
        self.parts = parts
        self.index = index
        self.depth = depth


_OPPOSITE = {"eq": "ne", "ne": "eq", "and": "or", "or": "and"}
"""The kind of the opposite of a condition; that of ``"ge"`` is of the same kind."""

Part = Poly | Cond


class Atom:
    """An indeterminate of polynomials.

    ``kind`` is ``"var"``, ``"opaque"`` (nothing is known), ``"div"`` (floor of ``parts[0] /
    parts[1]``), ``"relu"`` (the larger of ``parts[0]`` and 0), ``"ind"`` (1 if condition
    ``parts[0]`` holds, otherwise 0) or ``"prod"`` (a product too large to multiply out).
    ``is_variable`` and ``is_quotient`` tell the first and the third.
    """

    __slots__ = (
        *("depth", "index", "is_quotient", "is_variable", "key", "kind", "mono", "parts", "poly"),
    )

    def __init__(
        self, kind: str, parts: tuple[Part, ...], key: object, index: int, depth: int
    ) -> None:
        self.kind = kind
        self.parts = parts
        self.key = key
        self.index = index
        self.is_variable = kind == "var"
        self.is_quotient = kind == "div"
        self.mono: Mono = (index,)
        self.depth = depth
        self.poly: Poly | None = None


class PolyStore:
    """The polynomials, conditions and atoms of one engine, and its remaining work.

    Attributes
    ----------
    fuel
        The remaining work.
    atoms
        The atoms by number.
    opposites
        The polynomials ``-a`` that were made, by ``a``.
    """

    def __init__(self, fuel: int) -> None:
        self.fuel = fuel
        self.atoms: list[Atom] = []
        self._atoms: dict[object, Atom] = {}
        self._polys: dict[int, Poly] = {}
        self.opposites: dict[Poly, Poly] = {}
        self._constants: dict[int, Poly] = {}
        self._conds: dict[object, Cond] = {}
        self.zero = self.const(0)
        self.one = self.const(1)
        self.true = self._cond("true", None, ())
        self.false = self._cond("false", None, ())
        self._laws = {"and": (self.true, self.false), "or": (self.false, self.true)}

    # Polynomials

    def spend(self, work: int) -> None:
        """Use up fuel. Raises TooMuchWorkError if none is left."""
        self.fuel -= work
        if self.fuel < 0:
            raise TooMuchWorkError("the question needs too much work")

    def poly(self, terms: Terms) -> Poly:
        """The polynomial with these nonzero terms. The dictionary is not copied."""
        size = len(terms)
        self.fuel -= size + 1
        if self.fuel < 0:
            raise TooMuchWorkError("the question needs too much work")
        # The table has only the hash of the terms: a key with all of them would double the memory.
        key = hash(frozenset(terms.items()))
        polys = self._polys
        while (found := polys.get(key)) is not None and found.terms != terms:
            key += 1
        if found is None:
            value: int | None = None
            if not terms:
                value = 0
            elif size == 1 and () in terms:
                value = terms[()]
                if value.bit_length() > BIT_LIMIT:
                    raise TooMuchWorkError("a constant has too many digits")
            found = polys[key] = Poly(terms, value, len(polys))
        return found

    def _depth(self, part: Part) -> int:
        """How deep atoms are nested inside."""
        if isinstance(part, Cond):
            return part.depth
        atoms = self.atoms
        return max([atoms[i].depth for mono in part.terms for i in mono], default=0)

    def const(self, value: int) -> Poly:
        """A constant."""
        found = self._constants.get(value)
        if found is None:
            found = self._constants[value] = self.poly({(): value} if value else {})
        return found

    def combine(self, parts: Iterable[tuple[int, Poly]]) -> Poly:
        """A sum of multiples of polynomials."""
        listed = list(parts)
        self.fuel -= sum([len(poly.terms) for _, poly in listed])
        return self.poly({m: c for m, c in _sum(listed).items() if c})

    def add(self, a: Poly, b: Poly) -> Poly:
        """``a + b``"""
        if not a.terms:
            return b
        if not b.terms:
            return a
        return self._merged(a, b, 1)

    def sub(self, a: Poly, b: Poly) -> Poly:
        """``a - b``"""
        if not b.terms:
            return a
        if a is b:
            return self.zero
        return self._merged(a, b, -1)

    def _merged(self, a: Poly, b: Poly, sign: int) -> Poly:
        """``a + sign * b``: most sums have two operands."""
        terms = dict(a.terms)
        self.fuel -= len(terms) + len(b.terms)
        get = terms.get
        for mono, coef in b.terms.items():
            total = get(mono, 0) + sign * coef
            if total:
                terms[mono] = total
            else:
                del terms[mono]
        return self.poly(terms)

    def scale(self, factor: int, a: Poly) -> Poly:
        """``factor * a``"""
        if factor == 1 or not a.terms:
            return a
        if factor == -1:
            found = self.opposites.get(a)
            if found is None:
                found = self.opposites[a] = self.poly({m: -c for m, c in a.terms.items()})
                self.opposites[found] = a
            return found
        return self.poly({m: factor * c for m, c in a.terms.items()} if factor else {})

    def shift(self, a: Poly, constant: int) -> Poly:
        """``a + constant``"""
        if not constant:
            return a
        terms = dict(a.terms)
        total = terms.pop((), 0) + constant
        if total:
            terms[()] = total
        return self.poly(terms)

    def mul(self, a: Poly, b: Poly) -> Poly:
        """``a * b``; a product that would be too large becomes an atom."""
        if a.value is not None:
            return self.scale(a.value, b)
        if b.value is not None:
            return self.scale(b.value, a)
        if len(a.terms) == len(b.terms) == 1:
            ((left, x),), ((right, y),) = a.terms.items(), b.terms.items()
            if len(left) + len(right) <= DEGREE_LIMIT:
                return self.of_mono(tuple(sorted(left + right)), x * y)
        count = len(a.terms) * len(b.terms)
        degree = _degree(a) + _degree(b)
        if count > TERM_LIMIT or degree > (MONOMIAL_LIMIT if count == 1 else DEGREE_LIMIT):
            first, second = (a, b) if a.index <= b.index else (b, a)
            return self.of_atom(self.atom("prod", (first, second)))
        self.spend(count + degree // 8)
        return self.poly({m: c for m, c in _product(a, b).items() if c})

    def of_mono(self, mono: Mono, coef: int = 1) -> Poly:
        """One term."""
        return self.poly({mono: coef})

    # Atoms

    def atom(self, kind: str, parts: tuple[Part, ...], key: object = None) -> Atom:
        """The atom of a kind and parts; variables and opaque atoms are distinguished by ``key``."""
        full = (kind, key, *parts)
        found = self._atoms.get(full)
        if found is None:
            depth = 1 + max(map(self._depth, parts), default=0)
            found = Atom(kind, parts, key, len(self.atoms), depth)
            if depth > DEPTH_LIMIT:
                raise TooMuchWorkError("divisions are nested too deeply")
            self._atoms[full] = found
            self.atoms.append(found)
        return found

    def fresh(self, key: object) -> Atom:
        """A new variable."""
        return self.atom("var", (), (key, len(self.atoms)))

    def of_atom(self, atom: Atom) -> Poly:
        """An atom as a polynomial."""
        if atom.poly is None:
            atom.poly = self.poly({atom.mono: 1})
        return atom.poly

    # Conditions

    def _cond(self, kind: str, poly: Poly | None, parts: tuple[Cond, ...]) -> Cond:
        full = (kind, poly, parts)
        found = self._conds.get(full)
        if found is None:
            inside = (
                self._depth(poly)
                if poly is not None
                else 1 + max((p.depth for p in parts), default=0)
            )
            if inside > DEPTH_LIMIT:
                raise TooMuchWorkError("conditions are nested too deeply")
            found = Cond(kind, poly, parts, len(self._conds), inside)
            self._conds[full] = found
        return found

    def truth(self, value: bool) -> Cond:
        """A decided condition."""
        return self.true if value else self.false

    def is_zero(self, a: Poly, equal: bool = True) -> Cond:
        """``a == 0``, or ``a != 0``; divided by the common factor, its leading term positive."""
        if a.value is not None:
            return self.truth((a.value == 0) == equal)
        factor = content(a)
        constant = a.terms.get((), 0)
        if constant % factor:
            return self.truth(not equal)
        if a.terms[leading(a)] < 0:
            factor = -factor
        if factor != 1:
            a = self.poly({m: c // factor for m, c in a.terms.items()})
        return self._cond("eq" if equal else "ne", a, ())

    def at_least_zero(self, a: Poly) -> Cond:
        """``a >= 0``, divided by the common factor."""
        if a.value is not None:
            return self.truth(a.value >= 0)
        factor = content(a)
        if factor != 1:
            terms = {m: c // factor for m, c in a.terms.items()}
            a = self.poly({m: c for m, c in terms.items() if c})
        return self._cond("ge", a, ())

    def negate(self, cond: Cond) -> Cond:
        """The opposite condition."""
        if cond.poly is not None:
            if cond.kind in _OPPOSITE:
                return self._cond(_OPPOSITE[cond.kind], cond.poly, ())
            return self.at_least_zero(self.shift(self.scale(-1, cond.poly), -1))
        if not cond.parts:
            return self.truth(cond is self.false)
        return self.join(_OPPOSITE[cond.kind], [self.negate(p) for p in cond.parts])

    def join(self, kind: str, conds: Iterable[Cond]) -> Cond:
        """The ``"and"`` or the ``"or"`` of conditions."""
        neutral, decided = self._laws[kind]
        flat: dict[Cond, None] = {}
        for cond in conds:
            for part in cond.parts if cond.kind == kind else (cond,):
                if part is decided:
                    return decided
                if part is not neutral:
                    flat[part] = None
        self.spend(len(flat) + 1)
        if len(flat) <= 1:
            return next(iter(flat), neutral)
        for part in flat:
            if part.poly is not None and self.negate(part) in flat:
                return decided
        return self._cond(kind, None, tuple(sorted(flat, key=lambda c: c.index)))


def _degree(a: Poly) -> int:
    return max(map(len, a.terms))


def content(a: Poly) -> int:
    """The greatest common divisor of the coefficients, without the constant term."""
    factor = 0
    for mono, coef in a.terms.items():
        if mono:
            factor = gcd(factor, coef)
            if factor == 1:
                break
    return factor


def _order(mono: Mono) -> tuple[int, Mono]:
    return (-len(mono), mono)


def leading(a: Poly) -> Mono:
    """The monomial of highest degree; among several, the one with the oldest atoms."""
    if len(a.terms) == 1:
        return next(iter(a.terms))
    return min(a.terms, key=_order)


def quotient(mono: Mono, divisor: Mono) -> Mono | None:
    """``mono / divisor``, or None if it does not divide."""
    if not divisor:
        return mono
    if len(divisor) == 1:
        if divisor[0] not in mono:
            return None
        place = mono.index(divisor[0])
        return mono[:place] + mono[place + 1 :]
    rest = list(mono)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)
