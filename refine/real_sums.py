"""Equality of floats as exact real numbers: sums of products over atoms, reductions among them.

An element is a sum of monomials: a rational factor and a product of atoms, which are reads,
reductions, and functions of elements. Sums are distributed, and factors that do not depend on the
indices of a reduction are moved out of it.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine import real_cases, terms
from rlx.refine.facts import polynomial
from rlx.refine.matching import SPLITS, Exhausted, Matcher
from rlx.refine.terms import Reduce
from rlx.solver.evaluate import UndefinedError, evaluate

Monomial = tuple[PrimExpr, ...]
Sum = dict[Monomial, Fraction]

MOST = 400
"""The most monomials of a sum."""
ROUNDS = 400
"""The most definitions that are opened one after the other."""
PAIRS = 60
"""The most atoms on a side that are compared with each other."""


def equal(matcher: Matcher, x: PrimExpr, y: PrimExpr) -> bool:
    """Whether two floats are equal as real numbers."""
    normal = _Normal(matcher)
    return _equal(matcher, normal.sum(x), normal.sum(y), ROUNDS)


def _equal(matcher: Matcher, x: Sum, y: Sum, rounds: int) -> bool:
    count = max(len(x), len(y))
    x, y = dict(x), dict(y)
    for mono in list(x):
        if mono in y:
            common = y.pop(mono)
            left = x.pop(mono) - common
            if left:
                x[mono] = left
    if not x and not y:
        matcher.trail.note("sum", count)
        return True
    atoms = dict.fromkeys(atom for side in (x, y) for mono in side for atom in mono)
    for atom in atoms:
        condition = matcher.inner_condition(atom)
        if condition is not None:
            if matcher.splits >= SPLITS:
                raise Exhausted
            return matcher.split(
                condition,
                lambda: _equal(matcher, _again(matcher, x), _again(matcher, y), rounds - 1),
            )
    place = matcher.trail.attempt()
    matcher.trail.note("sum", count)
    if _matched(matcher, x, y):
        return True
    matcher.trail.drop(place)
    deepest = max((matcher.deepest(atom) for atom in atoms), default=0)
    if not deepest or rounds <= 0:
        if matcher.impossible() or real_cases.equal(matcher, x, y, _Normal(matcher).sum):
            return True
        matcher.differ(_shown(x), _shown(y), "")
        return False
    one, other = (_again(matcher, side, deepest) for side in (x, y))
    return _equal(matcher, one, other, rounds - 1)


def _again(matcher: Matcher, side: Sum, depth: int = 0) -> Sum:
    """A sum whose atoms are in normal form under the present facts, those of a depth opened."""
    normal = _Normal(matcher)
    found: Sum = {}
    for mono, factor in side.items():
        product: Sum = {(): factor}
        for atom in mono:
            opened = matcher.opened_inside(atom, depth) if depth else atom
            product = _times(matcher, product, normal.sum(opened))
        _add(found, product)
    return found


def _shown(side: Sum) -> PrimExpr | None:
    """A sum as an element, for a person."""
    return next((atom for mono in side for atom in mono), None)


def _matched(matcher: Matcher, x: Sum, y: Sum) -> bool:
    """Whether the sums are equal once equal atoms of both have one name."""
    ours = list(dict.fromkeys(atom for mono in x for atom in mono))
    theirs = list(dict.fromkeys(atom for mono in y for atom in mono))
    if len(ours) > PAIRS or len(theirs) > PAIRS:
        return False
    names: dict[PrimExpr, PrimExpr] = {}
    for other in theirs:
        if other in ours:
            continue
        for own in ours:
            if _alike(own, other) and _same_atom(matcher, own, other):
                names[other] = own
                break
        else:
            return False
    renamed: Sum = {}
    for mono, factor in y.items():
        made = tuple(sorted((names.get(atom, atom) for atom in mono), key=matcher.number))
        _add(renamed, {made: factor})
    return renamed == x


def _alike(a: PrimExpr, b: PrimExpr) -> bool:
    if type(a) is not type(b):
        return False
    return not isinstance(a, tir.Call) or isinstance(a, Reduce) or a.op == getattr(b, "op", None)


def _same_atom(matcher: Matcher, a: PrimExpr, b: PrimExpr) -> bool:
    match a, b:
        case tir.Div(a=tir.FloatImm(), b=one), tir.Div(a=tir.FloatImm(), b=other):
            return matcher.elements(one, other)
    return matcher.congruent(a, b)


def _add(found: Sum, more: Sum) -> None:
    for mono, factor in more.items():
        total = found.get(mono, Fraction(0)) + factor
        if total:
            found[mono] = total
        else:
            found.pop(mono, None)


def _times(matcher: Matcher, x: Sum, y: Sum) -> Sum:
    found: Sum = {}
    if len(x) * len(y) > MOST:
        raise Exhausted
    for one, a in x.items():
        for other, b in y.items():
            atoms = _cancelled(matcher, [*one, *other])
            _add(found, {tuple(sorted(atoms, key=matcher.number)): a * b})
    return found


def _cancelled(matcher: Matcher, atoms: list[PrimExpr]) -> list[PrimExpr]:
    """The factors of a product without sizes that are divided by, where these are not 0."""
    for whole in [atom for atom in atoms if isinstance(atom, tir.Cast)]:
        one = tir.FloatImm(1.0, whole.dtype)
        inverse = tir.interned(tir.Div(one, whole))
        if (
            inverse in atoms
            and matcher.facts.is_index(whole.value)
            and matcher.facts.holds(tir.LT(tir.IntImm(0), whole.value)) is True
        ):
            atoms.remove(inverse)
            atoms.remove(whole)
    return atoms


def _is_zero(x: PrimExpr) -> bool:
    return isinstance(x, tir.FloatImm | tir.IntImm) and x.value == 0


def _guarded(atom: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """The condition under which a factor may differ from 0, and what it is then."""
    match atom:
        case (
            tir.Select(condition=condition, true_value=a, false_value=b)
            | tir.Call(op="if_then_else", args=(condition, a, b))
        ):
            if _is_zero(b):
                return tir.interned(condition), tir.interned(a)
            if _is_zero(a):
                return tir.interned(tir.Not(condition)), tir.interned(b)
    return terms.TRUE, atom


def _and(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return b if a is terms.TRUE else a if b is terms.TRUE else tir.And(a, b)


class _Normal:
    """Elements as sums."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def sum(self, given: PrimExpr) -> Sum:
        """An element as a sum of monomials."""
        x = self._matcher.head(tir.interned(given))
        kind = tir.type_of(x)
        if not kind.is_float:
            return {(x,): Fraction(1)}
        match x:
            case tir.FloatImm(value=value) if isfinite(value):
                return {(): Fraction(value)} if value else {}
            case tir.Add(a=a, b=b):
                found = dict(self.sum(a))
                _add(found, self.sum(b))
                return found
            case tir.Sub(a=a, b=b):
                found = dict(self.sum(a))
                _add(found, {mono: -factor for mono, factor in self.sum(b).items()})
                return found
            case tir.Mul(a=a, b=b):
                return _times(self._matcher, self.sum(a), self.sum(b))
            case tir.Div(a=a, b=b):
                return _times(self._matcher, self.sum(a), self._inverse(b))
            case tir.Cast(value=inner) if tir.type_of(inner).is_float:
                return self.sum(inner)
            case tir.Cast(value=whole) if self._matcher.facts.is_index(whole):
                return self._size(whole, kind)
            case tir.Call(op="sigmoid", args=(a,)):
                one = tir.FloatImm(1.0, kind)
                minus = tir.Mul(a, tir.FloatImm(-1.0, kind))
                return self._inverse(tir.Add(one, tir.Call("exp", (minus,))))
            case tir.Call(op="log1p", args=(a,)):
                whole = tir.Add(tir.FloatImm(1.0, kind), a)
                return {(tir.interned(tir.Call("log", (whole,))),): Fraction(1)}
            case tir.Call(op="expm1", args=(a,)):
                return self.sum(tir.Sub(tir.Call("exp", (a,)), tir.FloatImm(1.0, kind)))
            case tir.Call(op="rsqrt", args=(a,)):
                return self._inverse(tir.Call("sqrt", (a,)))
            case tir.Call(op="pow", args=(a, tir.FloatImm(value=2.0))):
                return _times(self._matcher, self.sum(a), self.sum(a))
            case Reduce() if x.combiner.name == "sum":
                return self._reduction(x)
        return {(x,): Fraction(1)}

    def _inverse(self, divisor: PrimExpr) -> Sum:
        found = self.sum(divisor)
        kind = tir.type_of(divisor)
        match list(found.items()):
            case [(atoms, factor)]:
                divisors, scale = atoms, 1 / factor
            case _:
                divisors, scale = (tir.interned(divisor),), Fraction(1)
        one = tir.FloatImm(1.0, kind)
        inverse = [tir.interned(tir.Div(one, each)) for each in divisors]
        return {tuple(sorted(inverse, key=self._matcher.number)): scale}

    def _is_size(self, extent: PrimExpr) -> bool:
        return self._matcher.facts.holds(tir.LE(tir.IntImm(0), extent)) is True

    def _size(self, size: PrimExpr, kind: DataType) -> Sum:
        """A number that is made of sizes, as a float."""
        found: Sum = {}
        parts = polynomial(tir.interned(size))
        if not all(isinstance(each, tir.Var) for mono in parts for each in mono):
            number = self._number(size)
            if number is not None:
                return {(): Fraction(number)} if number else {}
            return {(tir.interned(tir.Cast(kind, size)),): Fraction(1)}
        for mono, factor in parts.items():
            atoms = [tir.interned(tir.Cast(kind, each)) for each in mono]
            _add(found, {tuple(sorted(atoms, key=self._matcher.number)): Fraction(factor)})
        return found

    def _number(self, size: PrimExpr) -> int | None:
        """What a number made of sizes is for all of them: what it is for one, if that is proved."""
        try:
            found = evaluate(size, {var: 1 for var in tir.free_vars(size)})
        except UndefinedError:
            return None
        number = tir.IntImm(found, tir.type_of(size))
        return found if self._matcher.facts.equal(size, number) else None

    def _reduction(self, x: Reduce) -> Sum:
        """A sum over a domain: one for each monomial of its elements, with the factors that do not
        depend on the indices outside.
        """
        axes = terms.fresh(x.axes)
        guard, (source,) = terms.opened(x, axes)
        own = set(axes)
        kind = tir.type_of(x)
        with self._matcher.scope():
            self._matcher.facts.index(axes, x.extents)
            self._matcher.facts.assume(guard)
            inside = self.sum(source)
        found: Sum = dict(self.sum(x.init[0]))
        zero = tir.FloatImm(0.0, kind)
        for mono, factor in inside.items():
            outer = [a for a in mono if own.isdisjoint(tir.free_vars(a))]
            inner = [a for a in mono if not own.isdisjoint(tir.free_vars(a))]
            over, extents, when = list(axes), list(x.extents), guard
            product: list[PrimExpr] = []
            while inner:
                atom = inner.pop(0)
                condition, part = _guarded(atom)
                if condition is not terms.TRUE:
                    when = _and(when, condition)
                    with self._matcher.scope():
                        self._matcher.facts.index(axes, x.extents)
                        self._matcher.facts.assume(when)
                        chosen = self.sum(part)
                    if len(chosen) != 1:
                        product.append(part)
                        continue
                    [(atoms, scale)] = chosen.items()
                    factor *= scale
                    for each in atoms:
                        free = own.isdisjoint(tir.free_vars(each))
                        (outer if free else inner).append(each)
                elif (
                    isinstance(atom, Reduce)
                    and atom.combiner.name == "sum"
                    and _is_zero(atom.init[0])
                ):
                    # A sum of sums is one sum, whose init is 0 in normal form.
                    more = terms.fresh(atom.axes)
                    condition, (part,) = terms.opened(atom, more)
                    product.append(part)
                    over, extents = [*more, *over], [*atom.extents, *extents]
                    when = _and(when, condition)
                else:
                    product.append(atom)
            if any(not own.isdisjoint(tir.free_vars(e)) for e in extents):
                return {(x,): Fraction(1)}
            if not product and when is terms.TRUE and all(map(self._is_size, extents)):
                count = {tuple(outer): factor}
                for extent in extents:
                    count = _times(self._matcher, count, self._size(extent, kind))
                _add(found, count)
                continue
            body: PrimExpr = tir.FloatImm(1.0, kind)
            for k, atom in enumerate(product):
                body = atom if k == 0 else tir.Mul(body, atom)
            made = terms.reduce_over(
                terms.named_combiner("sum", kind),
                over,
                extents,
                (body,),
                (zero,),
                guard=when,
                ordered=False,
            )
            _add(found, {tuple(sorted((*outer, made), key=self._matcher.number)): factor})
        return found
