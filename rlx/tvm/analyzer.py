"""TVM's arithmetic analyzer on the prover of rlx."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import intervals, prim_exprs, usage_errors
from rlx.solver.api import script_of
from rlx.solver.budget import Work
from rlx.solver.context import Context, ContextState, within_dtype
from rlx.solver.definedness import defined
from rlx.solver.interop import is_expression
from rlx.solver.prim_exprs import Range
from rlx.solver.prover import Prover
from rlx.solver.reading import Expression
from rlx.solver.session import Session
from rlx.solver.verdict import CONTRADICTORY, Proved, Refuted, Unknown, Verdict

POS_INF = (1 << 63) - 1
NEG_INF = -POS_INF
"""TVM's numbers for no limit."""
_SMT_PER_MILLISECOND = 2_000
_CONTEXTS = 8
"""The number of states of knowledge whose answers are kept."""


class Bound(NamedTuple):
    """The smallest and largest value of an expression, as TVM's ``ConstIntBound`` has them."""

    min_value: int
    max_value: int


class Residue(NamedTuple):
    """The numbers ``coeff * x + base``, as TVM's ``ModularSet`` has them."""

    coeff: int
    base: int


class Interval(NamedTuple):
    """The integers between two expressions, each None for no limit, as in TVM's ``IntervalSet``."""

    min_value: PrimExpr | None
    max_value: PrimExpr | None


class CompareResult(enum.IntEnum):
    """The comparison of two expressions; the numbers are those of TVM."""

    INCONSISTENT = 0
    EQ = 1
    LT = 2
    LE = 3
    GT = 4
    GE = 5
    NE = 6
    UNKNOWN = 7


class _Whole(ContextState):
    """Assumptions about variables that may be negative."""

    def range_of(self, var: tir.Var) -> Range:
        found = self.ranges.get(var)
        return within_dtype(var, 0 if var.is_size else None, None) if found is None else found


class _WholeContext(Context):
    def __init__(self) -> None:
        super().__init__()
        self._state = _Whole({}, (), {})


class _Limited(Prover):
    """A prover with a bound of its own for SMT, which shows the work of the last question."""

    __slots__ = ("smt", "work")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.smt: int | None = None
        self.work: Work | None = None

    def _session(self, *parts: PrimExpr) -> Session:
        session = super()._session(*parts)
        self.work = session.work
        if self.smt is not None:
            self.work.smt = min(self.work.smt, self.smt)
        return session


class ConstraintScope:
    """A condition that holds inside a ``with`` statement; made by :meth:`Analyzer.constraint_scope`."""

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self._enter, self._leave = enter, leave

    def __enter__(self) -> None:
        self._enter()

    def __exit__(self, *_: object) -> None:
        self._leave()


class Analyzer:
    """The methods of ``tvm.sym.Analyzer`` (``tvm.arith.Analyzer`` before 0.27), answered by the
    prover of rlx.

    Expressions are those of TVM, texts, or ours; results are TVM's for the former and ours for the
    others. As in TVM, a variable may be negative unless something else is known of it, int32 and
    int64 do not overflow, and divisors are not zero. What is no integer arithmetic is an unknown
    value: nothing is proved of it, and it is never an error.

    Attributes
    ----------
    verdict
        The answer to the last question, with its reason, its counterexample or its certificate;
        None before the first one.

    Examples
    --------
    >>> analyzer = Analyzer()
    >>> with analyzer.constraint_scope("n % 4 == 0"):
    ...     analyzer.can_prove_equal("n // 4 * 4", "n")
    True
    >>> analyzer.can_prove_equal("n // 4 * 4", "n")
    False
    >>> print(analyzer.verdict)
    refuted: n = 1
    """

    verdict: Verdict | None

    def __init__(self) -> None:
        self.verdict = None
        self._asked = _Limited(_WholeContext())
        self._vocabulary = self._asked.context.vocabulary
        self._contexts: dict[tuple[object, ...], Context] = {}
        self._known = False
        self._values: dict[tir.Var, PrimExpr] = {}
        self._bounds: dict[tir.Var, Range] = {}
        self._facts: dict[tuple[tir.Var, str], tuple[object, tuple[PrimExpr, ...]]] = {}
        self._scopes: list[PrimExpr] = []
        self._most = 0

    def clone(self) -> Analyzer:
        """An independent analyzer with the same knowledge."""
        other = Analyzer()
        other._asked.smt, other._most = self._asked.smt, self._most
        other._vocabulary = self._vocabulary
        other._values, other._bounds = dict(self._values), dict(self._bounds)
        other._facts, other._scopes = dict(self._facts), list(self._scopes)
        return other

    # Questions

    def can_prove(self, expr: Expression, strength: int = 0) -> bool:
        """Whether a condition holds for all values of its variables.

        Parameters
        ----------
        expr
            A condition; a number stands for ``number != 0``.
        strength
            TVM's ``ProofStrength``. Every question is asked with the whole strength, so this only
            has to be one of its values.

        Raises
        ------
        TypeError, ValueError
            If it is no expression, or a text that cannot be parsed.
        """
        if strength not in (0, 1):
            raise ValueError(f"strength: expected 0 or 1, found {usage_errors.described(strength)}")
        return self._proves(self._condition(expr, self._lane))

    def can_prove_equal(self, lhs: Expression, rhs: Expression) -> bool:
        """Whether two expressions have the same value."""
        return self._compares(tir.EQ, lhs, rhs)

    def can_prove_greater_equal(self, expr: Expression, least: Expression) -> bool:
        """Whether an expression is at least ``least``."""
        return self._compares(tir.GE, expr, least)

    def can_prove_less(self, expr: Expression, limit: Expression) -> bool:
        """Whether an expression is less than ``limit``."""
        return self._compares(tir.LT, expr, limit)

    def try_compare(
        self, lhs: Expression, rhs: Expression, propagate_inequalities: bool = True
    ) -> CompareResult:
        """The most precise of ``EQ``, ``LT``, ``GT``, ``LE``, ``GE`` and ``NE`` that is proved.

        Known inequalities are always combined; ``propagate_inequalities`` is accepted for TVM.
        """
        usage_errors.flag("propagate_inequalities", propagate_inequalities)
        a, b = self._read(lhs), self._read(rhs)
        for kind in (tir.EQ, tir.LT, tir.GT, tir.LE, tir.GE, tir.NE):
            if self._proves(kind(a, b)):
                assert isinstance(self.verdict, Proved)
                vacuous = self.verdict.means == CONTRADICTORY
                return CompareResult["INCONSISTENT" if vacuous else kind.__name__]
        return CompareResult.UNKNOWN

    # Simplification

    def simplify(self, expr: Expression, steps: int = 2) -> Any:
        """An expression of the same value in normal form, if that is shorter.

        ``steps`` of 0 leaves the expression as it is; one step reaches the normal form.

        Raises
        ------
        RuntimeError
            If it takes more steps than :meth:`set_maximum_rewrite_steps` allows.
        TypeError, ValueError
            As :meth:`can_prove`.
        """
        if not isinstance(steps, int) or isinstance(steps, bool):
            raise TypeError(f"steps: expected an integer, found {usage_errors.described(steps)}")
        if self._lanes(expr) > 1 and steps > 0:
            vector = self._simplified_lanes(expr)
            if vector is not None:
                return vector
        plain = self._plain(expr)
        read = self._valued(plain)
        if steps <= 0 or isinstance(expr, int):
            return self._given(expr, plain, read)
        self._prover.work = None
        found: PrimExpr = self._prover.simplify(read)
        used = 0 if self._prover.work is None else self._prover.work.steps
        if 0 < self._most < used:
            raise RuntimeError(
                f"simplify took {used} steps; set_maximum_rewrite_steps allows {self._most}"
            )
        if not _is_of_tvm(expr):
            return found
        whole = found is plain and all(
            self._prover.simplify(each) is each for each in self._foreign.arguments(plain)
        )
        written = None if whole else self._foreign.write(found, expr, self._prover.simplify)
        return self._given(expr, plain, read) if written is None else written

    def rewrite_simplify(self, expr: Expression) -> Any:
        """As :meth:`simplify`: there is one normal form."""
        return self.simplify(expr)

    def canonical_simplify(self, expr: Expression) -> Any:
        """As :meth:`simplify`: there is one normal form."""
        return self.simplify(expr)

    def set_maximum_rewrite_steps(self, maximum: int) -> None:
        """Let :meth:`simplify` fail where it takes more steps; 0 or less for no limit."""
        self._most = _integer("maximum", maximum)

    @property
    def rewrite_simplify_stats(self) -> Any:
        """The statistics of the prover: how many questions were settled, and by which means."""
        return self._prover.statistics

    def reset_rewrite_simplify_stats(self) -> None:
        """Begin new statistics."""
        prover = _Limited(self._prover.context)
        prover.smt = self._asked.smt
        self._asked = prover

    # Knowledge

    def bind(self, var: Expression, expr: Any, allow_override: bool = False) -> None:
        """Bind a variable to an expression, or to a range: TVM's ``Range``, Python's ``range``, or
        a pair of its begin and end.

        Where the variable's type does not hold all values of an expression, the variable is the
        expression as it is, as in TVM. TVM also takes numbers that the type does not hold.

        Raises
        ------
        ValueError
            If the variable is bound to something else, unless ``allow_override``; if its type
            holds none of the values.
        TypeError
            If the arguments are not a variable and an expression or a range.
        """
        usage_errors.flag("allow_override", allow_override)
        name = self._variable(var)
        limits = self._range(expr)
        if limits is None:
            value = self._read(expr)
            if any(each is name for each in tir.free_vars(value)):
                raise ValueError(f"bind: {name.name} cannot be bound to an expression of itself")
            usage_errors.held(name, value, self._prover.limits)
            old = self._values.get(name)
            if old is not None and not prim_exprs.alike(old, value) and not allow_override:
                self._bound_already(name, old, value)
            self._values[name] = value
        else:
            low, end = limits
            facts = (tir.GE(name, low), tir.LT(name, end))
            self._learn(name, "range", tir.And(*facts), facts, allow_override)
        self._renew()

    def update(self, var: Expression, info: Any, override: bool = False) -> None:
        """Learn a bound (``ConstIntBound``, :class:`Bound`), residues (``ModularSet``,
        :class:`Residue`) or an interval (``IntervalSet``, :class:`Interval`) of a variable.

        Raises
        ------
        ValueError
            If something else of this kind is known, unless ``override``; if the variable's type
            holds none of the values of a bound.
        TypeError
            If the arguments are none of these.
        """
        usage_errors.flag("override", override)
        name = self._variable(var)
        match type(info).__name__:
            case "ConstIntBound" | "Bound":
                least = _integer("min_value", info.min_value)
                most = _integer("max_value", info.max_value)
                bound = (None if least <= NEG_INF else least, None if most >= POS_INF else most)
                if self._bounds.get(name, bound) != bound and not override:
                    self._bound_already(name, self._bounds[name], bound)
                if least <= most:
                    _WholeContext().declare(name, *bound)  # raises if its type holds no such value
                self._bounds[name] = bound
            case "ModularSet" | "Residue":
                coeff, base = _integer("coeff", info.coeff), _integer("base", info.base)
                number = tir.IntImm(base)
                fact: PrimExpr = tir.EQ(name, number)
                if coeff:
                    offset = tir.FloorMod(tir.Sub(name, number), tir.IntImm(abs(coeff)))
                    fact = tir.EQ(offset, prim_exprs.ZERO)
                self._learn(name, "residue", fact, (fact,), override)
            case "IntervalSet" | "Interval":
                low, high = self._ends(info)
                facts: list[PrimExpr] = [] if low is None else [tir.GE(name, low)]
                facts += [] if high is None else [tir.LE(name, high)]
                whole = prim_exprs.conjunction(facts)
                self._learn(name, "interval", whole, tuple(facts), override)
            case _:
                raise TypeError(
                    "info: expected a ConstIntBound, a ModularSet or an IntervalSet, found"
                    f" {usage_errors.described(info)}"
                )
        self._renew()

    def constraint_scope(self, constraint: Expression) -> ConstraintScope:
        """A scope in which a condition holds, for ``with``.

        Raises
        ------
        TypeError, ValueError
            As :meth:`can_prove`.
        """
        fact = self._condition(constraint)

        def enter() -> None:
            self._scopes.append(fact)
            self._renew()

        def leave() -> None:
            open_ones = [i for i, each in enumerate(self._scopes) if each is fact]
            if not open_ones:
                raise RuntimeError("constraint_scope: this scope is left, but it is not open")
            del self._scopes[open_ones[-1]]
            self._renew()

        return ConstraintScope(enter, leave)

    # What is known

    def const_int_bound(self, expr: Expression) -> Any:
        """The smallest and largest value, as TVM's ``ConstIntBound`` or our :class:`Bound`."""
        low, high = self._prover.limits(self._lane(expr))
        least = NEG_INF if low is None else min(max(low, NEG_INF), POS_INF)
        most = POS_INF if high is None else max(min(high, POS_INF), NEG_INF)
        if not _is_of_tvm(expr):
            return Bound(least, most)
        from tvm import sym  # type: ignore[import-not-found,unused-ignore]

        return sym.ConstIntBound(least, most)

    def const_int_bound_is_bound(self, var: Expression) -> bool:
        """Whether a variable has a bound, from :meth:`bind` or :meth:`update`."""
        name = self._variable(var)
        return name in self._bounds or name in self._values or (name, "range") in self._facts

    def modular_set(self, expr: Expression) -> Any:
        """The residues, as TVM's ``ModularSet`` or our :class:`Residue`."""
        coeff, base = self._prover.residue(self._lane(expr))
        if not _is_of_tvm(expr):
            return Residue(coeff, base)
        from tvm import sym

        return sym.ModularSet(coeff, base) if abs(base) < POS_INF > coeff else sym.ModularSet(1, 0)

    def int_set(self, expr: Expression, dom_map: Mapping[Any, Any] | None = None) -> Any:
        """An interval around all values for the variables of ``dom_map``, as TVM's
        ``IntervalSet`` or our :class:`Interval`; without a map, for the variables with a range.

        Its limits are exact where the expression grows or falls with each of these variables.
        """
        read = self._read(expr)
        domains: dict[tir.Var, tuple[PrimExpr | None, PrimExpr | None]] = {}
        if dom_map is None:
            for (name, kind), (known, _) in self._facts.items():
                if kind in ("range", "interval"):
                    domains[name] = _limits_of(known)
        else:
            if not hasattr(dom_map, "items"):
                words = "dom_map: expected intervals by variable, found"
                raise TypeError(f"{words} {usage_errors.described(dom_map)}")
            domains = {self._variable(var): self._ends(each) for var, each in dom_map.items()}
        low = self._extreme(read, domains, least=True)
        high = self._extreme(read, domains, least=False)
        if not _is_of_tvm(expr):
            return Interval(low, high)
        if isinstance(expr, int):
            expr = self._given(expr, read, read)
        from tvm import sym
        from tvm.sym.int_set import neg_inf, pos_inf  # type: ignore[import-not-found,unused-ignore]

        write = self._foreign.write
        least = None if low is None else write(low, expr)
        most = None if high is None else write(high, expr)
        return sym.IntervalSet(
            neg_inf() if least is None else least, pos_inf() if most is None else most
        )

    # SMT

    @property
    def is_z3_enabled(self) -> bool:
        """True: rlx needs Z3."""
        return True

    def get_smtlib2(self, expr: Expression | None = None) -> str:
        """The knowledge as an SMT-LIB script, with the opposite of a condition if one is given.

        Raises
        ------
        TypeError
            If something in it is no integer arithmetic.
        """
        goal = tir.IntImm(0, BOOL) if expr is None else self._condition(expr)
        return script_of(self._prover, goal)

    def set_z3_rlimit(self, rlimit: int) -> None:
        """Bound the work of Z3 on a question, in its own units; 0 for the usual bound."""
        self._asked.smt = _integer("rlimit", rlimit) or None
        self._contexts.clear()  # so that no answer is remembered
        self._renew()

    def set_z3_timeout_ms(self, timeout_ms: int) -> None:
        """The same by the time that the work takes about: it is counted, so that answers are the
        same on every machine.
        """
        self.set_z3_rlimit(_integer("timeout_ms", timeout_ms) * _SMT_PER_MILLISECOND)

    def get_z3_stats(self) -> str:
        """The number of questions that each means settled, a line for each."""
        return "\n".join(f"{means}: {n}" for means, n in self._prover.statistics.means.items())

    @property
    def enabled_extensions(self) -> int:
        """15, all of TVM's extensions: what they add is always done here."""
        return 15

    @enabled_extensions.setter
    def enabled_extensions(self, flags: Any) -> None:
        _integer("enabled_extensions", getattr(flags, "value", flags))

    # Reading

    @property
    def _foreign(self) -> Any:
        return self._vocabulary.foreign

    def _plain(self, expr: Expression) -> PrimExpr:
        """An expression with the variables as they are written."""
        if isinstance(expr, int):
            return tir.IntImm(int(expr), BOOL) if isinstance(expr, bool) else tir.IntImm(expr)
        if isinstance(expr, str):
            return self._prover.context.read(expr)  # it may name what is known
        return self._vocabulary.expression(expr)

    def _read(self, expr: Expression) -> PrimExpr:
        """An expression with the values of its variables."""
        return self._valued(self._plain(expr))

    def _valued(self, read: PrimExpr) -> PrimExpr:
        if not self._values:
            return read
        if any(self._valued(each) is not each for each in self._foreign.arguments(read)):
            read = self._foreign.with_arguments(read, self._valued)
        # The values of values, too: none is in a circle.
        while any(var in self._values for var in tir.free_vars(read)):
            read = tir.substitute(read, self._values)
        return read

    def _given(self, expr: Expression, plain: PrimExpr, read: PrimExpr) -> Any:
        """The given expression, with the values of its variables, in its own form."""
        if not _is_of_tvm(expr):
            return read
        if isinstance(expr, int):
            from tvm import prim  # type: ignore[import-not-found,unused-ignore]

            if isinstance(expr, bool):
                return prim.IntImm("bool", expr)
            if not NEG_INF <= expr <= POS_INF:
                raise ValueError(f"expected an expression of 64 bits, found {expr:#x}")
            return prim.IntImm("int32" if -(1 << 31) <= expr < 1 << 31 else "int64", int(expr))
        written = None if read is plain else self._foreign.write(read, expr)
        return expr if written is None else written

    def _lanes(self, expr: Expression) -> int:
        """The number of values of an expression."""
        return self._foreign.lanes(expr) if is_expression(expr) else 1

    def _lane(self, expr: Expression) -> PrimExpr:
        """An expression with the values of its variables; any lane of a vector."""
        if self._lanes(expr) == 1:
            return self._read(expr)
        self._read(expr)  # so that texts may name its variables
        read, number, count = self._foreign.lane(expr)
        if number not in self._bounds:
            self._bounds[number] = (0, count - 1)
            self._renew()
        return self._valued(read)

    def _compares(self, kind: type[tir.Comparison], lhs: Expression, rhs: Expression) -> bool:
        """Whether two expressions compare so, in each lane if they are vectors."""
        a, b = self._lane(lhs), self._lane(rhs)
        counts = {self._lanes(each) for each in (lhs, rhs) if is_expression(each)}
        if len(counts) > 1:
            self.verdict = Unknown(f"a vector of {max(counts)} lanes, and one of {min(counts)}")
            return False
        return self._proves(kind(a, b))

    def _simplified_lanes(self, expr: Any) -> Any:
        """A vector as a ramp, or as copies of one value; None if it is neither."""
        read, simplify = self._lane(expr), self._prover.simplify
        if prim_exprs.stranger(tir.postorder(read)) is not None:
            return None
        _, number, _ = self._foreign.lane(expr)
        base, after = (
            simplify(tir.substitute(read, {number: at})) for at in (prim_exprs.ZERO, prim_exprs.ONE)
        )
        stride: PrimExpr = prim_exprs.ZERO
        if prim_exprs.is_boolean(read):
            same: PrimExpr = tir.Or(tir.And(read, base), tir.And(tir.Not(read), tir.Not(base)))
        else:
            stride = simplify(tir.Sub(after, base))
            same = tir.EQ(read, tir.Add(base, tir.Mul(stride, number)))
        if not self._prover.always(same).proved:
            return None
        return self._foreign.write_lanes(base, stride, expr, simplify)

    def _condition(
        self, expr: Expression, reading: Callable[[Expression], PrimExpr] | None = None
    ) -> PrimExpr:
        read = (reading or self._read)(expr)
        if prim_exprs.may_be_condition(read):
            return read
        if isinstance(expr, str):
            return self._prover.context.condition(expr)  # which says what is wrong
        return tir.NE(read, prim_exprs.ZERO)

    def _variable(self, var: Expression) -> tir.Var:
        if isinstance(var, str):
            return self._prover.context.variable(var)
        return self._vocabulary.variable(var)

    def _range(self, found: Any) -> tuple[PrimExpr, PrimExpr] | None:
        """The first value of a range and the first one behind it; None for an expression."""
        if isinstance(found, range):
            if found.step != 1:
                raise ValueError(f"bind: expected a range with the step 1, found {found}")
            found = (found.start, found.stop)
        if isinstance(found, list | tuple):
            if len(found) != 2:
                raise TypeError(
                    f"bind: expected a begin and an end, found {usage_errors.described(found)}"
                )
            begin, end = found
            return self._read(begin), self._read(end)
        if type(found).__name__ != "Range":
            return None
        least, extent = self._read(found.min), self._read(found.extent)
        return least, extent if (isinstance(least, tir.IntImm) and not least.value) else tir.Add(
            least, extent
        )

    def _ends(self, info: Any) -> tuple[PrimExpr | None, PrimExpr | None]:
        """The limits of an interval."""
        if type(info).__name__ not in ("IntervalSet", "Interval"):
            raise TypeError(
                f"expected an IntervalSet or an Interval, found {usage_errors.described(info)}"
            )
        low, high = (
            None if end is None or _is_infinite(end) else self._read(end)
            for end in (info.min_value, info.max_value)
        )
        return low, high

    # The prover

    def _proves(self, condition: PrimExpr) -> bool:
        self.verdict = self._prover.always(condition)
        if isinstance(self.verdict, Refuted) and self._prover.context.state.facts:
            self.verdict = self._prover.complete(self.verdict)
        return isinstance(self.verdict, Proved)

    def _learn(
        self,
        var: tir.Var,
        kind: str,
        known: PrimExpr,
        facts: tuple[PrimExpr, ...],
        override: bool,
    ) -> None:
        old = self._facts.get((var, kind))
        if old is not None and not override and not prim_exprs.alike(old[0], known):  # type: ignore[arg-type]
            self._bound_already(var, old[0], known)
        self._facts[var, kind] = (known, facts)

    def _bound_already(self, var: tir.Var, old: object, new: object) -> None:
        raise ValueError(
            f"{var.name} is bound already, to {_shown(old)}; to bind it to {_shown(new)}, pass"
            " allow_override=True (bind) or override=True (update)"
        )

    def _renew(self) -> None:
        """The knowledge has changed: the prover is told when it is asked."""
        self._known = False

    @property
    def _prover(self) -> _Limited:
        """The prover, with the present knowledge. That of before a scope has its answers again
        behind it.
        """
        if not self._known:
            items = (self._values.items(), self._bounds.items(), self._facts.items(), self._scopes)
            knowledge = tuple(chain.from_iterable(items))
            context = self._contexts.get(knowledge)
            if context is None:
                if len(self._contexts) >= _CONTEXTS:
                    self._contexts.clear()
                context = self._contexts[knowledge] = self._context()
            self._asked.context = context
            self._known = True
        return self._asked

    def _context(self, without: tir.Var | None = None) -> Context:
        """The present knowledge, without that of a variable if one is given."""
        bounds, facts = dict(self._bounds), list(self._scopes)
        for (var, _), (_, each) in self._facts.items():
            for fact in each:
                limits = _constant_limits(fact)
                if limits is None:
                    facts.append(fact)
                else:
                    before = bounds.get(var) or _Whole({}, (), {}).range_of(var)
                    bounds[var] = intervals.meet(before, limits)
        mentioned = {*tir.free_vars(*facts), *bounds}
        facts += [tir.EQ(var, self._valued(var)) for var in self._values if var in mentioned]
        context = _WholeContext()
        context.vocabulary = self._vocabulary
        for var, limits in bounds.items():
            low, high = within_dtype(var, *limits)
            if low is not None and high is not None and low > high:
                facts.append(tir.IntImm(0, BOOL))
            elif var is not without:
                context.declare(var, low, high)
        if without is not None:
            facts = [fact for fact in facts if without not in tir.free_vars(fact)]
        if facts:
            context.assume(prim_exprs.conjunction(facts))
        return context

    def _extreme(
        self,
        expr: PrimExpr,
        domains: Mapping[tir.Var, tuple[PrimExpr | None, PrimExpr | None]],
        least: bool,
    ) -> PrimExpr | None:
        """A limit of an expression, without the variables that have domains."""
        found: PrimExpr | None = expr
        for var in tir.free_vars(expr):
            if var in domains and found is not None and var in tir.free_vars(found):
                found = self._without(found, var, domains[var], least)
        if found is None:
            bounds = self._prover.limits(expr)
            bound = bounds[0 if least else 1]
            return None if bound is None else tir.IntImm(bound)
        simple: PrimExpr = self._prover.simplify(found)
        return simple

    def _without(
        self,
        expr: PrimExpr,
        var: tir.Var,
        ends: tuple[PrimExpr | None, PrimExpr | None],
        least: bool,
    ) -> PrimExpr | None:
        """The expression at that end of a variable's domain where it is smallest, or largest."""
        after = tir.substitute(expr, {var: tir.Add(var, prim_exprs.ONE)})
        grows = tir.GE(after, expr) if least else tir.LE(after, expr)
        falls = tir.LE(after, expr) if least else tir.GE(after, expr)
        inside: list[PrimExpr] = []
        if ends[0] is not None:
            inside.append(tir.GE(var, ends[0]))
        if ends[1] is not None:
            inside.append(tir.LT(var, ends[1]))
        # From one value to the next, so that nothing else may be known of the variable, and the
        # expression has a value everywhere between the ends.
        whole = [c for c in prim_exprs.conjuncts(defined(grows)) if var in tir.free_vars(c)]
        prover = _Limited(self._context(without=var))
        prover.smt = self._asked.smt
        for fact in inside:
            prover.context.assume(fact)
        for condition, end in ((grows, ends[0]), (falls, ends[1])):
            monotone = isinstance(
                prover.always(prim_exprs.conjunction([*whole, condition])), Proved
            )
            if monotone:
                return None if end is None else tir.substitute(expr, {var: end})
        return None


def _constant_limits(fact: PrimExpr) -> Range | None:
    """The limits of a variable that a fact about it alone states; None for any other fact."""
    match fact:
        case tir.GE(b=tir.IntImm(value=value)):
            return (value, None)
        case tir.LE(b=tir.IntImm(value=value)):
            return (None, value)
        case tir.LT(b=tir.IntImm(value=value)):
            return (None, value - 1)
    return None


def _limits_of(known: object) -> tuple[PrimExpr | None, PrimExpr | None]:
    """The limits that the facts of a range or an interval state."""
    low: PrimExpr | None = None
    high: PrimExpr | None = None
    assert isinstance(known, PrimExpr)
    for fact in prim_exprs.conjuncts(known):
        match fact:
            case tir.GE(b=b):
                low = b
            case tir.LE(b=b):
                high = b
            case tir.LT(b=b):
                high = tir.Sub(b, prim_exprs.ONE)
    return low, high


def _is_of_tvm(expr: Expression) -> bool:
    """Whether the answer for an expression is one of TVM."""
    return not isinstance(expr, str | PrimExpr)


def _is_infinite(end: Any) -> bool:
    """Whether the end of an interval of TVM is no limit."""
    return type(end).__name__ == "Var" and str(getattr(end, "name", "")) in ("neg_inf", "pos_inf")


def _integer(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected an integer, found {usage_errors.described(value)}")
    return int(value)


def _shown(known: object) -> str:
    if isinstance(known, PrimExpr):
        from rlx.grammar.print.printer import show

        return show(known)
    assert isinstance(known, tuple)
    low, high = ("no limit" if end is None else str(end) for end in known)
    return f"the values from {low} to {high}"
