"""Proofs of normalised conditions without SMT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product
from math import gcd, lcm, prod

from rlx.solver import assumptions, intervals
from rlx.solver.atom_values import poly_value
from rlx.solver.known_store import split
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Atom, Cond, Part, Poly, TooMuchWorkError

_CLASSES = 600
_GRID = 3_000
"""The maximum number of points at which a polynomial is evaluated."""
_MODULUS = 1 << 20
_SPLITS = 6
_TERMS = 8
_FACTORS = 12
"""The maximum number of terms whose common factors are looked at, and of these."""
_INEQUALITIES = 12
"""The maximum number of inequalities that are compared with the others in a case."""


def prove(engine: Engine, cond: Cond, splits: int = _SPLITS) -> str | None:
    """The method that proves a condition, or None.

    ``splits`` is the maximum nesting of case distinctions.
    """
    if cond is engine.true:
        return "normal form"
    if cond is engine.false:
        return None
    if splits <= 0:
        return _attempt(engine, cond)
    if _multiplied_choice(engine, cond):
        return _by_cases(engine, cond, splits) or _attempt(engine, cond)
    return _attempt(engine, cond) or _by_cases(engine, cond, splits)


def _multiplied_choice(engine: Engine, cond: Cond) -> bool:
    """Whether an equation has products with an indicator, whose limits say little: its cases are
    looked at first.
    """
    if cond.kind != "eq" or cond.poly is None:
        return False
    return any(engine.atoms[i].kind == "ind" for m in cond.poly.terms if len(m) > 1 for i in m)


def _attempt(engine: Engine, cond: Cond) -> str | None:
    match cond.kind:
        case "and":
            return "bounds" if all(_attempt(engine, part) for part in cond.parts) else None
        case "or":
            return _alternative(engine, cond)
    poly = cond.poly
    assert poly is not None
    match cond.kind:
        case "ge":
            if intervals.nonneg(engine, poly, 4):
                return "bounds"
        case "eq":
            if _zero_by_floor(engine, poly):
                return "floor"
            opposite = engine.scale(-1, poly)
            if intervals.nonneg(engine, poly) and intervals.nonneg(engine, opposite):
                return "bounds"
        case "ne":
            if intervals.nonneg(engine, engine.shift(poly, -1)):
                return "bounds"
            if intervals.nonneg(engine, engine.shift(engine.scale(-1, poly), -1)):
                return "bounds"
            if _between_multiples(engine, poly):
                return "floor"
            if _never_zero_modulo(engine, poly):
                return "residues"
            if _apart(engine, poly):
                return "bounds"
    if _by_residues(engine, cond):
        return "residues"
    exact = _exact(engine, cond)
    if exact is not cond and _decided(engine, exact):
        return "residues"
    return None


def _alternative(engine: Engine, cond: Cond) -> str | None:
    """One part holds wherever the others do not."""
    for part in cond.parts:
        if _attempt(engine, part):
            return "bounds"
    for part in cond.parts:
        others = [engine.negate(p) for p in cond.parts if p is not part]
        if under(engine, engine.join("and", others), part, 0):
            return "cases"
    return None


# Floors


def _zero_by_floor(engine: Engine, poly: Poly) -> bool:
    """``c*(X//D) + rest == 0`` where ``rest = -c*E`` and ``0 <= X - D*E <= D - 1``."""
    for index in sorted({i for mono in poly.terms for i in mono}, reverse=True):
        atom = engine.atoms[index]
        if not atom.is_quotient:
            continue
        parts = intervals.coefficient(engine, poly, index)
        if parts is None:
            continue
        (factor, rest), (top, divisor) = parts, atom.parts
        value, left = split(engine, engine.scale(-1, rest), factor)
        assert isinstance(top, Poly)
        assert isinstance(divisor, Poly)
        if left is not engine.zero or not intervals.nonneg(engine, divisor):
            continue
        remainder = engine.sub(top, engine.mul(divisor, value))
        above = engine.shift(engine.sub(divisor, remainder), -1)
        if intervals.nonneg(engine, remainder, 4) and intervals.nonneg(engine, above, 4):
            return True
    return False


def _between_multiples(engine: Engine, poly: Poly) -> bool:
    """``D*Y + X != 0`` where X lies strictly between 0 and D, or -D and 0."""
    divisors: dict[Poly, None] = {}
    for index in sorted({i for mono in poly.terms for i in mono}):
        atom = engine.atoms[index]
        if atom.is_quotient:
            divisor = atom.parts[1]
            assert isinstance(divisor, Poly)
            divisors[divisor] = None
    for divisor in divisors:
        _, rest = split(engine, poly, divisor)
        for left in (rest, engine.scale(-1, rest)) if rest is not poly else ():
            above = engine.shift(engine.sub(divisor, left), -1)
            if intervals.nonneg(engine, engine.shift(left, -1)) and intervals.nonneg(engine, above):
                return True
    return False


def _apart(engine: Engine, poly: Poly) -> bool:
    """``D*P + R != 0`` where R is less than D and more than -D: it is 0 only if P and R are."""
    for size in _common_factors(engine, poly):
        upper, rest = split(engine, poly, size)
        if upper is engine.zero or rest is engine.zero:
            continue
        signs = (1, -1)
        less = (engine.combine(((1, size), (-1, engine.one), (s, rest))) for s in signs)
        if not all(intervals.nonneg(engine, each) for each in less):
            continue
        for part in (upper, rest):
            apart = engine.equate(part, equal=False)
            if apart is engine.true or (apart is not engine.false and _attempt(engine, apart)):
                return True
    return False


def _common_factors(engine: Engine, poly: Poly) -> list[Poly]:
    """The largest products that two terms of a polynomial have in common, and their variables."""
    terms = [(mono, coef) for mono, coef in poly.terms.items() if mono][:_TERMS]
    found: dict[Poly, None] = {}
    for (mono, coef), (other, size) in combinations(terms, 2):
        shared = Counter(mono) & Counter(other)
        common = tuple(sorted(shared.elements()))
        for factor in dict.fromkeys((gcd(coef, size), 1)):
            for each in (common, *((index,) for index in shared)):
                if each or factor > 1:
                    found[engine.of_mono(each, factor)] = None
    return [*found][:_FACTORS]


# Residues


def _never_zero_modulo(engine: Engine, poly: Poly) -> bool:
    """A polynomial is never 0 if it is not modulo the coefficient of a term: ``n*n != 4*m + 3``."""
    for modulus in sorted({abs(coef) for mono, coef in poly.terms.items() if mono} - {1}):
        if modulus > _CLASSES:
            continue
        left = [(mono, coef % modulus) for mono, coef in poly.terms.items() if coef % modulus]
        indices = sorted({i for mono, _ in left for i in mono})
        if modulus ** len(indices) > _CLASSES:
            continue
        engine.spend(modulus ** len(indices) * len(left) // 4)
        classes = product(range(modulus), repeat=len(indices))
        points = (dict(zip(indices, values, strict=True)) for values in classes)
        if all(sum(c * prod(known[i] for i in m) for m, c in left) % modulus for known in points):
            return True
    return False


def _by_residues(engine: Engine, cond: Cond) -> bool:
    """Divisors are constants: every variable is ``M*k + r``, for every r."""
    periods = _periods(engine, cond)
    if not periods or prod(periods.values()) > _CLASSES:
        return False
    if cond.kind == "eq" and cond.poly is not None:
        zero = _zero_on_classes(engine, cond.poly, periods)
        if zero is not None:
            return zero
    fresh = {i: _class_variable(engine, i, m) for i, m in periods.items()}
    for residues in product(*(range(m) for m in periods.values())):
        mapping = {
            i: engine.shift(engine.scale(m, fresh[i]), r)
            for (i, m), r in zip(periods.items(), residues, strict=True)
        }
        if not _decided(engine, engine.replace_in(cond, mapping)) and not _excluded(
            engine, mapping
        ):
            return False
    return True


def _excluded(engine: Engine, mapping: dict[int, Poly]) -> bool:
    """Whether a fact does not hold in a class of residues."""
    equations = (engine.equate(engine.replace(each, mapping)) for each in engine.equations)
    others = (engine.replace_in(each, mapping) for each in engine.others)
    return any(each is engine.false for each in chain(equations, others))


def _zero_on_classes(engine: Engine, poly: Poly, periods: dict[int, int]) -> bool | None:
    """Whether a polynomial is zero for all numbers, by its values on a grid; None if this does not
    tell.

    In a class ``M*k + r`` every quotient is a polynomial in k, so the whole is zero if it is at one
    point more than its degree. Maxima and indicators do not change in a class if what they compare
    does not. A point where it is not zero refutes it if there are no facts.
    """
    compared: list[Poly] = []
    degrees: dict[Poly, dict[int, int]] = {}
    atoms = engine.atoms_in(poly)
    for atom in atoms:
        if atom.kind in ("relu", "ind"):
            compared += _compared(atom.parts)
        elif not (atom.is_variable or atom.is_quotient):
            return None
    variables = [atom.index for atom in atoms if atom.is_variable]
    most = [_degree_in(engine, poly, i, degrees) for i in variables]
    most = [
        max(d, *(_degree_in(engine, p, i, degrees) for p in compared)) if compared else d
        for d, i in zip(most, variables, strict=True)
    ]
    sizes = [periods.get(i, 1) for i in variables]
    if prod(m * (d + 1) for m, d in zip(sizes, most, strict=True)) > _GRID:
        return None
    limited = bool(engine.inequalities or engine.equations or engine.others)
    for residues in product(*map(range, sizes)):
        first: list[int] | None = None
        for steps in product(*(range(d + 1) for d in most)):
            engine.spend(len(atoms))
            point = [m * k + r for m, k, r in zip(sizes, steps, residues, strict=True)]
            known = dict(zip(variables, point, strict=True))
            try:
                if poly_value(engine, poly, known):
                    inside = all(
                        _within(engine, i, x) for i, x in zip(variables, point, strict=True)
                    )
                    return False if inside and not limited else None
                seen = [poly_value(engine, each, known) for each in compared]
            except ArithmeticError:
                return None
            if seen != (first := seen if first is None else first):
                return None
    return True


def _within(engine: Engine, index: int, value: int) -> bool:
    low, high = engine.ranges.get(index, (None, None))
    return (low is None or low <= value) and (high is None or value <= high)


def _compared(parts: Iterable[Part]) -> Iterator[Poly]:
    """The polynomials whose signs decide a maximum or an indicator."""
    for part in parts:
        if isinstance(part, Poly):
            yield part
        else:
            yield from _compared([part.poly] if part.poly is not None else part.parts)


def _degree_in(engine: Engine, poly: Poly, variable: int, known: dict[Poly, dict[int, int]]) -> int:
    """The largest degree of a polynomial in a variable within one class of residues."""
    found = known.setdefault(poly, {})
    if variable not in found:
        degrees: dict[int, int] = {}
        for index in {i for mono in poly.terms for i in mono}:
            atom = engine.atoms[index]
            top = atom.parts[0] if atom.is_quotient else None
            degrees[index] = (
                _degree_in(engine, top, variable, known)
                if isinstance(top, Poly)
                else int(index == variable)
            )
        found[variable] = max((sum(degrees[i] for i in m) for m in poly.terms), default=0)
    return found[variable]


def _decided(engine: Engine, cond: Cond) -> bool:
    if cond.kind == "ge" and isinstance(cond.poly, Poly):
        return intervals.nonneg(engine, cond.poly)
    return cond is engine.true


def _exact(engine: Engine, cond: Cond) -> Cond:
    """The condition with ``M*(X//M)`` replaced by ``X - c`` where X is always c modulo M."""
    poly = cond.poly
    assert poly is not None
    for index in {i for mono in poly.terms for i in mono}:
        atom = engine.atoms[index]
        if not atom.is_quotient:
            continue
        top, divisor = atom.parts
        assert isinstance(top, Poly)
        assert isinstance(divisor, Poly)
        parts = intervals.coefficient(engine, poly, index)
        if divisor.value is None or parts is None:
            continue
        residue = _residue(engine, top, divisor.value)
        if residue is None:
            continue
        factor, rest = parts
        whole = engine.mul(factor, engine.shift(top, -residue))
        poly = engine.add(whole, engine.scale(divisor.value, rest))
    if poly is cond.poly:
        return cond
    return engine.against_zero(cond.kind, poly)


def _residue(engine: Engine, poly: Poly, modulus: int) -> int | None:
    """The residue that a polynomial in variables always has modulo a number, by its prime powers."""
    indices = sorted({i for mono in poly.terms for i in mono})
    if any(not engine.atoms[i].is_variable for i in indices) or modulus > _MODULUS:
        return None
    constant = poly.terms.get((), 0)
    for power in _prime_powers(modulus):
        if power ** len(indices) > _CLASSES:
            return None
        engine.spend(power ** len(indices) * len(poly.terms) // 4)
        for values in product(range(power), repeat=len(indices)):
            known = dict(zip(indices, values, strict=True))
            total = sum(c * prod(known[i] for i in m) for m, c in poly.terms.items())
            if (total - constant) % power:
                return None
    return constant % modulus


def _prime_powers(number: int) -> list[int]:
    found: list[int] = []
    prime = 2
    while prime * prime <= number:
        power = 1
        while number % prime == 0:
            number //= prime
            power *= prime
        if power > 1:
            found.append(power)
        prime += 1
    return [*found, number] if number > 1 else found


def _class_variable(engine: Engine, index: int, period: int) -> Poly:
    atom = engine.atom("var", (), ("class", index, period))
    low, high = intervals.atom_interval(engine, engine.atoms[index])
    engine.ranges[atom.index] = (
        None if low is None else -(-(low - period + 1) // period),
        None if high is None else high // period,
    )
    return engine.of_atom(atom)


def _periods(engine: Engine, cond: Cond) -> dict[int, int]:
    """For every variable under a division by a constant, what it has to be a multiple of."""
    periods: dict[int, int] = {}
    roots = [a for a in engine.atoms_in(cond) if a.is_quotient]
    for atom in roots:
        top, divisor = atom.parts
        if not isinstance(divisor, Poly) or divisor.value is None:
            return {}
        below = engine.atoms_in(top)
        if any(a.kind not in ("div", "var") for a in below):
            return {}
        size = _full_divisor(engine, atom)
        for inner in below:
            if inner.is_variable:
                periods[inner.index] = lcm(periods.get(inner.index, 1), size)
    return dict(sorted(periods.items()))


def _full_divisor(engine: Engine, atom: Atom) -> int:
    """The product of a divisor and those of the divisions inside."""
    size = 1
    top, _ = atom.parts
    for inner in [atom, *engine.atoms_in(top)]:
        if inner.kind == "div":
            _, divisor = inner.parts
            assert isinstance(divisor, Poly)
            size *= 1 if divisor.value is None else divisor.value
    return size


# Cases


def under(engine: Engine, assumed: Cond, cond: Cond, splits: int) -> str | None:
    """Prove a condition under another one; the engine is not changed."""
    other = extended(engine, assumed)
    if other is None:
        return "contradiction"
    try:
        found = prove(other, renewed(other, cond), splits)
        return "contradiction" if found is None and _contradictory(other) else found
    finally:
        engine.fuel = min(engine.fuel, other.fuel)


def _contradictory(engine: Engine) -> bool:
    """Whether the opposite of an inequality follows from the others."""
    opposites = [engine.shift(engine.scale(-1, p), -1) for p in engine.inequalities[:_INEQUALITIES]]
    return any(intervals.nonneg(engine, opposite) for opposite in opposites)


def extended(engine: Engine, assumed: Cond) -> Engine | None:
    """An engine with one more condition; None if it cannot hold."""
    engine.spend(200)
    other = Engine.__new__(Engine)
    other.__dict__.update(engine.__dict__)
    other.ranges = dict(engine.ranges)
    other.inequalities = list(engine.inequalities)
    other.equations = list(engine.equations)
    other.others = list(engine.others)
    other.assumed = set(engine.assumed)
    other.samples = list(engine.samples)
    other.solved = {}
    other.intervals, other.poly_intervals, other.signs = {}, {}, {}
    other.memo, other.divided = {}, {}
    other.maxima, other.larger = {}, {}
    other.forms, other.chains = {}, {}
    if not assumptions.learn(other, assumed):
        return None
    for equation in engine.equations:
        if (factor := intervals.positive_factor(other, equation, 1)) and not assumptions.learn(
            other, other.equate(intervals.without_factor(other, equation, factor))
        ):
            return None
    assumptions.multiply_quotients(other, len(engine.inequalities))
    return other


def renewed(engine: Engine, cond: Cond) -> Cond:
    """A condition normalised again with the facts of an extended engine."""
    engine.reconsider = True
    return engine.replace_in(cond, dict(engine.solved))


def _by_cases(engine: Engine, cond: Cond, splits: int) -> str | None:
    for question in _questions(engine, cond):
        if not _defined(engine, question):
            continue
        try:
            yes = under(engine, question, cond, splits - 1)
            if yes is None:
                return None
            no = under(engine, engine.negate(question), cond, splits - 1)
        except TooMuchWorkError:
            return None
        return "cases" if no is not None else None
    return None


def _defined(engine: Engine, cond: Cond) -> bool:
    """Whether the divisors in a condition cannot be zero.

    Where one can, a guard keeps the goal defined but not the condition, and neither case need hold.
    """
    for atom in engine.atoms_in(cond):
        if atom.kind == "div":
            _, divisor = atom.parts
            assert isinstance(divisor, Poly)
            low, high = intervals.interval(engine, divisor)
            signed = (low is not None and low > 0) or (high is not None and high < 0)
            if not signed and engine.is_zero(divisor, equal=False) not in engine.assumed:
                return False
    return True


def _questions(engine: Engine, cond: Cond) -> Iterator[Cond]:
    """Conditions worth a case distinction: those inside indicators, then maxima, the innermost
    first.
    """
    atoms = engine.atoms_in(cond)
    for atom in atoms:
        if atom.kind == "ind":
            (inner,) = atom.parts
            assert isinstance(inner, Cond)
            yield inner.parts[0] if inner.parts else inner
    for atom in atoms:
        if atom.kind == "relu":
            (part,) = atom.parts
            assert isinstance(part, Poly)
            yield engine.at_least_zero(part)
    if cond.kind == "ge" and isinstance(cond.poly, Poly):
        yield from _at_lower_limit(engine, cond.poly)


def _at_lower_limit(engine: Engine, poly: Poly) -> Iterator[Cond]:
    """Whether a variable of a negative term is larger than its lower limit: ``n*n >= n``."""
    for mono, coef in poly.terms.items():
        for index in mono if coef < 0 else ():
            low, high = intervals.atom_interval(engine, engine.atoms[index])
            if low is not None and low == 0 != high and engine.atoms[index].is_variable:
                yield engine.at_least_zero(engine.shift(engine.of_atom(engine.atoms[index]), -1))
