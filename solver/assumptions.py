"""Assumptions in the normal form that all their questions share: limits of variables, solved
variables, inequalities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, permutations
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import intervals, normal_form, prim_exprs
from rlx.solver.atom_values import holds
from rlx.solver.budget import FUEL, Work
from rlx.solver.context import NO_ORDERS, ContextState, Orders, demands, divisors
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Atom, Cond, Poly, TooMuchWorkError, leading, quotient
from rlx.solver.prim_exprs import Range
from rlx.solver.verdict import NEVER_DEFINED, Proved

_ROUNDS = 12
_DERIVED = 12
_TWO = 2


def load(
    engine: Engine,
    ranges: Sequence[tuple[tir.Var, Range]],
    facts: Sequence[PrimExpr],
    orders: Orders = NO_ORDERS,
    sample: Mapping[tir.Var, int] | None = None,
) -> bool:
    """Add assumptions to an engine; False if they contradict each other.

    Facts may change the normal form of other facts (a limit determines a sign, a solved variable is
    eliminated), so they are processed until nothing changes.

    Parameters
    ----------
    orders
        The nodes of facts that the caller knows.
    sample
        Values that satisfy all facts, if the caller knows some.
    """
    if sample:
        engine.samples.append({})
    for var, (low, high) in ranges:
        if low is not None and high is not None and low > high:
            return False
        declare(engine, engine.atom("var", (), var), (low, high), sample)
    for _ in range(_ROUNDS):
        before = (len(engine.solved), dict(engine.ranges))
        engine.forget()
        engine.inequalities.clear()
        engine.equations.clear()
        engine.others.clear()
        engine.assumed.clear()
        for fact in facts:
            if not learn(engine, normal_form.condition(engine, fact, orders.get(fact))):
                return False
        _limits_of_solved(engine)
        if before == (len(engine.solved), engine.ranges):
            break
        if not _reconsidered(engine, before, facts, orders):
            break
        if len(facts) == 1 and engine.solved and not (engine.inequalities or engine.others):
            # The only fact is an equation that is solved: there is nothing it could change.
            engine.assumed.clear()
            break
    multiply_quotients(engine)
    engine.forget()
    return True


_SAMPLES = ((720, 120, 24, 12), (0, 1, 2, 4), (720, 120, 24, 12))
"""How far variables are above their smallest values in the points at which signs are looked at
before a proof: multiples of many numbers, and small ones. The first ones are replaced by values that
satisfy the assumptions, if some are known.
"""


def declare(
    engine: Engine, atom: Atom, limits: Range, sample: Mapping[Any, int] | None = None
) -> None:
    """Tell an engine the limits of a variable; its value in the samples, too, if it is given."""
    engine.ranges[atom.index] = low, high = limits
    place, least = len(engine.ranges), low or 0
    for shares, known in zip(_SAMPLES, engine.samples, strict=False):
        value = least + shares[place % len(shares)]
        known[atom.index] = value if high is None or value <= high else high
    if sample:
        first = engine.samples[0]
        first[atom.index] = sample.get(atom.key, first[atom.index])


def _reconsidered(
    engine: Engine,
    before: tuple[int, dict[int, Range]],
    facts: Sequence[PrimExpr],
    orders: Orders,
) -> bool:
    """Whether what a round has changed may change the normal form of a fact: not if only limits of
    variables are new that a single fact has, which tells them.
    """
    solved, ranges = before
    if solved != len(engine.solved):
        return True
    changed = {
        engine.atoms[i].key for i, limits in engine.ranges.items() if ranges.get(i) != limits
    }
    nodes = [node for fact in facts for node in orders.get(fact) or tir.postorder(fact)]
    users = Counter(prim_exprs.variables_among(nodes))
    return any(not isinstance(key, tir.Var) or users[key] > 1 for key in changed)


def multiply_quotients(engine: Engine, first: int = 0) -> None:
    """Bounds of X that inequalities over a quotient ``X//D`` imply, from ``X - D + 1 <= D*(X//D) <=
    X``.

    ``first`` is the number of inequalities of which this is known already.
    """
    for fact in engine.inequalities[first : first + _DERIVED]:
        for atom in engine.atoms_in(fact):
            parts = intervals.coefficient(engine, fact, atom.index) if atom.is_quotient else None
            if parts is None:
                continue
            (factor, rest), (top, divisor) = parts, atom.parts
            if not factor.value:
                continue
            assert isinstance(top, Poly)
            assert isinstance(divisor, Poly)
            if not intervals.nonneg(engine, divisor, 1):
                continue
            largest = top if factor.value > 0 else engine.shift(engine.sub(top, divisor), 1)
            product = engine.mul(divisor, rest)
            engine.inequalities.append(engine.combine(((factor.value, largest), (1, product))))


def learn(engine: Engine, cond: Cond) -> bool:
    """Add one fact; False if it cannot be true."""
    if cond is engine.true:
        return True
    if cond is engine.false:
        return False
    if cond.kind == "and":
        return all(learn(engine, part) for part in cond.parts)
    if engine.samples:
        engine.samples = [known for known in engine.samples if holds(engine, cond, known)]
    poly = cond.poly
    engine.assumed.add(cond)
    if poly is not None:
        factor = intervals.positive_factor(engine, poly, 1)
        if factor:
            left = intervals.without_factor(engine, poly, factor)
            return learn(engine, engine.against_zero(cond.kind, left))
    if poly is None:
        engine.others.append(cond)
    elif cond.kind == "ge":
        return _learn_sign(engine, poly)
    elif cond.kind == "eq":
        return _learn_equation(engine, poly)
    elif intervals.nonneg(engine, poly):
        return _learn_sign(engine, engine.shift(poly, -1))
    elif intervals.nonneg(engine, engine.scale(-1, poly)):
        return _learn_sign(engine, engine.shift(engine.scale(-1, poly), -1))
    else:
        engine.others.append(cond)
    return True


def _learn_sign(engine: Engine, poly: Poly) -> bool:
    """``poly >= 0``: a limit of an atom, or an inequality to remember."""
    if poly.value is not None:
        return poly.value >= 0
    constant = poly.terms.get((), 0)
    linear = [(m, c) for m, c in poly.terms.items() if m]
    engine.inequalities.append(poly)
    match linear:
        case [((index,), coef)]:
            return _learn_limit(engine, index, coef, constant)
        case [(factors, coef)]:
            if coef > 0 > constant:
                _learn_factors(engine, factors)
        case _:
            if all(len(m) == 1 for m, _ in linear):
                _learn_sum_limit(engine, linear, constant)
    return True


def _learn_limit(engine: Engine, index: int, coef: int, constant: int) -> bool:
    """``coef*x + constant >= 0``: a limit of x; False if no value is left."""
    low, high = intervals.atom_interval(engine, engine.atoms[index])
    if coef > 0:
        new = -(constant // coef)
        low = new if low is None else max(low, new)
    else:
        new = constant // -coef
        high = new if high is None else min(high, new)
    if engine.ranges.get(index) != (low, high):
        engine.ranges[index] = (low, high)
        engine.forget_limits()
        if low is not None and low == high and index not in engine.solved:
            _solve(engine, engine.atoms[index], engine.const(low))
    return low is None or high is None or low <= high


def _learn_factors(engine: Engine, mono: tuple[int, ...]) -> None:
    """A positive product: factors that are never negative are positive."""
    limits = {i: intervals.atom_interval(engine, engine.atoms[i]) for i in mono}
    if all(low is not None and low >= 0 for low, _ in limits.values()):
        for index, (low, high) in limits.items():
            if low == 0:
                engine.ranges[index] = (1, high)
                engine.forget_limits()


def _learn_sum_limit(
    engine: Engine, linear: list[tuple[tuple[int, ...], int]], constant: int
) -> None:
    """``a + b <= c``: limits of both where the other has one."""
    for (index,), coef in linear:
        room = constant
        for (other,), size in linear:
            if other == index:
                continue
            end = intervals.atom_interval(engine, engine.atoms[other])[size > 0]
            if end is None:
                break
            room += size * end
        else:
            low, high = engine.ranges.get(index, (None, None))
            if coef > 0 and (low is None or low < -(room // coef)):
                engine.ranges[index] = (-(room // coef), high)
            elif coef < 0 and (high is None or high > room // -coef):
                engine.ranges[index] = (low, room // -coef)
            else:
                continue
            engine.forget_limits()


def _learn_equation(engine: Engine, poly: Poly) -> bool:
    """``poly == 0``: solve for a variable where it occurs once, with coefficient 1 or -1."""
    single = _power_of_two(engine, poly)
    if single is not None:
        exponent = engine.atom("var", (), ("exponent", single.index))
        engine.ranges[exponent.index] = (0, None)
        _solve(engine, single, engine.power(engine.of_atom(exponent)))
        return True
    for atom, coef in _candidates(engine, poly):
        rest = engine.poly({m: c for m, c in poly.terms.items() if m != atom.mono})
        value = engine.scale(-coef, rest)
        if atom not in engine.atoms_in(value):
            _solve(engine, atom, value)
            return True
    for atom, coef in _candidates(engine, poly):
        if _solve_exact(engine, poly, atom, coef):
            return True
    engine.equations.append(poly)
    engine.inequalities.append(poly)
    engine.inequalities.append(engine.scale(-1, poly))
    return True


def _power_of_two(engine: Engine, poly: Poly) -> Atom | None:
    """The variable x of ``x & (x - 1) == 0``, which is a power of two if it is positive."""
    if len(poly.terms) == 1:
        ((mono, coef),) = poly.terms.items()
        atom = engine.atoms[mono[0]]
        if atom.kind == "and" and len(mono) == coef == 1 and len(atom.parts) == _TWO:
            for part, other in permutations(atom.parts):
                assert isinstance(part, Poly)
                assert isinstance(other, Poly)
                low, _ = intervals.interval(engine, part)
                if low is not None and low > 0 and engine.sub(part, other) is engine.one:
                    variable = engine.atoms[leading(part)[0]]
                    if variable.is_variable and part is engine.of_atom(variable):
                        return variable
    return None


def _candidates(engine: Engine, poly: Poly) -> list[tuple[Atom, int]]:
    """Variables with coefficient 1 or -1, the newest first."""
    found = [
        (engine.atoms[m[0]], c)
        for m, c in poly.terms.items()
        if len(m) == 1 and c in (1, -1) and engine.atoms[m[0]].is_variable
    ]
    return sorted(found, key=lambda pair: -pair[0].index)


def _solve_exact(engine: Engine, poly: Poly, atom: Atom, coef: int) -> bool:
    """``x - h*(x//h) == c``: x becomes ``h*k + c`` with a new variable k for the quotient."""
    for index in {i for mono in poly.terms for i in mono}:
        quotient = engine.atoms[index]
        if not quotient.is_quotient or atom not in engine.atoms_in(*quotient.parts):
            continue
        if not isinstance(atom.key, tir.Var) and not _multiple(poly, quotient, coef):
            # A quotient that was made a variable here: going on would never end.
            continue
        new = engine.atom("var", (), ("quotient", index))
        engine.ranges[new.index] = intervals.atom_interval(engine, quotient)
        replaced = engine.replace_top(poly, {index: engine.of_atom(new)})
        rest = engine.poly({m: c for m, c in replaced.terms.items() if m != atom.mono})
        value = engine.scale(-coef, rest)
        if atom not in engine.atoms_in(value):
            _solve(engine, atom, value)
            return True
    return False


def _multiple(poly: Poly, quotient: Atom, coef: int) -> bool:
    """Whether an equation says that a variable is a multiple of a number: ``x - 3*(x//3) == c``."""
    divisor = quotient.parts[1]
    assert isinstance(divisor, Poly)
    return divisor.value is not None and poly.terms.get(quotient.mono) == -coef * divisor.value


def _solve(engine: Engine, atom: Atom, value: Poly) -> None:
    mapping = {atom.index: value}
    for index, poly in list(engine.solved.items()):
        engine.solved[index] = engine.replace(poly, mapping)
    engine.solved[atom.index] = value
    engine.memo.clear()
    engine.divided.clear()


def _with_multiples(engine: Engine, poly: Poly) -> Poly:
    """A polynomial in which a variable that a fact makes a multiple, ``x == 4*k + 1`` with a variable
    for its quotient, stands for the multiples of k.
    """
    for index, value in engine.solved.items():
        for multiple, size in value.terms.items():
            keys = [engine.atoms[i].key for i in multiple]
            if not any(isinstance(key, tuple) and key[0] == "quotient" for key in keys):
                continue
            gap = engine.sub(engine.of_atom(engine.atoms[index]), value)
            for mono, coef in poly.terms.items():
                factor = quotient(mono, multiple)
                if factor is not None and coef % size == 0:
                    part = engine.mul(engine.of_mono(factor, coef // size), gap)
                    poly = engine.add(poly, part)
    return poly


def _limits_of_solved(engine: Engine) -> None:
    """Learn the inequalities that the limits of a solved variable give of its value."""
    for index, value in list(engine.solved.items()):
        low, high = engine.ranges.get(index, (None, None))
        if low is not None and not intervals.nonneg(engine, engine.shift(value, -low)):
            _learn_sign(engine, engine.shift(value, -low))
        if high is not None:
            upper = engine.shift(engine.scale(-1, value), high)
            if not intervals.nonneg(engine, upper):
                _learn_sign(engine, upper)


class SharedNormalForm:
    """The normal form of assumptions and of the expressions in questions.

    Parameters
    ----------
    state
        The assumptions.
    conditions
        The assumptions that are integer arithmetic, with their nodes.
    sample
        Values that satisfy them, of some variables.
    """

    def __init__(
        self, state: ContextState, conditions: Orders, sample: Mapping[tir.Var, int]
    ) -> None:
        self.state = state
        self._conditions = conditions
        self.sample = sample
        self._engine: Engine | None = None
        self._consistent = True
        self.bare = not (conditions or state.definitions)
        """Whether there are limits of variables only."""

    def forget(self) -> None:
        """Drop the expressions of questions."""
        self._engine = None

    def engine(self, work: Work) -> Engine:
        """The normal form of the assumptions; its cost is subtracted from the work."""
        if self._engine is None:
            engine = Engine(FUEL)
            work.lend(engine, len(self._conditions))
            facts = [*self._conditions]
            nodes = [*chain.from_iterable(self._conditions.values())]
            used = dict.fromkeys(prim_exprs.variables_among(nodes))
            try:
                ranges = [(v, self.state.range_of(v)) for v in used]
                self._consistent = load(
                    engine, ranges, [*demands(facts, nodes), *facts], self._conditions, self.sample
                )
            except (TooMuchWorkError, RecursionError):
                engine = Engine(FUEL)
            self._engine = engine
        return self._engine

    def ready(self, order: list[PrimExpr], work: Work, hasty: bool = False) -> Engine:
        """The engine, with the ranges of all variables that occur."""
        engine = self.engine(work)
        work.lend(engine, len(order), hasty)
        memo = engine.memo
        for var in [each for each in order if type(each) is tir.Var and each not in memo]:
            assert isinstance(var, tir.Var)
            atom = engine.atom("var", (), var)
            if atom.index not in engine.ranges:
                declare(engine, atom, self.state.range_of(var))
            if prim_exprs.scalar(var.dtype):
                memo[var] = engine.solved.get(atom.index) or engine.of_atom(atom)
        return engine

    def proves(
        self, goal: PrimExpr, order: list[PrimExpr], work: Work, hasty: bool = False
    ) -> bool:
        """Whether the normal form of a condition is true; ``order`` are its nodes, operands
        first.
        """
        engine = self.engine(work)
        try:
            self.ready(order, work, hasty)
            return normal_form.condition(engine, goal, order) is engine.true
        except (TooMuchWorkError, RecursionError):
            # What was under way when the fuel ran out left limits that say less than they could.
            engine.forget_limits()
            return False

    def proved(self, means: str, goal: PrimExpr, order: list[PrimExpr], work: Work) -> Proved:
        """The verdict, with the divisors of the goal that are not known to be nonzero."""
        needed: dict[object, PrimExpr] = {}
        for divisor in divisors([goal], order):
            try:
                engine = self.engine(work)
                known = engine.memo.get(divisor)
                if isinstance(known, Poly):
                    poly = known
                else:
                    engine = self.ready(tir.postorder(divisor), work)
                    poly = normal_form.polynomial(engine, divisor)
                low, high = intervals.interval(engine, poly)
                if low == high == 0 and self._consistent:
                    means = NEVER_DEFINED
                if not ((low is not None and low > 0) or (high is not None and high < 0)):
                    needed.setdefault(poly, divisor)
            except (TooMuchWorkError, RecursionError):
                needed[divisor] = divisor
        return Proved(means, tuple(needed.values()))

    def simplified(
        self, expr: PrimExpr, order: list[PrimExpr], work: Work, factored: bool
    ) -> PrimExpr | None:
        """The normal form as an expression, or None."""
        from rlx.solver.rebuild import rebuilt

        try:
            engine = self.ready(order, work)
            part = normal_form.normalize(engine, expr, order)
            if isinstance(part, Poly):
                part = _with_multiples(engine, part)
            return rebuilt(engine, part, factored)
        except (TooMuchWorkError, RecursionError):
            return None

    def limit_that_is(
        self, condition: PrimExpr, order: list[PrimExpr], work: Work
    ) -> PrimExpr | None:
        """A condition on one variable, as a limit of this variable."""
        try:
            engine = self.ready(order, work)
            cond = normal_form.condition(engine, condition, order)
        except (TooMuchWorkError, RecursionError):
            return None
        poly = cond.poly
        if poly is None or cond.kind != "ge" or any(len(mono) > 1 for mono in poly.terms):
            return None
        varying = [(engine.atoms[mono[0]], coef) for mono, coef in poly.terms.items() if mono]
        if len(varying) != 1 or not isinstance(varying[0][0].key, tir.Var):
            return None
        ((atom, coef),) = varying
        kind, constant = (
            (tir.GE, -poly.terms.get((), 0)) if coef > 0 else (tir.LE, poly.terms.get((), 0))
        )
        assert isinstance(atom.key, tir.Var)
        return kind(atom.key, tir.IntImm(constant))
