"""Intervals of polynomials, and whether a polynomial is never negative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from rlx.grammar.nodes import tir
from rlx.solver import prim_exprs
from rlx.solver.atom_values import negative_somewhere
from rlx.solver.known_store import KnownStore, split
from rlx.solver.poly import Atom, Cond, Mono, Poly, Terms, quotient
from rlx.solver.prim_exprs import Range

_ANY: Range = (None, None)
EFFORT = 3
_TRIES = 8
_SHIFTED = 8
"""The largest degree of a polynomial whose variables are made to begin at zero."""
_FACTORS = 4
"""The maximum number of products that are looked at as common factors."""
_SQUARE = 2
"""The degree of the smallest products."""
_EXPONENT = 4096


def product(a: Range, b: Range) -> Range:
    """The smallest and largest product of two numbers."""
    (low, high), (least, most) = a, b
    if low is not None and least is not None and low >= 0 and least >= 0:
        if high == 0 or most == 0:
            return (0, 0)
        return (low * least, None if high is None or most is None else high * most)
    if None in a or None in b:
        return _half_open_product(a, b)
    corners = [x * y for x in a for y in b]  # type: ignore[operator]
    return (min(corners), max(corners))


def _half_open_product(a: Range, b: Range) -> Range:
    """Products of signs only: what is left where a limit is missing."""
    for (low, _), (_, most) in ((a, b), (b, a)):
        if low is not None and low >= 0 and most is not None and most <= 0:
            return (None, low * most)
    (_, high), (_, most) = a, b
    if high is not None and most is not None and high <= 0 and most <= 0:
        return (high * most, None)
    return _ANY


def atom_interval(engine: KnownStore, atom: Atom) -> Range:
    """Smallest and largest value of an atom."""
    found = engine.intervals.get(atom.index)
    if found is None:
        engine.intervals[atom.index] = _ANY
        known = engine.ranges.get(atom.index, _ANY)
        found = meet(known, _derived(engine, atom))
        engine.intervals[atom.index] = found
    return found


def meet(a: Range, b: Range) -> Range:
    """The values that are in both ranges."""
    (low, high), (least, most) = a, b
    if low is None or (least is not None and least > low):
        low = least
    if high is None or (most is not None and most < high):
        high = most
    return (low, high)


def _derived(engine: KnownStore, atom: Atom) -> Range:
    match atom.kind, atom.parts:
        case "ind", _:
            return (0, 1)
        case "relu", (Poly() as inner,):
            _, high = interval(engine, inner)
            return (0, None if high is None else max(0, high))
        case "prod", (Poly() as a, Poly() as b):
            return product(interval(engine, a), interval(engine, b))
        case "div", (Poly() as a, Poly() as b):
            return _quotient(engine, a, b)
        case "pow2", (Poly() as a,):
            low, high = interval(engine, a)
            return (
                1 << min(max(low or 0, 0), _EXPONENT),
                None if high is None or high > _EXPONENT else 1 << max(high, 0),
            )
        case "and" | "or" | "xor" as op, parts:
            return of_bits(op, [interval(engine, p) for p in parts if isinstance(p, Poly)])
        case "opaque", _ if isinstance(atom.key, tir.PrimExpr):
            return prim_exprs.unknown_limits(atom.key)
    return _ANY


def of_bits(op: str, operands: Sequence[Range]) -> Range:
    """Smallest and largest value of a bit operation on numbers within limits."""
    positive = [high for low, high in operands if low is not None and low >= 0]
    highs = [
        high for high in (positive if op == "and" else [h for _, h in operands]) if high is not None
    ]
    if len(positive) == len(operands) or (op == "and" and positive):
        if op == "and":
            return (0, min(highs, default=None))
        least = max(low or 0 for low, _ in operands) if op == "or" else 0
        whole = len(highs) == len(operands)
        return (least, (1 << max(highs).bit_length()) - 1 if whole else None)
    lows = [low for low, _ in operands if low is not None]
    if len(lows) < len(operands):
        return _ANY
    size = max(_magnitude(low) for low in lows)
    if op != "and" and len(highs) < len(operands):
        return _ANY if op == "xor" else (-1 << size, None)
    if op == "and":
        return (
            -1 << size,
            max((h for _, h in operands if h is not None), default=None)
            if all(h is not None for _, h in operands)
            else None,
        )
    size = max(size, *(_magnitude(high) for high in highs))
    return (-1 << size, (1 << size) - 1)


def _magnitude(number: int) -> int:
    """The number of bits without the sign."""
    return (number if number >= 0 else ~number).bit_length()


def _quotient(engine: KnownStore, a: Poly, b: Poly) -> Range:
    low, high = interval(engine, a)
    if low is None and nonneg(engine, a):
        low = 0
    small, large = interval(engine, b)
    if small is None or small < 0 or large == 0:
        return _ANY
    small = max(1, small)
    if low is not None:
        low = min(low // small, 0 if large is None else low // large)
    if high is not None:
        high = max(high // small, -1 if large is None else high // large)
    return (low, high)


def interval(engine: KnownStore, poly: Poly) -> Range:
    """Smallest and largest value of a polynomial, term by term."""
    if poly.value is not None:
        return (poly.value, poly.value)
    found = engine.poly_intervals.get(poly)
    if found is None:
        low: int | None = 0
        high: int | None = 0
        known = engine.intervals
        for mono, coef in poly.terms.items():
            least, most = (known.get(mono[0]) if len(mono) == 1 else None) or mono_interval(
                engine, mono
            )
            if coef < 0:
                least, most = most, least
            low = None if low is None or least is None else low + coef * least
            high = None if high is None or most is None else high + coef * most
            if low is None and high is None:
                break
        found = engine.poly_intervals[poly] = (low, high)
        if engine.chains and poly in engine.chains:
            found = engine.poly_intervals[poly] = meet(
                found, _of_bits(engine, *engine.chains[poly])
            )
    return found


def _of_bits(engine: KnownStore, op: str, operands: tuple[Poly, ...]) -> Range:
    """The limits of an operation on the bits of numbers, by those of the operands."""
    limits = [interval(engine, each) for each in operands]
    highs = [high for low, high in limits if low is not None and low >= 0]
    known = [high for high in highs if high is not None]
    if op == "and":
        return (0 if highs else None, min(known, default=None))
    if len(highs) < len(limits):
        return (None, None)
    return (0, (1 << max(known).bit_length()) - 1 if len(known) == len(highs) else None)


def mono_interval(engine: KnownStore, mono: Mono) -> Range:
    """Smallest and largest value of a monomial."""
    if len(mono) == 1:
        (index,) = mono
        return engine.intervals.get(index) or atom_interval(engine, engine.atoms[index])
    result: Range = (1, 1)
    atoms = engine.atoms
    position = 0
    while position < len(mono):
        index = mono[position]
        count = 1
        while position + count < len(mono) and mono[position + count] == index:
            count += 1
        result = product(result, _power(atom_interval(engine, atoms[index]), count))
        position += count
    return result


def _power(base: Range, count: int) -> Range:
    if count == 1:
        return base
    result = base
    for _ in range(count - 1):
        result = product(result, base)
    return result if count % 2 else meet(result, (0, None))


def nonneg(engine: KnownStore, poly: Poly, effort: int = EFFORT) -> bool:
    """Whether a polynomial is proved to be nonnegative."""
    if poly.value is not None:
        return poly.value >= 0
    known = engine.signs.get(poly)
    if known is not None:
        sign, tried = known
        if sign or tried >= effort:
            return sign
    engine.signs[poly] = (False, effort)
    result = _nonneg(engine, poly, effort)
    engine.signs[poly] = (result, effort)
    return result


def _nonneg(engine: KnownStore, poly: Poly, effort: int) -> bool:
    low, high = interval(engine, poly)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    if negative_somewhere(engine, poly, engine.samples):
        return False
    low = _least_from_zero(engine, poly)
    if low is not None and low >= 0:
        return True
    if engine.inequalities and _is_fact(engine, poly):
        return True
    if effort == 0:
        return False
    engine.spend(10)
    divided = engine.at_least_zero(poly).poly
    if divided is not None and divided is not poly:
        return nonneg(engine, divided, effort)
    factor = positive_factor(engine, poly, 0)
    if factor:
        return nonneg(engine, without_factor(engine, poly, factor), effort)
    return any(nonneg(engine, weaker, effort - 1) for weaker in _weaker(engine, poly))


def positive_factor(engine: KnownStore, poly: Poly, least: int) -> Mono:
    """The product of the atoms that all terms have and that are at least ``least``."""
    terms = iter(poly.terms)
    common = next(terms)
    for mono in terms:
        if not common:
            return ()
        left = list(mono)
        common = tuple([left.pop(left.index(i)) for i in common if i in left])
    if not common:
        return ()
    lows = {i: atom_interval(engine, engine.atoms[i])[0] for i in common}
    return tuple([i for i in common if (low := lows[i]) is not None and low >= least])


def without_factor(engine: KnownStore, poly: Poly, factor: Mono) -> Poly:
    """A polynomial divided by a product of atoms that all its terms have."""
    divided = {quotient(mono, factor): coef for mono, coef in poly.terms.items()}
    return engine.poly({mono: coef for mono, coef in divided.items() if mono is not None})


def _is_fact(engine: KnownStore, poly: Poly) -> bool:
    """Whether this is a fact plus a constant that is not negative."""
    constant = poly.terms.get((), 0)
    size = len(poly.terms) - (constant != 0)
    for fact in engine.inequalities:
        other = fact.terms.get((), 0)
        if (
            other <= constant
            and len(fact.terms) - (other != 0) == size
            and (fact is poly or engine.sub(poly, fact).value is not None)
        ):
            return True
    return False


def _least_from_zero(engine: KnownStore, poly: Poly) -> int | None:
    """The lower limit of the polynomial over variables that begin at zero: x becomes low + x'.

    All coefficients of ``n*m - n`` with ``m >= 1`` are then non-negative.
    """
    if max(map(len, poly.terms), default=0) < _SQUARE:
        return None  # that of a sum of multiples is the same
    limits = {i: atom_interval(engine, engine.atoms[i]) for mono in poly.terms for i in mono}
    lows = {i: low for i, (low, _) in limits.items() if low}
    if not lows or max(map(len, poly.terms)) > _SHIFTED:
        return None
    terms: dict[Mono, int] = {}
    for mono, coef in poly.terms.items():
        parts: list[tuple[Mono, int]] = [((), coef)]
        for index in mono:
            low = lows.get(index)
            moved = [(m, c * low) for m, c in parts] if low else []
            parts = [*(((*m, index), c) for m, c in parts), *moved]
        engine.spend(len(parts))
        for term, size in parts:
            terms[term] = terms.get(term, 0) + size
    total = 0
    for term, size in terms.items():
        bounds: Range = (1, 1)
        for index in term:
            low, high = limits[index]
            start = (None if low is None else 0, None if high is None else high - (low or 0))
            bounds = product(bounds, start)
        end = bounds[size < 0]
        if size and end is None:
            return None
        total += size * (end or 0)
    return total


def _weaker(engine: KnownStore, poly: Poly) -> Iterator[Poly]:
    """Polynomials that are not larger than a positive multiple of this one, anywhere."""
    indices = sorted({i for mono in poly.terms for i in mono}, reverse=True)
    atoms = engine.atoms
    quotients = [i for i in indices if atoms[i].is_quotient]
    if len(quotients) > EFFORT:
        yield _without_quotients(engine, poly, quotients)
    maxima = [i for i in indices if atoms[i].kind == "relu"]
    if len(maxima) > EFFORT:
        yield _without_relus(engine, poly, maxima)
    tried = 0
    for index in indices:
        atom = atoms[index]
        found: list[Poly] = []
        if atom.is_quotient:
            found = _without_quotient(engine, poly, atom)
        elif atom.kind == "relu":
            found = _without_relu(engine, poly, atom)
        elif atom.kind == "and":
            found = _without_conjunction(engine, poly, atom)
        yield from found
        tried += len(found)
        if tried >= _TRIES:
            break
    yield from _without_squares(engine, poly)
    yield from _by_facts(engine, poly)
    yield from _by_factors(engine, poly)


def coefficient(engine: KnownStore, poly: Poly, index: int) -> tuple[Poly, Poly] | None:
    """``(c, rest)`` with ``poly = c * atom + rest``, or None if the atom occurs squared."""
    parts = poly.parts(index)
    return None if parts is None else (engine.poly(parts[0]), engine.poly(parts[1]))


def _without_quotient(engine: KnownStore, poly: Poly, atom: Atom) -> list[Poly]:
    """Use ``D*(X//D) = X - r`` with ``0 <= r <= D - 1`` where that makes the polynomial smaller."""
    top, divisor = atom.parts
    assert isinstance(top, Poly)
    assert isinstance(divisor, Poly)
    if divisor.value is not None and divisor.value > 0:
        simple = _without_simple_quotient(engine, poly, atom, top, divisor.value)
        if simple is not None:
            return [simple]
    parts = coefficient(engine, poly, atom.index)
    if parts is None:
        return []
    if not nonneg(engine, engine.shift(divisor, -1), 1):
        return []
    factor, rest = parts
    times, left = (
        (engine.zero, factor) if divisor.value is not None else split(engine, factor, divisor)
    )
    if times is engine.zero:
        # An integer P is not negative if D*P + D - 1 is not.
        times, left = factor, engine.zero
        slack = engine.shift(divisor, -1)
        rest = engine.add(engine.mul(divisor, rest), slack)
    found: list[Poly] = []
    ends = (engine.shift(engine.sub(top, divisor), 1), top)
    # The quotient goes as a whole, or only in the remainder beside it: c % 4 + 4*h*(c//4).
    number = engine.const(times.terms.get((), 0))
    for part in dict.fromkeys((times, number)):
        signs = (nonneg(engine, engine.scale(s, part), 1) for s in (1, -1))
        taken = next((end for end, sign in zip(ends, signs, strict=True) if sign), None)
        if taken is not None and part is not engine.zero:
            others = engine.add(left, engine.mul(divisor, engine.sub(times, part)))
            quotients = engine.mul(others, engine.of_atom(atom))
            found.append(engine.combine(((1, engine.mul(part, taken)), (1, quotients), (1, rest))))
    return found


def _without_simple_quotient(
    engine: KnownStore, poly: Poly, atom: Atom, top: Poly, divisor: int
) -> Poly | None:
    """The same for a number as divisor, if the quotient stands in one term, alone."""
    if sum([atom.index in mono for mono in poly.terms]) > 1 or atom.mono not in poly.terms:
        return None
    terms = {mono: divisor * coef for mono, coef in poly.terms.items()}
    coef = terms.pop(atom.mono) // divisor
    for mono, size in top.terms.items():
        terms[mono] = terms.get(mono, 0) + coef * size
    slack = (divisor - 1) * (1 - max(coef, 0))
    terms[()] = terms.get((), 0) + slack
    return engine.poly({mono: size for mono, size in terms.items() if size})


def _without_quotients(engine: KnownStore, poly: Poly, quotients: list[int]) -> Poly:
    """All quotients ``X//c`` with a multiple of ``c`` before them taken out at once."""
    parts: list[tuple[int, Poly]] = []
    kept = dict(poly.terms)
    for index in quotients:
        top, divisor = engine.atoms[index].parts
        coef = kept.get((index,), 0)
        assert isinstance(top, Poly)
        assert isinstance(divisor, Poly)
        if divisor.value is None or coef % divisor.value:
            continue
        kept.pop((index,), None)
        parts.append((coef // divisor.value, top))
        if coef > 0:
            parts.append((-(coef // divisor.value) * (divisor.value - 1), engine.one))
    return engine.combine([(1, engine.poly(kept)), *parts])


def _without_relus(engine: KnownStore, poly: Poly, maxima: list[int]) -> Poly:
    """One ``max(P, 0)`` after which no negative term is left, otherwise all at once: so many of each
    as make a negative term go are replaced by ``P``, which is not larger.
    """
    terms = poly.terms
    for index in maxima:
        left = _without_times(engine, poly.terms, index)
        if min(left.values(), default=0) >= 0:
            terms = left
            break
        terms = _without_times(engine, terms, index)
    return engine.poly({m: c for m, c in terms.items() if c})


def _without_times(engine: KnownStore, terms: Terms, index: int) -> Terms:
    """So many of one maximum as make a negative term go are replaced."""
    (inner,) = engine.atoms[index].parts
    have = terms.get((index,), 0)
    if have <= 0 or isinstance(inner, Cond):
        return terms
    engine.spend(len(inner.terms))
    needed = [-(terms.get(m, 0) // c) for m, c in inner.terms.items() if m and c > 0]
    taken = min(have, max(needed, default=0))
    if taken <= 0:
        return terms
    left = dict(terms) | {(index,): have - taken}
    for mono, coef in inner.terms.items():
        left[mono] = left.get(mono, 0) + taken * coef
    return left


def _without_relu(engine: KnownStore, poly: Poly, atom: Atom) -> list[Poly]:
    """Use ``max(P, 0) >= P``."""
    parts = coefficient(engine, poly, atom.index)
    (inner,) = atom.parts
    if parts is None or isinstance(inner, Cond):
        return []
    factor, rest = parts
    if nonneg(engine, factor, 1):
        return [engine.add(engine.mul(factor, inner), rest)]
    return []


def _without_squares(engine: KnownStore, poly: Poly) -> Iterator[Poly]:
    """Use ``x*x >= x``, which holds for integers, and ``(x - y)*(x - y) >= 0``."""
    terms = poly.terms
    doubled = [m[0] for m, c in terms.items() if c > 0 and len(m) == 2 == m.count(m[0])]
    for place, x in enumerate(doubled):
        most = terms[x, x]
        times = min(most, -terms.get((x,), 0))
        if times > 0:
            square = engine.poly({(x, x): 1, (x,): -1})
            yield engine.combine(((1, poly), (-times, square)))
        for y in doubled[:place]:
            mono = (min(x, y), max(x, y))
            middle = terms.get(mono, 0)
            times = min(most, terms[y, y], abs(middle) // 2)
            if times:
                sign = 2 if middle > 0 else -2
                square = engine.poly({(x, x): 1, mono: sign, (y, y): 1})
                yield engine.combine(((1, poly), (-times, square)))


def _without_conjunction(engine: KnownStore, poly: Poly, atom: Atom) -> list[Poly]:
    """Use ``x & y <= x`` for an x that is not negative, and ``x & y >= x + y - 7`` for numbers of
    three bits, whose ``x | y`` is at most 7.
    """
    times = poly.terms.get(atom.mono, 0)
    operands = [part for part in atom.parts if isinstance(part, Poly)]
    limits = [interval(engine, part) for part in operands]
    rest = engine.sub(poly, engine.scale(times, engine.of_atom(atom)))
    if times < 0:
        upper = [p for p in operands if nonneg(engine, p, 1)]
        found = [engine.combine(((1, rest), (times, p))) for p in upper]
        if len(upper) > 1 and times % 2 == 0:
            found.append(engine.combine([(1, rest), *((times // 2, p) for p in upper[:2])]))
        return found
    high = max((h for _, h in limits if h is not None), default=None)
    if times and high is not None and all(h is not None and low == 0 for low, h in limits):
        whole = (1 << high.bit_length()) - 1
        least = engine.shift(
            engine.combine([(1, p) for p in operands]), -whole * (len(operands) - 1)
        )
        return [engine.combine(((1, poly), (-1, engine.of_atom(atom)), (1, least)))]
    return []


def _by_factors(engine: KnownStore, poly: Poly) -> Iterator[Poly]:
    """Where ``P >= 1`` in ``M*P + R``: ``M + R``, for the product M of all atoms of a negative term but
    one.
    """
    tried: dict[Mono, None] = {}
    for mono, coef in poly.terms.items():
        for index in dict.fromkeys(mono) if coef < 0 and len(mono) > 1 else ():
            tried[quotient(mono, (index,)) or ()] = None
    for common in [*tried][:_FACTORS]:
        inside = {m: part for m in poly.terms if (part := quotient(m, common)) is not None}
        factor = engine.poly({part: poly.terms[m] for m, part in inside.items()})
        low, _ = mono_interval(engine, common)
        if len(inside) < _SQUARE or low is None or low < 0:
            continue
        size = gcd(*(c for m, c in factor.terms.items() if m))
        least = engine.shift(factor, -size)
        if nonneg(engine, least, 1):
            rest = engine.poly({m: c for m, c in poly.terms.items() if m not in inside})
            yield engine.add(rest, engine.of_mono(common, size))


def _by_facts(engine: KnownStore, poly: Poly) -> list[Poly]:
    """Take a multiple of a fact ``F >= 0`` away, so that a negative term goes."""
    found: list[Poly] = []
    for mono, coef in poly.terms.items():
        if coef > 0 or not mono:
            continue
        for fact in engine.inequalities:
            for inner, size in fact.terms.items():
                if size >= 0 or not inner:
                    continue
                times = quotient(mono, inner)
                if times is None:
                    continue
                low, _ = mono_interval(engine, times)
                if low is None or low < 0:
                    continue
                multiple = engine.mul(engine.of_mono(times), fact)
                # An integer P is not negative if D*P + D - 1 is not.
                slack = (-size - 1, engine.one)
                found.append(engine.combine(((-size, poly), (coef, multiple), slack)))
                if len(found) >= _TRIES:
                    return found
    return found
