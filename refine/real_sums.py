"""Equality of floats as exact real numbers, and of integers that wrap: sums of products over atoms,
reductions among them.

An element is a sum of monomials: a rational factor and a product of atoms, which are reads,
reductions, and functions of elements. Sums are distributed, and factors that do not depend on the
indices of a reduction are moved out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import chain, islice
from itertools import product as product_of
from math import isfinite, prod, trunc
from typing import TypeGuard

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType, fits
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine import real_cases, terms
from rlx.refine.facts import index_bound, only_index, polynomial, sum_of
from rlx.refine.loops_exit import conjuncts
from rlx.refine.matching import Matcher
from rlx.refine.normal_forms import Exhausted, is_finite, written_out
from rlx.refine.terms import ConstantTerm, Lambda, Reduce, ScanTerm, TensorTerm
from rlx.solver.evaluate import UndefinedError, evaluate

Monomial = tuple[PrimExpr, ...]
Sum = dict[Monomial, Fraction]
Domain = tuple[tuple[tir.Var, ...], tuple[PrimExpr, ...], PrimExpr]
"""The axes of a reduction, their extents, and the guard."""
Part = tuple[PrimExpr, tuple[Domain, ...]]

MOST = 400
"""The most monomials of a sum."""
ROUNDS = 400
"""The most definitions that are opened one after the other."""
WRITTEN_OUT = 36
"""The most elements of a sum that are written out."""
HIGHEST = 8
"""The highest power that is written as a product."""
CUT = 100
"""The rounds that it costs to add up a sum in two parts."""
SCALES = 4
"""The most factors between two sums that are tried."""
PAIRS = 60
"""The most atoms on a side that are compared with each other."""


def equal(matcher: Matcher, x: PrimExpr, y: PrimExpr) -> bool:
    """Whether two floats are equal as real numbers, or two integers of one type are."""
    normal = _Normal(matcher)
    return _equal(matcher, normal.sum(x), normal.sum(y), ROUNDS)


def equal_differences(matcher: Matcher, x: tir.Comparison, y: tir.Comparison) -> bool:
    """Whether two comparisons of one kind compare numbers whose differences are the same, up to a factor
    that is positive, or any but 0 for an equation.

    Of two infinite numbers the difference says nothing.
    """
    normal = _Normal(matcher)
    signed = not isinstance(x, tir.EQ | tir.NE)
    compared = [[normal.sum(each.a), normal.sum(each.b)] for each in (x, y)]
    for _ in range(ROUNDS):
        if any(sum(map(normal.is_undefined, chain(*sides))) > 1 for sides in compared):
            return False
        one, other = (_difference(*sides) for sides in compared)
        if _proportional(matcher, one, other, signed):
            return True
        atoms = (atom for side in (one, other) for mono in side for atom in mono)
        deepest = max(map(matcher.deepest, atoms), default=0)
        if not deepest:
            return False
        compared = [[_again(matcher, side, deepest) for side in sides] for sides in compared]
    return False


def _proportional(matcher: Matcher, x: Sum, y: Sum, signed: bool) -> bool:
    """Whether a sum is another one times a number, which is positive if ``signed``."""
    scales = [Fraction(1)]
    if x and len(x) == len(y):
        first = next(iter(x.values()))
        ratios = dict.fromkeys(abs(first / factor) for factor in y.values())
        scales += [scale for each in islice(ratios, SCALES) for scale in (each, -each)]
    for scale in dict.fromkeys(scales):
        scaled = {mono: factor * scale for mono, factor in y.items()}
        if not (signed and scale < 0) and _matched(matcher, x, scaled, merge=True):
            return True
    return False


def _difference(x: Sum, y: Sum) -> Sum:
    found = dict(x)
    _add(found, {mono: -factor for mono, factor in y.items()})
    return found


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
            # A choice in a length or in a divisor may be another one's, written in another way.
            if matcher.facts.is_index(condition) and matcher.attempt(
                lambda: _matched(matcher, x, y, merge=False)
            ):
                return True
            return matcher.split(
                condition,
                lambda: _equal(matcher, _again(matcher, x), _again(matcher, y), rounds - 1),
            )
    place, mismatch = matcher.trail.attempt(), matcher.mismatch
    matcher.trail.note("sum", count)
    deepest = max((matcher.deepest(atom) for atom in atoms), default=0)
    if _matched(matcher, x, y, merge=not deepest):
        return True
    matcher.trail.drop(place)
    matcher.mismatch = mismatch  # another way is tried, whose end says more
    if not deepest or rounds <= 0:
        one, other = (_unrolled(matcher, side) for side in (x, y))
        if (one, other) != (x, y):
            return _equal(matcher, one, other, rounds - 1)
        cut = _cut(matcher, x, y) if rounds > CUT else None
        if cut is not None:
            return _equal(matcher, *cut, rounds - CUT)
        axis = matcher.axis_of_constants(*atoms)
        if axis is not None:

            def holds(at: Callable[[PrimExpr], PrimExpr]) -> bool:
                one, other = (_again(matcher, side, change=at) for side in (x, y))
                return _equal(matcher, one, other, rounds - 1)

            return matcher.at_each(axis, holds)
        whole, other_whole = _integer(x), _integer(y)
        if (
            whole is not None
            and other_whole is not None
            and matcher.facts.equal(whole, other_whole)
        ):
            return True
        normal = _Normal(matcher)
        if matcher.impossible() or (
            matcher.real
            and not any(_may_be_infinite(matcher, atom) for atom in atoms)
            and real_cases.equal(matcher, x, y, normal.sum, _each, normal.is_partial)
        ):
            return True
        matcher.differ(_shown(x), _shown(y), "")
        return False
    one, other = (_again(matcher, side, deepest) for side in (x, y))
    # Where nothing can be opened, no further round will.
    return _equal(matcher, one, other, rounds - 1 if one is not x or other is not y else 0)


def _again(
    matcher: Matcher,
    side: Sum,
    depth: int = 0,
    change: Callable[[PrimExpr], PrimExpr] | None = None,
) -> Sum:
    """A sum whose atoms are in normal form under the present facts, those of a depth opened, or all
    changed; as it is where what is not defined for all numbers would cancel. Beside 0 that stays.
    """
    normal = _Normal(matcher)
    found: Sum = {}
    parts: list[Sum] = []
    for mono, factor in side.items():
        own: list[Sum] = [{(): factor}]
        for atom in mono:
            opened = matcher.opened_inside(atom, depth) if depth else atom
            own.append(normal.sum(opened if change is None else change(opened)))
        if (none := _by_zero(own)) is not None:
            return none
        product = reduce(partial(_times, matcher), own)
        if not product and normal.loses(product, own):
            zero: Sum = {(tir.interned(_number(0, tir.type_of(mono[0]))),): Fraction(1)}
            own = [zero, *filter(None, own[1:])]
            product = reduce(partial(_times, matcher), own)
        parts += own
        _add(found, product)
    return side if normal.loses(found, parts) else found


def _unrolled(matcher: Matcher, side: Sum) -> Sum:
    """A sum with its sums over few indices written out."""
    normal = _Normal(matcher)
    found: Sum = {}
    for mono, factor in side.items():
        product: Sum = {(): factor}
        for atom in mono:
            parts = _each(atom)
            made: Sum = {(atom,): Fraction(1)} if parts is None else {}
            for part in parts or ():
                _add(made, normal.sum(part))
            product = _times(matcher, product, made)
        _add(found, product)
    return found


def _cut(matcher: Matcher, x: Sum, y: Sum) -> tuple[Sum, Sum] | None:
    """Both sides, once a sum of one is in two parts of which the first is as long as another sum;
    None if no sum is longer than another one.
    """
    for one, other, turned_back in ((x, y, False), (y, x, True)):
        for mono in one:
            for at, whole in enumerate(mono):
                for part in (atom for side in (other, one) for mono in side for atom in mono):
                    parts = _in_two(matcher, whole, part)
                    if parts is None:
                        continue
                    made = dict(one)
                    factor = made.pop(mono)
                    for each in parts:
                        atoms = sorted((*mono[:at], each, *mono[at + 1 :]), key=matcher.number)
                        _add(made, {tuple(atoms): factor})
                    return (other, made) if turned_back else (made, other)
    return None


def _in_two(matcher: Matcher, whole: PrimExpr, part: PrimExpr) -> list[PrimExpr] | None:
    """A sum as two, the first of them over as many indices as another sum; None if it has not one
    longer axis.
    """
    if not (isinstance(whole, Reduce) and isinstance(part, Reduce)):
        return None
    if not whole.combiner.name == part.combiner.name == "sum" or not _is_zero(whole.init[0]):
        return None
    if len(whole.axes) != len(part.axes):
        return None
    pairs = enumerate(zip(whole.extents, part.extents, strict=True))
    longer = [k for k, (a, b) in pairs if not matcher.facts.equal(a, b)]
    if len(longer) != 1:
        return None
    [k] = longer
    extent, size = whole.extents[k], part.extents[k]
    within = (tir.LE(terms.index(0), size), tir.LE(size, extent))
    if not all(matcher.facts.holds(each) is True for each in within):
        return None
    axes = terms.fresh(whole.axes)
    guard, sources = terms.opened(whole, axes)
    behind = {axes[k]: tir.interned(tir.Add(axes[k], size))}
    found = []
    for length, moved in (
        (size, {}),
        (sum_of(polynomial(tir.interned(tir.Sub(extent, size)))), behind),
    ):
        extents = [*whole.extents[:k], length, *whole.extents[k + 1 :]]
        found.append(
            terms.reduce_over(
                whole.combiner,
                axes,
                extents,
                [terms.substitute(each, moved) for each in sources],
                whole.init,
                guard=terms.substitute(guard, moved),
                ordered=False,
            )
        )
    return found


def _each(atom: PrimExpr) -> list[PrimExpr] | None:
    """The parts of a sum, written out over its short axes, or of a hyperbolic function as a sum; another
    reduction over few indices, written out. None if this is none of them.
    """
    if isinstance(atom, tir.Call) and atom.op in ("tanh", "sinh", "cosh"):
        return _hyperbolic(atom)
    if not isinstance(atom, Reduce):
        return None
    if atom.combiner.name != "sum":
        whole = written_out(atom)
        return None if whole is None else [whole]
    axes = terms.fresh(atom.axes)
    guard, (source,) = terms.opened(atom, axes)
    zero = atom.init[0]
    short = _written_out_over(axes, atom.extents, (guard, source))
    if not short or not _is_zero(zero):
        return None
    rest = [
        (axis, extent) for axis, extent in zip(axes, atom.extents, strict=True) if axis not in short
    ]
    found = []
    for point in product_of(*map(range, short.values())):
        values = {axis: terms.index(k, axis.dtype) for axis, k in zip(short, point, strict=True)}
        part, condition = (terms.substitute(each, values) for each in (source, guard))
        free = set(axes).isdisjoint(tir.free_vars(condition))
        if rest:
            part = terms.reduce_over(
                atom.combiner,
                [axis for axis, _ in rest],
                [extent for _, extent in rest],
                [part],
                atom.init,
                guard=terms.TRUE if free else condition,
                ordered=False,
            )
        if free and condition is not terms.TRUE:
            part = tir.interned(tir.Call("if_then_else", (condition, part, zero), atom.dtype))
        found.append(part)
    return found


def _written_out_over(
    axes: Sequence[tir.Var], extents: Sequence[PrimExpr], parts: Sequence[PrimExpr]
) -> dict[tir.Var, int]:
    """The axes over which a sum is written out, with their lengths: all, or if these are too many, the
    shortest of those that conditions and divisions speak of.
    """
    known = {a: e.value for a, e in zip(axes, extents, strict=True) if isinstance(e, tir.IntImm)}
    if len(known) == len(axes) and prod(known.values()) <= WRITTEN_OUT:
        return known
    divided = (tir.Comparison, tir.FloorDiv, tir.FloorMod)
    spoken = {
        var
        for node in tir.postorder(*parts)
        if isinstance(node, divided)
        for var in tir.free_vars(node)
    }
    found: dict[tir.Var, int] = {}
    for axis in sorted(known, key=lambda axis: known[axis]):
        if axis in spoken and known[axis] * prod(found.values()) <= WRITTEN_OUT:
            found[axis] = known[axis]
    return found


def _hyperbolic(atom: tir.Call) -> list[PrimExpr]:
    """A hyperbolic function in exponentials."""
    (a,), kind = atom.args, tir.type_of(atom)

    def scaled(factor: float, x: PrimExpr) -> PrimExpr:
        return tir.Mul(tir.FloatImm(factor, kind), x)

    one = tir.FloatImm(1.0, kind)
    if atom.op == "tanh":
        below = tir.Add(one, tir.Call("exp", (scaled(-2.0, a),), kind))
        return [tir.FloatImm(-1.0, kind), tir.Div(tir.FloatImm(2.0, kind), below)]
    sign = 0.5 if atom.op == "cosh" else -0.5
    up, down = (tir.Call("exp", (each,), kind) for each in (a, scaled(-1.0, a)))
    return [scaled(0.5, up), scaled(sign, down)]


def _integer(side: Sum) -> PrimExpr | None:
    """An integer that is one element or one number; None if it is another one, or a float."""
    match list(side.items()):
        case []:
            return terms.index(0)
        case [((), factor)]:
            return terms.index(int(factor)) if factor.denominator == 1 else None
        case [((atom,), factor)] if factor == 1 and tir.type_of(atom).is_integer:
            return atom
    return None


def _shown(side: Sum) -> PrimExpr:
    """A sum as an element, for a person: its first part."""
    for mono, factor in side.items():
        return next(iter(mono), tir.FloatImm(float(factor)))
    return tir.FloatImm(0.0)


def _matched(matcher: Matcher, x: Sum, y: Sum, merge: bool) -> bool:
    """Whether the sums are equal once equal atoms of both have one name, and, if ``merge``, those
    of one side, too.
    """
    ours = list(dict.fromkeys(atom for mono in x for atom in mono))
    theirs = list(dict.fromkeys(atom for mono in y for atom in mono))
    if len(ours) > PAIRS or len(theirs) > PAIRS:
        return False
    names: dict[PrimExpr, PrimExpr] = {}
    alone: list[PrimExpr] = []
    for other in theirs:
        if other in ours:
            continue
        same = _first_equal(matcher, ours, other)
        if same is not None:
            names[other] = same
        elif merge:
            alone.append(other)
        else:
            return False
    renamed = _renamed(matcher, y, names)
    if renamed == x:
        return True
    if not merge:
        return False
    names, kept = {}, list[PrimExpr]()
    for atom in (*ours, *alone):
        same = _first_equal(matcher, kept, atom)
        if same is None:
            kept.append(atom)
        else:
            names[atom] = same
    sides = [_renamed(matcher, side, names) for side in (x, renamed)]
    normal = _Normal(matcher)
    for side, merged in zip((x, renamed), sides, strict=True):
        given = {tuple(names.get(atom, atom) for atom in mono): n for mono, n in side.items()}
        if normal.loses(merged, [given]):
            return False
    return bool(names) and sides[0] == sides[1]


def _first_equal(matcher: Matcher, atoms: Sequence[PrimExpr], x: PrimExpr) -> PrimExpr | None:
    return next((a for a in atoms if _alike(a, x) and _same_atom(matcher, a, x)), None)


def _renamed(matcher: Matcher, side: Sum, names: Mapping[PrimExpr, PrimExpr]) -> Sum:
    found: Sum = {}
    for mono, factor in side.items():
        made = tuple(sorted((names.get(atom, atom) for atom in mono), key=matcher.number))
        _add(found, {made: factor})
    return found


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
    """The factors of a product without those that are divided by and are positive."""
    for inverse in [atom for atom in atoms if _is_inverse(atom)]:
        if inverse in atoms and inverse.b in atoms and _is_positive(matcher, inverse.b):
            atoms.remove(inverse)
            atoms.remove(inverse.b)
    return atoms


PARTIAL = frozenset(
    [
        *("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "pow", "fmod"),
        *("acos", "asin", "acosh", "atanh"),
    ]
)
"""Functions that are not defined for all real numbers."""
_OF_POSITIVES = frozenset(["log", "log2", "log10", "log1p", "sqrt", "rsqrt"])
"""Functions that are defined for all positive numbers."""


_ODD = frozenset(["sin", "tan", "asin", "atan", "sinh", "asinh", "atanh", "tanh", "erf"])
"""Functions whose value at an opposite is the opposite."""

_EVEN = frozenset(["cos", "cosh", "fabs"])
"""Functions whose value at an opposite is the same."""


def _is_suspect(x: PrimExpr) -> bool:
    """Whether it is to be looked at if an element is defined for all real numbers."""
    match x:
        case tir.BufferLoad(buffer=TensorTerm()) | tir.Div():
            return True
        case tir.Call(op=op):
            return op in PARTIAL
    return False


def _is_strict(x: PrimExpr) -> bool:
    """Whether it is no number where one of its operands is none."""
    match x:
        case tir.Add() | tir.Sub() | tir.Mul() | tir.Div() | tir.Min() | tir.Max() | tir.Cast():
            return tir.type_of(x).is_float
        case Reduce():  # the place of an extremum is a number in any case
            return tir.type_of(x).is_float and x.combiner.name in ("sum", "prod", "max", "min")
        case tir.Call(args=(_,)):
            return tir.type_of(x).is_float
    return False


def _is_inverse(x: PrimExpr) -> TypeGuard[tir.Div]:
    return isinstance(x, tir.Div) and isinstance(x.a, tir.FloatImm) and x.a.value == 1


def _by_zero(parts: Iterable[Sum]) -> Sum | None:
    """A division by 0 in one of some sums, which makes the whole of it no number; None if there is
    none.
    """
    for part in parts:
        for atom in (each for mono in part for each in mono):
            if _is_inverse(atom) and _is_zero(atom.b):
                return {(atom,): Fraction(1)}
    return None


def _is_positive(matcher: Matcher, x: PrimExpr) -> bool:
    """Whether a number is positive as it stands."""
    x = matcher.head(tir.interned(x))
    match x:
        case tir.FloatImm(value=value):
            return value > 0
        case tir.Cast(value=whole) if matcher.facts.is_index(whole):
            return matcher.facts.holds(tir.LT(tir.IntImm(0), whole)) is True
        case tir.Mul(a=a, b=b) | tir.Add(a=a, b=b) | tir.Div(a=a, b=b):
            return _is_positive(matcher, a) and _is_positive(matcher, b)
        case Reduce() if x.combiner.name == "sum" and _is_zero(x.init[0]):
            axes = terms.fresh(x.axes)
            guard, (source, *_) = terms.opened(x, axes)
            with matcher.scope():
                matcher.facts.index(axes, x.extents)
                matcher.facts.assume(guard)
                condition, part = _guarded(matcher.head(tir.interned(source)))
                matcher.facts.assume(condition)
                if not _is_positive(matcher, part):
                    return False
            return matcher.has_point(axes, x.extents, terms.both(guard, condition))
        case tir.Call(op="exp", args=(a,)):
            return not _may_be_infinite(matcher, a)
    return False


def _may_be_infinite(matcher: Matcher, x: PrimExpr) -> bool:
    """Whether an infinity or NaN is written in an element or in what it reads, other than what a
    reduction begins with: as a number it would cancel, and times 0 it would be 0.
    """
    known = matcher.infinite
    x = tir.interned(x)
    if x not in known:
        known[x] = False  # while it is looked at
        match x:
            case tir.FloatImm(value=value):
                known[x] = not isfinite(value)
            case tir.BufferLoad(buffer=TensorTerm() as tensor):
                known[x] = _holds_infinity(matcher, tensor)
            case Reduce(sources=parts):
                known[x] = any(_may_be_infinite(matcher, part) for part in parts)
            case (
                tir.Select(true_value=a, false_value=b)
                | tir.Call(op="if_then_else", args=(_, a, b))
            ):
                known[x] = _may_be_infinite(matcher, a) or _may_be_infinite(matcher, b)
            case _:
                known[x] = any(_may_be_infinite(matcher, part) for part in tir.children(x))
    return known[x]


def _holds_infinity(matcher: Matcher, tensor: TensorTerm) -> bool:
    """Whether an element of a tensor may be an infinity or NaN that is written in a program."""
    known = matcher.infinite
    if tensor not in known:
        known[tensor] = False  # while it is looked at
        made = tensor if isinstance(tensor, ScanTerm) else matcher.definition(tensor)
        if isinstance(tensor, ConstantTerm):
            known[tensor] = not is_finite(tensor)
        elif isinstance(made, Lambda | ScanTerm):
            with matcher.outside():
                known[tensor] = _may_be_infinite(matcher, made.element)
    return known[tensor]


def _is_zero(x: PrimExpr) -> bool:
    return isinstance(x, tir.FloatImm | tir.IntImm) and x.value == 0


def _guarded(atom: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """The condition under which a factor may differ from 0, and what it is then."""
    if (parts := terms.choice(atom)) is not None:
        condition, a, b = parts
        if _is_zero(b):
            return tir.interned(condition), tir.interned(a)
        if _is_zero(a):
            return tir.interned(tir.Not(condition)), tir.interned(b)
    return terms.TRUE, atom


def _inner_sum(atom: PrimExpr) -> tuple[tuple[tir.Var, ...], Reduce | None]:
    """A sum inside of a sum, with names for its axes: both are one sum, as its initial value is 0
    in normal form.
    """
    if isinstance(atom, Reduce) and atom.combiner.name == "sum" and _is_zero(atom.init[0]):
        return terms.fresh(atom.axes), atom
    return (), None


def _if(condition: PrimExpr, atom: PrimExpr, kind: DataType) -> PrimExpr:
    """A factor where a condition holds, else 0."""
    if condition is terms.TRUE:
        return atom
    return tir.interned(tir.Call("if_then_else", (condition, atom, _number(0, kind)), kind))


def _ways(atom: PrimExpr) -> list[PrimExpr]:
    """A choice between numbers, of which one may be a choice again, as a sum of numbers each of
    which is 0 under all conditions but its own; nothing if it is no choice, or if one of two is 0.
    """
    kind = tir.type_of(atom)
    zero = tir.FloatImm(0.0, kind) if kind.is_float else tir.IntImm(0, kind)
    found: list[PrimExpr] = []
    todo: list[tuple[PrimExpr, PrimExpr]] = [(terms.TRUE, atom)]
    while todo:
        when, part = todo.pop()
        parts = terms.choice(part)
        if parts is not None and not any(map(_is_zero, parts[1:])):
            condition, a, b = parts
            todo += [(terms.both(when, condition), a), (terms.both(when, tir.Not(condition)), b)]
        elif when is not terms.TRUE:
            found.append(tir.interned(tir.Call("if_then_else", (when, part, zero), kind)))
    return found


class _Normal:
    """Elements as sums."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def sum(self, given: PrimExpr) -> Sum:
        """An element as a sum of monomials."""
        x = self._matcher.head(tir.interned(given))
        kind = tir.type_of(x)
        match x:
            case tir.BufferLoad(buffer=ScanTerm() as scan, indices=indices):
                whole = terms.prefix(scan, indices)
                return self.sum(whole) if whole is not None else {(x,): Fraction(1)}
        if not (kind.is_float or kind.is_integer):
            return {(x,): Fraction(1)}
        if isinstance(x, tir.Add | tir.Sub | tir.Mul):
            return self._arithmetic(x)
        if kind.is_integer:
            return self._whole(x)
        match x:
            case tir.FloatImm(value=value) if isfinite(value):
                return {(): Fraction(value)} if value else {}
            case tir.Div(a=a, b=b):
                parts = self.sum(a), self._inverse(b)
                return self._defined(_times(self._matcher, *parts), parts, x)
            case tir.Cast(value=inner) if tir.type_of(inner).is_float:
                return self.sum(inner)
            case tir.Cast(value=condition) if tir.type_of(condition) == BOOL:
                return self._truth(condition, tir.FloatImm(1.0, kind), tir.FloatImm(0.0, kind))
            case tir.Cast(value=whole) if self._matcher.facts.is_index(whole):
                return self._size(whole, kind)
            case tir.Cast(value=whole) if (converted := self._of_integers(whole, kind)) is not None:
                return self.sum(converted)
            case tir.Max(a=a, b=b) | tir.Min(a=a, b=b):
                first, second = (self._matcher.head(tir.interned(each)) for each in (a, b))
                return {(tir.interned(type(x)(first, second)),): Fraction(1)}
            case tir.Call(op="sigmoid", args=(a,)):
                one = tir.FloatImm(1.0, kind)
                minus = tir.Mul(a, tir.FloatImm(-1.0, kind))
                return self._inverse(tir.Add(one, tir.Call("exp", (minus,))))
            case tir.Call(op="exp", args=(a,)):
                return self._exponential(a, kind)
            case tir.Call(op="log", args=(a,)):
                return self._logarithm(a, x)
            case tir.Call(op="log1p", args=(a,)):
                whole = tir.Add(tir.FloatImm(1.0, kind), a)
                return self.sum(tir.Call("log", (whole,)))
            case tir.Call(op="expm1", args=(a,)):
                return self.sum(tir.Sub(tir.Call("exp", (a,)), tir.FloatImm(1.0, kind)))
            case tir.Call(op="rsqrt", args=(a,)):
                return self._inverse(tir.Call("sqrt", (a,)))
            case tir.Call(op="pow", args=(a, b)):
                match self._matcher.head(tir.interned(b)):
                    case tir.FloatImm(value=power) if 1 <= power <= HIGHEST and power % 1 == 0:
                        base = self.sum(a)
                        if len(base) ** power <= MOST:
                            factors = [base] * int(power)
                            return reduce(lambda m, n: _times(self._matcher, m, n), factors)
                    case tir.FloatImm(value=power) if -HIGHEST <= power <= -1 and power % 1 == 0:
                        return self._inverse(tir.Call("pow", (a, tir.FloatImm(-power, kind)), kind))
                    case tir.FloatImm(value=0.5):
                        return self.sum(tir.Call("sqrt", (a,), kind))
            case tir.Call(op="ceil", args=(a,)):
                minus = tir.Mul(a, tir.FloatImm(-1.0, kind))
                floor = self.sum(tir.Call("floor", (minus,), kind))
                return {mono: -factor for mono, factor in floor.items()}
            case tir.Call(op=op, args=(a,)) if op in _ODD or op in _EVEN:
                return self._of_opposite(op, self.sum(a), x)
            case Reduce() if x.combiner.name == "sum":
                return self._reduction(x)
            case Reduce() if x.combiner.name == "prod":
                return self._of_factors(x)
        return {(x,): Fraction(1)}

    def _arithmetic(self, x: tir.Add | tir.Sub | tir.Mul) -> Sum:
        one, other = self.sum(x.a), self.sum(x.b)
        if isinstance(x, tir.Mul):
            found = _times(self._matcher, one, other)
            if not found and self.loses(found, (one, other)):  # 0 times an infinity is none
                zero: Sum = {(tir.interned(_number(0, tir.type_of(x))),): Fraction(1)}
                found = _times(self._matcher, one or zero, other or zero)
        else:
            found = dict(one)
            _add(found, other if isinstance(x, tir.Add) else {m: -f for m, f in other.items()})
        return self._defined(found, (one, other), x)

    def _defined(self, found: Sum, parts: Sequence[Sum], x: PrimExpr) -> Sum:
        """A sum ``x`` of parts; as a whole where one is infinite, with which no other cancels, or
        what is not defined for all numbers has cancelled; what is divided by 0 alone, if there is such a part.
        """
        if (none := _by_zero(parts)) is not None:
            return none
        infinite = any(_may_be_infinite(self._matcher, atom) for mono in found for atom in mono)
        return {(x,): Fraction(1)} if infinite or self.loses(found, parts) else found

    def loses(self, found: Sum, parts: Sequence[Sum]) -> bool:
        """Whether a factor of parts that is not defined for all numbers, or is none, is not in
        their sum or product, and what is undefined in it does not make that undefined, too.
        """
        left = {atom for mono in found for atom in mono}
        given = {atom for part in parts for mono in part for atom in mono}
        gone = [atom for atom in given - left if self.is_undefined((atom,))]
        if not gone:
            return False
        if any(_may_be_infinite(self._matcher, atom) for atom in gone):
            return True
        stays = {each for atom in left for each in self._partial_parts(atom, always=True)}
        return not all(each in stays for atom in gone for each in self._partial_parts(atom))

    def is_partial(self, atom: PrimExpr) -> bool:
        """Whether a factor is not defined for all real numbers, by its definition."""
        suspects = self._matcher.suspects
        if atom not in suspects:
            suspects[atom] = [node for node in tir.postorder(atom) if _is_suspect(node)]
        return any(map(self._may_be_undefined, suspects[atom]))

    def _may_be_undefined(self, suspect: PrimExpr) -> bool:
        match suspect:
            case tir.BufferLoad(buffer=TensorTerm() as tensor):
                return self._reads_partial(tensor)
            case tir.Div(b=divisor):
                return not _is_positive(self._matcher, divisor)
            case tir.Call(op=op, args=(a, *others)) if op in PARTIAL:
                return bool(others) or not (op in _OF_POSITIVES and _is_positive(self._matcher, a))
        return False

    def _partial_parts(self, atom: PrimExpr, always: bool = False) -> Iterator[Part]:
        """The parts of a factor that may not be defined, each with the domains of the reductions
        around it; or only those without which the factor ``always`` has no value.
        """
        stack: list[Part] = [(atom, ())]
        while stack:
            node, around = stack.pop()
            if self._may_be_undefined(node):
                yield node, around
            inside = tir.children(node)
            if always and not _is_strict(node):
                continue
            if isinstance(node, Reduce):
                around = (*around, (node.axes, node.extents, node.guard))
            stack += [(each, around) for each in inside]

    def is_undefined(self, mono: Monomial) -> bool:
        """Whether a product may be an infinity or not a number."""
        return any(self.is_partial(a) or _may_be_infinite(self._matcher, a) for a in mono)

    def _reads_partial(self, tensor: TensorTerm) -> bool:
        """Whether an element of a tensor may not be defined."""
        known = self._matcher.partial
        if tensor not in known:
            known[tensor] = False  # while it is looked at
            made = tensor if isinstance(tensor, ScanTerm) else self._matcher.definition(tensor)
            if isinstance(made, Lambda | ScanTerm):
                with self._matcher.outside():
                    known[tensor] = self.is_partial(made.element)
        return known[tensor]

    def _of_opposite(self, op: str, inside: Sum, x: PrimExpr) -> Sum:
        """An odd or even function ``x`` of the opposite of a sum: the opposite of that of the sum,
        or the same.
        """
        kind = tir.type_of(x)
        exact = all(Fraction(float(factor)) == factor for factor in inside.values())
        if not (inside and exact and all(factor < 0 for factor in inside.values())):
            return {(x,): Fraction(1)}
        parts = [_product(mono, -factor, kind) for mono, factor in inside.items()]
        made = tir.interned(tir.Call(op, (reduce(tir.Add, parts),), kind))
        return {(made,): Fraction(-1 if op in _ODD else 1)}

    def _exponential(self, a: PrimExpr, kind: DataType) -> Sum:
        """The exponential of a sum: the product of those of its monomials."""
        found: list[PrimExpr] = []
        product: Sum = {(): Fraction(1)}
        for mono, factor in self.sum(a).items():
            match mono:
                case (tir.Call(op="log", args=(b,)),) if abs(factor) == 1 and _is_positive(
                    self._matcher, b
                ):
                    part = self.sum(b) if factor > 0 else self._inverse(b)
                    product = _times(self._matcher, product, part)
                    continue
            power = tir.Call("exp", (_product(mono, abs(factor), kind),), kind)
            found.append(tir.Div(tir.FloatImm(1.0, kind), power) if factor < 0 else power)
        atoms = map(tir.interned, found)
        powers: Sum = {tuple(sorted(atoms, key=self._matcher.number)): Fraction(1)}
        return _times(self._matcher, product, powers)

    def _logarithm(self, a: PrimExpr, x: PrimExpr) -> Sum:
        """The logarithm ``x`` of ``a``: a sum where that is a product of positive numbers."""
        inside = self.sum(a)
        plain: Sum = {(x,): Fraction(1)}
        if len(inside) != 1:
            return plain
        [(atoms, factor)] = inside.items()
        if factor != 1 or not all(_is_positive(self._matcher, atom) for atom in atoms):
            return plain
        found: Sum = {}
        for atom in atoms:
            match atom:
                case tir.Call(op="exp", args=(power,)):
                    _add(found, self.sum(power))
                case tir.Div(b=divisor):
                    below = self.sum(tir.Call("log", (divisor,), tir.type_of(x)))
                    _add(found, {mono: -factor for mono, factor in below.items()})
                case _:
                    log = tir.interned(tir.Call("log", (atom,), tir.type_of(x)))
                    _add(found, {(log,): Fraction(1)})
        return found

    def _whole(self, x: PrimExpr) -> Sum:
        """An integer that is no sum or product as a sum of monomials: what wraps is a ring."""
        kind = tir.type_of(x)
        match x:
            case tir.IntImm(value=value):
                return {(): Fraction(value)} if value else {}
            case tir.Call(op="shift_left", args=(a, b)):
                count = self._matcher.head(tir.interned(b))
                if isinstance(count, tir.IntImm) and 0 <= count.value < kind.bits:
                    return _times(self._matcher, self.sum(a), {(): Fraction(1 << count.value)})
            case tir.FloorMod(a=a, b=b):
                divisor = self._matcher.head(tir.interned(b))
                if isinstance(divisor, tir.IntImm) and divisor.value > 0:
                    whole = tir.Mul(tir.FloorDiv(a, b), b)
                    return self.sum(tir.Sub(a, whole))
            case tir.Cast(value=condition) if tir.type_of(condition) == BOOL:
                return self._truth(condition, tir.IntImm(1, kind), tir.IntImm(0, kind))
            case Reduce() if x.combiner.name == "sum":
                return self._reduction(x)
            case Reduce() if x.combiner.name == "prod":
                return self._of_factors(x)
        return {(x,): Fraction(1)}

    def _truth(self, condition: PrimExpr, one: PrimExpr, zero: PrimExpr) -> Sum:
        """A truth value as a number."""
        chosen = self._matcher.head(tir.interned(tir.Select(condition, one, zero)))
        return {(chosen,): Fraction(1)} if isinstance(chosen, tir.Select) else self.sum(chosen)

    def _of_integers(self, x: PrimExpr, kind: DataType) -> PrimExpr | None:
        """A float made from a sum, product or sum over indices of integers that does not wrap, as
        that of floats; None if it is none.
        """
        facts = self._matcher.facts
        x = self._matcher.head(tir.interned(x))
        if isinstance(x, tir.Cast) and tir.type_of(x.value).is_float:
            reach = facts.reach_of_float(x.value)
            if not (reach and all(fits(trunc(each), x.dtype) for each in reach)):
                return None
            whole = self._matcher.is_whole(x.value)
            return x.value if whole else tir.Call("trunc", (x.value,), kind)
        if not tir.type_of(x).is_integer or not (
            facts.is_exact(x) or (facts.is_index(x) and facts.fits(x))
        ):
            return None
        match x:
            case tir.Cast(value=inner) if tir.type_of(inner).is_integer:
                return tir.Cast(kind, inner)
            case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b) | tir.Mul(a=a, b=b):
                return type(x)(tir.Cast(kind, a), tir.Cast(kind, b))
            case Reduce(combiner=combiner, init=(init,)) if combiner.name == "sum":
                axes = terms.fresh(x.axes)
                guard, (source,) = terms.opened(x, axes)
                return terms.reduce_over(
                    terms.named_combiner("sum", kind),
                    axes,
                    x.extents,
                    (tir.Cast(kind, source),),
                    (tir.Cast(kind, init),),
                    guard=guard,
                    ordered=False,
                )
        return None

    def _of_factors(self, x: Reduce) -> Sum:
        """A product over a domain: one for each factor of its elements."""
        plain: Sum = {(x,): Fraction(1)}
        axes = terms.fresh(x.axes)
        guard, (source,) = terms.opened(x, axes)
        with self._matcher.scope():
            self._matcher.facts.index(axes, x.extents)
            self._matcher.facts.assume(guard)
            inside = self.sum(source)
        if len(inside) != 1 or self.sum(x.init[0]) != {(): Fraction(1)}:
            return plain
        [(atoms, factor)] = inside.items()
        if factor != 1:
            counts = [e.value for e in x.extents if isinstance(e, tir.IntImm)]
            if len(counts) < len(x.extents) or guard is not terms.TRUE or prod(counts) > HIGHEST:
                return plain
            factor **= prod(counts)
        elif len(atoms) <= 1:
            return plain
        made = [
            terms.reduce_over(
                x.combiner, axes, x.extents, (atom,), x.init, guard=guard, ordered=False
            )
            for atom in atoms
        ]
        return {tuple(sorted(made, key=self._matcher.number)): factor}

    def _inverse(self, divisor: PrimExpr) -> Sum:
        """One over an element; factors that all its monomials have are divided by alone."""
        found = self.sum(divisor)
        kind = tir.type_of(divisor)
        scale, divisors = Fraction(1), [tir.interned(divisor)]
        match list(found.items()):
            case []:
                divisors = [_number(0, kind)]
            case [(atoms, factor)]:
                scale, divisors = 1 / factor, list(atoms)
            case [(atoms, _), *others]:
                common = [a for a in dict.fromkeys(atoms) if all(a in mono for mono, _ in others)]
                if common:
                    rest = [(_without(mono, common), factor) for mono, factor in found.items()]
                    parts = [_product(mono, factor, kind) for mono, factor in rest]
                    divisors = [*common, tir.interned(reduce(tir.Add, parts))]
        one = tir.FloatImm(1.0, kind)
        inverse = [
            each.b
            if _is_inverse(each) and _is_positive(self._matcher, each)
            else tir.Div(one, each)
            for each in divisors
        ]
        whole = map(tir.interned, inverse)
        return {tuple(sorted(whole, key=self._matcher.number)): scale}

    def _is_size(self, extent: PrimExpr) -> bool:
        return self._matcher.facts.holds(tir.LE(tir.IntImm(0), extent)) is True

    def _size(self, size: PrimExpr, kind: DataType) -> Sum:
        """A number that is made of sizes, as a float."""
        size = self._matcher.facts.settled(size)
        while isinstance(size, tir.Cast) and self._matcher.facts.fits(size):
            size = size.value
        found: Sum = {}
        parts = polynomial(tir.interned(size))
        if not all(isinstance(each, tir.Var) for mono in parts for each in mono):
            number = self._number(size)
            if number is not None:
                return {(): Fraction(number)} if number else {}
            if isinstance(size, tir.Mul):
                return _times(self._matcher, *(self._size(e, kind) for e in (size.a, size.b)))
            return {(tir.interned(tir.Cast(kind, size)),): Fraction(1)}
        known = tir.free_vars(*self._matcher.facts.chosen)
        for mono, factor in parts.items():
            if any(v in known and self._matcher.facts.equal(v, terms.index(0)) for v in mono):
                continue
            atoms = [
                each if tir.type_of(each) == kind else tir.interned(tir.Cast(kind, each))
                for each in mono
            ]
            _add(found, {tuple(sorted(atoms, key=self._matcher.number)): Fraction(factor)})
        return found

    def _number(self, size: PrimExpr) -> int | None:
        """The value of an expression of sizes, if it is proved to be the same for all sizes."""
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
        with self._matcher.scope():
            self._matcher.facts.index(axes, x.extents)
            self._matcher.facts.assume(guard)
            inside = self.sum(source)
        found: Sum = dict(self.sum(x.init[0]))
        todo = list(inside.items())
        for mono, factor in todo:  # grows by the parts of choices
            inner_choice = next(
                (
                    (k, parts)
                    for k, a in enumerate(mono)
                    if not own.isdisjoint(tir.free_vars(a)) and (parts := _ways(a))
                ),
                None,
            )
            if inner_choice is not None and len(todo) < MOST:
                k, parts = inner_choice
                todo += [((*mono[:k], part, *mono[k + 1 :]), factor) for part in parts]
                continue
            made = self._sum_of_product(x, axes, guard, mono)
            if made is None:
                return {(x,): Fraction(1)}
            _add(found, _times(self._matcher, {(): factor}, made))
        return found

    def _sum_of_product(
        self, x: Reduce, axes: Sequence[tir.Var], guard: PrimExpr, mono: Monomial
    ) -> Sum | None:
        """The sum of a product over the domain of ``x``; None if an extent inside depends on its indices.

        What may be no number stays where it is counted: a sum over nothing is 0, whatever a quotient by 0 is,
        and so is a sum of what a guard excludes; but a quotient by 0 times 0 is none.
        """
        own = set(axes)
        kind = tir.type_of(x)
        outer = [a for a in mono if own.isdisjoint(tir.free_vars(a))]
        inner = [a for a in mono if not own.isdisjoint(tir.free_vars(a))]
        held = list(filter(self.is_partial, outer))
        if held:
            some = self._is_filled(axes, x.extents, guard)
            if some is None:
                made = _summed(axes, x.extents, conjuncts(guard), mono, kind)
                return {(made,): Fraction(1)}
            outer = [_if(some, atom, kind) if atom in held else atom for atom in outer]
        over, extents, when = list(axes), list(x.extents), guard
        product: list[PrimExpr] = []
        scale = Fraction(1)
        while inner:
            atom = inner.pop(0)
            condition, part = _guarded(atom)
            more, inner_sum = _inner_sum(atom)
            with self._matcher.scope():
                self._matcher.facts.index(axes, x.extents)
                self._matcher.facts.assume(when)
                counts = any(map(self.is_partial, (*inner, *product)))
                if (atom is part and inner_sum is None) or (
                    counts and not self._is_always_filled(inner_sum)
                ):
                    product.append(atom)
                    continue
                if inner_sum is None:
                    self._matcher.facts.assume(condition)
                    chosen = self.sum(part)
            if inner_sum is not None:  # a sum of sums is one sum
                condition, (part,) = terms.opened(inner_sum, more)
                product.append(part)
                over, extents = [*more, *over], [*inner_sum.extents, *extents]
                when = terms.both(when, condition)
                continue
            when = terms.both(when, condition)
            [(atoms, factor), *others] = chosen.items() or [((), Fraction(0))]
            free = [each for each in atoms if own.isdisjoint(tir.free_vars(each))]
            if others or not factor or any(map(self.is_partial, free)):
                product.append(part)
                continue
            scale *= factor
            outer += free
            inner += [each for each in atoms if each not in free]
        if any(not own.isdisjoint(tir.free_vars(e)) for e in extents):
            return None
        conditions, product = self._within(over, extents, conjuncts(when), product)
        if any(self._matcher.facts.holds(tir.LE(e, tir.IntImm(0))) is True for e in extents):
            return {}
        rest = self._separated(over, extents, conditions, product, kind)
        return _times(self._matcher, {tuple(outer): scale}, rest)

    def _is_filled(
        self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr], guard: PrimExpr
    ) -> PrimExpr | None:
        """The condition under which a domain has a point; None if it is more than one on sizes."""
        sizes = list(extents)
        conditions, _ = self._within(list(axes), sizes, conjuncts(guard), [])
        if conditions:
            return None
        filled = [tir.LT(terms.index(0), size) for size in sizes]
        return terms.all_of([e for e in filled if self._matcher.facts.holds(e) is not True])

    def _is_always_filled(self, x: Reduce | None) -> bool:
        return x is not None and self._is_filled(x.axes, x.extents, x.guard) is terms.TRUE

    def _separated(
        self,
        axes: Sequence[tir.Var],
        extents: Sequence[PrimExpr],
        conditions: Sequence[PrimExpr],
        factors: Sequence[PrimExpr],
        kind: DataType,
    ) -> Sum:
        """The sum of a product under conditions: the product of the sums over indices that do not
        meet, where no factor is lost if one of them has none.
        """
        found: Sum = {(): Fraction(1)}
        sizes = dict(zip(axes, extents, strict=True))
        rest, outside = list(factors), list(conditions)
        groups = _connected(axes, [*conditions, *factors])
        for factor in filter(self.is_partial, factors):
            with_it = {v for g in groups if not g.isdisjoint(tir.free_vars(factor)) for v in g}
            others = [v for v in axes if v not in with_it]
            when = [each for each in conditions if with_it.isdisjoint(tir.free_vars(each))]
            filled = self._is_filled(others, [sizes[v] for v in others], terms.all_of(when))
            if filled is not terms.TRUE:
                return {(_summed(axes, extents, conditions, factors, kind),): Fraction(1)}
        for some in groups:
            guards, parts = (
                [each for each in exprs if not some.isdisjoint(tir.free_vars(each))]
                for exprs in (conditions, factors)
            )
            rest = [each for each in rest if each not in parts]
            outside = [each for each in outside if each not in guards]
            own = [axis for axis in axes if axis in some]
            if not guards and not parts and self._is_size(sizes[own[0]]):
                part = self._size(sizes[own[0]], kind)
            else:
                made = _summed(own, [sizes[axis] for axis in own], guards, parts, kind)
                part = {(made,): Fraction(1)}
            found = _times(self._matcher, found, part)
        left = _factors(rest, kind)
        if outside:
            left = tir.Call("if_then_else", (terms.all_of(outside), left, _number(0, kind)), kind)
        return _times(self._matcher, found, self.sum(left))

    def _within(
        self,
        axes: list[tir.Var],
        extents: list[PrimExpr],
        conditions: list[PrimExpr],
        factors: list[PrimExpr],
    ) -> tuple[list[PrimExpr], list[PrimExpr]]:
        """The conditions and the factors of a sum of products, once each condition that bounds one index by
        sizes bounds that axis instead, in ``extents``; indices are counted from their lowest. An axis of
        which a condition gives the only index is left out.
        """
        holds = self._matcher.facts.holds
        left: list[PrimExpr] = []
        todo = list(conditions)
        while todo:
            part = todo.pop(0)
            only, bound = only_index(part, axes), index_bound(part, axes)
            if only is not None:
                k, place = only
                axis, extent = axes.pop(k), extents.pop(k)
                with self._matcher.scope():
                    self._matcher.facts.index(axes, extents)
                    left += self._open_bounds(place, extent)
                moved = {axis: place}
            elif bound is None or not self._matcher.facts.never_wraps(part):
                left.append(part)
                continue
            else:
                k, size, below = bound
                extent = extents[k]
                short = isinstance(extent, tir.IntImm) and extent.value <= WRITTEN_OUT
                if short and not isinstance(size, tir.IntImm):  # it may be written out
                    left.append(part)
                    continue
                if not (holds(tir.LE(terms.index(0), size)) and holds(tir.LE(size, extent))):
                    left.append(part)
                    continue
                if below:
                    extents[k] = size
                    continue
                extents[k] = sum_of(polynomial(tir.interned(tir.Sub(extent, size))))
                moved = {axes[k]: tir.interned(tir.Add(axes[k], size))}
            left, todo, factors = (
                [terms.substitute(each, moved) for each in exprs] for exprs in (left, todo, factors)
            )
        return left, factors

    def _open_bounds(self, place: PrimExpr, extent: PrimExpr) -> list[PrimExpr]:
        """The conditions that an index is inside an axis which are not known to hold."""
        matcher = self._matcher
        while True:
            inside: list[PrimExpr] = [tir.LE(terms.index(0), place), tir.LT(place, extent)]
            open_ = [tir.interned(e) for e in inside if matcher.facts.holds(e) is not True]
            depth = matcher.deepest(place) if open_ else 0
            if not depth:
                return open_
            place = matcher.opened_inside(place, depth)


def _product(mono: Monomial, factor: Fraction, kind: DataType) -> PrimExpr:
    """A monomial as an element."""
    found: PrimExpr = tir.FloatImm(float(factor), kind)
    for k, atom in enumerate(mono):
        found = atom if k == 0 and factor == 1 else tir.Mul(found, atom)
    return found


def _number(value: int, kind: DataType) -> PrimExpr:
    """A whole number of a type of floats or of integers."""
    return tir.FloatImm(float(value), kind) if kind.is_float else tir.IntImm(value, kind)


def _factors(parts: Sequence[PrimExpr], kind: DataType) -> PrimExpr:
    """A product; 1 of no factors."""
    return reduce(tir.Mul, parts) if parts else _number(1, kind)


def _summed(
    axes: Sequence[tir.Var],
    extents: Sequence[PrimExpr],
    conditions: Sequence[PrimExpr],
    factors: Sequence[PrimExpr],
    kind: DataType,
) -> PrimExpr:
    """The sum of a product over a domain, where conditions hold."""
    return terms.reduce_over(
        terms.named_combiner("sum", kind),
        axes,
        extents,
        (_factors(factors, kind),),
        (_number(0, kind),),
        guard=terms.all_of(conditions),
        ordered=False,
    )


def _without(mono: Monomial, factors: Sequence[PrimExpr]) -> Monomial:
    """A monomial without one of each factor."""
    left = list(mono)
    for each in factors:
        left.remove(each)
    return tuple(left)


def _connected(axes: Sequence[tir.Var], exprs: Sequence[PrimExpr]) -> list[set[tir.Var]]:
    """The axes in groups, so that each expression has axes of one group alone."""
    groups = [{axis} for axis in axes]
    for expr in exprs:
        used = tir.free_vars(expr)
        together = [group for group in groups if not group.isdisjoint(used)]
        if len(together) > 1:
            groups = [group for group in groups if group not in together]
            groups.append(set().union(*together))
    return groups
