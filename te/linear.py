"""Canonical form of integer sums, divisions and remainders, which TVM gives indices.

A sum is a constant and parts with factors. A part is ``base % upper // lower``, so that
``x // 4 // 2``, ``x % 12 % 4`` and ``x * 4 % 8`` each have one form.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple, Self

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.te.scalar import Scalar

_MOST = 16
_VISITS = 128
"""The most terms of a sum that is changed, and the most nodes of it, shared ones repeated."""


class _TooLongError(Exception):
    """A sum has too many parts."""


class Quotient(NamedTuple):
    """``base % upper // lower``; ``upper`` is None where there is no remainder, and a multiple of
    ``lower`` otherwise.
    """

    base: tir.PrimExpr
    lower: int = 1
    upper: int | None = None

    def below(self, bound: int, factor: int) -> bool:
        """Whether a multiple of it is always smaller than a number."""
        return self.upper is not None and factor * (self.upper // self.lower - 1) < bound

    def divided(self, by: int) -> Self | None:
        """The quotient as one part; None if it is not one."""
        lower = self.lower * by
        if self.upper is None or self.upper % lower == 0:
            return self._replace(lower=lower)
        return None

    def remainder(self, by: int) -> Self | None:
        """The remainder as one part; None if it is not one."""
        upper = self.lower * by
        if self.upper is None or self.upper % upper == 0:
            return self._replace(upper=upper)
        return self if upper % self.upper == 0 else None

    def node(self, kind: DataType) -> tir.PrimExpr:
        """The expression."""
        made = self.base
        if self.upper is not None:
            made = tir.FloorMod(made, tir.IntImm(self.upper, kind))
        return made if self.lower == 1 else tir.FloorDiv(made, tir.IntImm(self.lower, kind))


class Sum:
    """A constant, and parts with their factors, which are not 0."""

    def __init__(self, constant: int = 0, terms: Mapping[Quotient, int] = {}) -> None:
        self.constant, self.terms = constant, {p: k for p, k in terms.items() if k}

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """The sum with a multiple of another one."""
        terms = dict(self.terms)
        for part, k in other.terms.items():
            terms[part] = terms.get(part, 0) + k * factor
        return Sum(self.constant + factor * other.constant, terms)

    def times(self, factor: int) -> Sum:
        """A multiple of the sum."""
        return Sum().plus(self, factor)

    def _alone(self, kind: DataType) -> tuple[Quotient, int]:
        """The sum as one part with a factor."""
        if not self.constant and len(self.terms) == 1:
            [(part, factor)] = self.terms.items()
            if factor > 0:
                return part, factor
        return Quotient(tir.interned(self.node(kind))), 1

    def divided(self, by: int, kind: DataType) -> Sum:
        """The quotient by a positive number, rounded down."""
        whole, rest = self._multiples(by)
        whole = Sum(whole.constant // by, {p: k // by for p, k in whole.terms.items()})
        if not rest.terms:
            return whole.plus(Sum(rest.constant // by))
        part, factor = rest._alone(kind)
        if part.below(by, factor):
            return whole
        if by % factor == 0:
            scaled = by // factor
            quotient = part.divided(scaled)
            if quotient is None:
                quotient = Quotient(
                    tir.interned(part._replace(lower=1).node(kind)), part.lower * scaled
                )
        else:
            quotient = Quotient(tir.interned(Sum(0, {part: factor}).node(kind)), by)
        return whole.plus(Sum(0, {quotient: 1}))

    def remainder(self, by: int, kind: DataType) -> Sum:
        """The remainder of a division by a positive number, which is not negative."""
        _, rest = Sum(self.constant % by, self.terms)._multiples(by)
        if not rest.terms:
            return Sum(rest.constant % by)
        part, factor = rest._alone(kind)
        if part.below(by, factor):
            return Sum(0, {part: factor})
        if by % factor == 0 and (found := part.remainder(by // factor)) is not None:
            return Sum(0, {found: factor})
        return Sum(0, {Quotient(tir.interned(Sum(0, {part: factor}).node(kind)), 1, by): 1})

    def _multiples(self, by: int) -> tuple[Sum, Sum]:
        """The terms that a number divides, and the others."""
        whole = {p: k for p, k in self.terms.items() if k % by == 0}
        rest = {p: k for p, k in self.terms.items() if k % by}
        if self.constant % by:
            return Sum(0, whole), Sum(self.constant, rest)
        return Sum(self.constant, whole), Sum(0, rest)

    def node(self, kind: DataType) -> tir.PrimExpr:
        """The expression: positive terms, largest first, then the negative ones, each before the
        constant of its sign.
        """
        terms = sorted(_joined(self.terms).items(), key=_first)
        added = [_times(part.node(kind), k, kind) for part, k in terms if k > 0]
        taken = [_times(part.node(kind), -k, kind) for part, k in terms if k < 0]
        if self.constant > 0 or not (added or taken):
            added.append(tir.IntImm(self.constant, kind))
        elif self.constant:
            taken.append(tir.IntImm(-self.constant, kind))
        if not added:
            added = [tir.IntImm(0, kind)]
        return reduce(tir.Sub, taken, reduce(tir.Add, added))


def _joined(terms: dict[Quotient, int]) -> dict[Quotient, int]:
    """Terms with ``x // 4 * 4 + x % 4`` as ``x``."""
    found = dict(terms)
    for low, factor in terms.items():
        while low in found and low.upper is not None:
            high = next(
                (
                    p
                    for p, k in found.items()
                    if p.base is low.base
                    and p.lower == low.upper
                    and k * low.lower == factor * p.lower
                ),
                None,
            )
            if high is None:
                break
            del found[high]
            at = list(found.items())
            whole = low._replace(upper=high.upper)
            found = {(whole if p == low else p): k for p, k in at}
            low = whole
    return found


def _first(term: tuple[Quotient, int]) -> tuple[int, int, float]:
    part, factor = term
    return -factor, -part.lower, -(float("inf") if part.upper is None else part.upper)


def _times(node: tir.PrimExpr, factor: int, kind: DataType) -> tir.PrimExpr:
    return node if factor == 1 else tir.Mul(node, tir.IntImm(factor, kind))


def simplified(given: Scalar) -> Scalar:
    """An expression, in canonical form if it is arithmetic of signed integers."""
    kinds = (tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod)
    if given.dtype.code != "int" or given.dtype.bits < 32 or not isinstance(given.node, kinds):
        return given
    found = _sum(given.node, given.dtype)
    limit = 1 << (given.dtype.bits - 1)
    if found is None or any(
        not -limit <= k < limit for k in (found.constant, *found.terms.values())
    ):
        return given
    node = found.node(given.dtype)
    if isinstance(node, tir.Sub) and tir.is_zero(node.a) and len(found.terms) == 1:
        [(part, factor)] = found.terms.items()
        node = tir.Mul(part.node(given.dtype), tir.IntImm(factor, given.dtype))
    return Scalar(node, given.dtype)


def against_number(node: tir.Binary) -> tuple[tir.PrimExpr, tir.IntImm, bool] | None:
    """The only term of a comparison, the number that it is compared with, and whether the term is
    on the left.
    """
    kind = tir.type_of(node.a)
    if kind.code != "int" or (isinstance(node.a, tir.IntImm) and isinstance(node.b, tir.IntImm)):
        return None
    found = _sum(tir.Sub(node.a, node.b), kind)
    if found is None or len(found.terms) != 1:
        return None
    [(part, sign)] = found.terms.items()
    if abs(sign) != 1:
        return None
    return part.node(kind), tir.IntImm(-sign * found.constant, kind), sign > 0


def _sum(root: tir.PrimExpr, kind: DataType) -> Sum | None:
    """An expression as a sum; None for one that is too long."""
    left = _VISITS

    def of(node: tir.PrimExpr) -> Sum:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooLongError
        match node:
            case tir.Add(a=a, b=b):
                found = of(a).plus(of(b))
            case tir.Sub(a=a, b=b):
                found = of(a).plus(of(b), -1)
            case tir.Mul(a=a, b=tir.IntImm(value=k)) | tir.Mul(a=tir.IntImm(value=k), b=a):
                found = of(a).times(k)
            case tir.FloorDiv(a=a, b=tir.IntImm(value=k)) if k > 0:
                found = of(a).divided(k, kind)
            case tir.FloorMod(a=a, b=tir.IntImm(value=k)) if k > 0:
                found = of(a).remainder(k, kind)
            case tir.IntImm(value=k):
                return Sum(k)
            case _:
                return Sum(0, {Quotient(tir.interned(node)): 1})
        if len(found.terms) > _MOST:
            raise _TooLongError
        return found

    try:
        return of(root)
    except _TooLongError:
        return None
