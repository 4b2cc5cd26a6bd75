"""The prover: questions about integer expressions under a context, and comparison of dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations
from typing import TYPE_CHECKING, Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs, usage_errors
from rlx.solver.bounds import limits, residue
from rlx.solver.budget import NODES, Statistics
from rlx.solver.context import Context, ContextState
from rlx.solver.definedness import partial as may_be_undefined
from rlx.solver.prim_exprs import Range
from rlx.solver.reading import Expression
from rlx.solver.verdict import Evidence, Proved, Refuted, Relation, Unknown, Verdict

if TYPE_CHECKING:
    from rlx.solver.session import Session


_SESSIONS = 8
_GROUPS = 1_000
"""The maximum number of groups of facts whose values, which satisfy them, are remembered."""
_SHORTENED = 100
"""The maximum number of nodes of a dimension that is put into its short form."""
_SHORT = 10_000
"""The maximum number of remembered short forms."""


class Prover:
    """Answers questions under a context, which may change between them.

    Integers are exact, even those of narrow types; only casts wrap. Questions about other values
    than scalar integers and Booleans are unknown. A condition is proved if it holds wherever it is
    defined: for all values of the variables in their ranges that satisfy the facts and make no
    divisor zero.

    Parameters
    ----------
    context
        The assumptions; by default an empty context.
    int64
        Whether a value beyond 64 bits counts as a failure of the goal: verdicts then show where
        intermediate values overflow.

    Attributes
    ----------
    statistics
        The number of questions, the methods, the slowest questions.
    """

    __slots__ = ("_bare", "_groups", "_sessions", "_short", "context", "int64", "statistics")

    def __init__(self, context: Context | None = None, int64: bool = False) -> None:
        if context is not None and not isinstance(context, Context):
            raise TypeError(f"expected a Context, found {usage_errors.described(context)}")
        usage_errors.flag("int64", int64)
        self.context = Context() if context is None else context
        self.int64 = int64
        self.statistics = Statistics()
        self._sessions: dict[ContextState, Session] = {}
        self._groups: dict[object, Verdict] = {}
        self._bare: tuple[object, Session] | None = None
        self._short: tuple[ContextState, dict[PrimExpr, PrimExpr]] | None = None

    def equal(self, a: Expression, b: Expression) -> Verdict:
        """Whether two expressions have the same value wherever both are defined.

        Raises
        ------
        TypeError, ValueError
            As for all questions: as :meth:`Context.read`.
        """
        a, b = self.context.read(a), self.context.read(b)
        state = self.context.state
        # In int64 mode values may overflow, and facts may contradict each other.
        if not (self.int64 or state.facts or state.definitions) and prim_exprs.alike(a, b):
            self.statistics.sight += 1
            return identical(a, b)
        return self._session(a, b).equal(a, b)

    def always(self, condition: Expression) -> Verdict:
        """Whether a condition holds for all values."""
        condition = self.context.condition(condition)
        return self._session(condition).always(condition)

    def tried(self, condition: Expression) -> tuple[str, ...]:
        """The names of the tactics (:data:`rlx.solver.tactics.TACTICS`) that :meth:`always` tried,
        in order.
        """
        condition = self.context.read(condition)
        session = self._sessions.get(self.context.state)
        return () if session is None else session.tried(condition)

    def never(self, condition: Expression) -> Verdict:
        """Whether a condition is false for all values; a counterexample makes it true."""
        condition = self.context.condition(condition)
        return self._session(condition).always(tir.Not(condition))

    def complete(self, refuted: Refuted) -> Refuted:
        """A refutation with a value for every variable of every fact.

        Raises
        ------
        TypeError
            If the verdict is not a refutation.
        """
        if not isinstance(refuted, Refuted):
            raise TypeError(f"expected a Refuted, found {usage_errors.described(refuted)}")
        return self._session().complete(refuted)

    def simplify(self, expr: Expression) -> Any:
        """An expression of the same value wherever ``expr`` is defined, in normal form if that is
        shorter. It is one of TVM if ``expr`` is, and otherwise one of ours.
        """
        if not isinstance(expr, PrimExpr):
            read = self.context.read(expr)
            found = Prover.simplify(self, read)
            if isinstance(expr, str):
                return found
            written = None
            if found is not read:
                written = self.context.vocabulary.foreign.write(found, expr)
            return expr if written is None else written
        if isinstance(expr, (tir.Var, tir.IntImm)) and expr not in self.context.state.definitions:
            return expr
        from rlx.solver.short_forms import short_form, without_needless

        session = self._session(expr)
        state = session.state
        if state.facts or state.definitions:
            # The normal form under facts has other variables, which may make it longer.
            if self._bare is None or self._bare[0] is not state.ranges:
                bare = self._new_session(type(state)(state.ranges, (), {}))
                self._bare = (state.ranges, bare)
            self._bare[1].begin()
            expr = short_form(self._bare[1], expr)
        return without_needless(session, short_form(session, expr))

    def limits(self, expr: Expression) -> Range:
        """The smallest and largest value of an expression wherever it is defined; None for no
        limit that is found.
        """

        read = self.context.read(expr)
        return limits(self._session(read), read)

    def residue(self, expr: Expression) -> tuple[int, int]:
        """``(coeff, base)`` such that every value is ``coeff * x + base``; ``(1, 0)`` if no more is
        known, and a ``coeff`` of 0 for a constant.
        """

        read = self.context.read(expr)
        return residue(self._session(read), read)

    def shortened(self, dim: Expression) -> PrimExpr:
        """As :meth:`simplify` but with sums as they are, for a dimension that is asked for again and again: the answers in
        the present context are remembered. A dimension of many nodes, which did not become shorter
        as it grew, stays as it is.
        """
        if not isinstance(dim, PrimExpr):
            dim = self.context.read(dim)
        state = self.context.state
        if self._short is None or self._short[0] is not state:
            self._short = (state, {})
        known = self._short[1]
        found = known.get(dim)
        if found is None:
            if len(known) > _SHORT:
                known.clear()
            try:
                tir.postorder(dim, limit=_SHORTENED)
                found = dim
                if not isinstance(dim, (tir.Var, tir.IntImm)) or dim in state.definitions:
                    found = self._session(dim).simplify(dim)
                if may_be_undefined(dim) and not may_be_undefined(found):
                    found = dim  # that it has a value is known where it stands
            except tir.TooLargeError:
                found = dim
            known[dim] = known[found] = found
        return found

    def relate(self, a: Expression, b: Expression) -> Relation:
        """The relation of two dimensions."""
        return self.relate_all(((a, b),))

    def relate_all(self, pairs: Sequence[tuple[Expression, Expression]]) -> Relation:
        """The relation of two lists of dimensions, with all pairs under the same values.

        Raises
        ------
        TypeError, ValueError
            If the arguments are not pairs of expressions.
        """
        read = _pairs(pairs, self.context)
        open_pairs = [(a, b) for a, b in read if self.int64 or not prim_exprs.alike(a, b)]
        if not open_pairs:
            self.statistics.sight += 1
            return _ALWAYS
        return relate(self._session(*(e for pair in open_pairs for e in pair)), open_pairs)

    def assumption(self, condition: Expression) -> PrimExpr | None:
        """A satisfiable simple condition that proves another one; None if none was found."""
        condition = self.context.condition(condition)
        return assumption(self._session(condition), condition)

    def state_for(self, parts: Sequence[PrimExpr]) -> ContextState:
        """The assumptions under which a question about some expressions is asked."""
        return self.context.state

    def _session(self, *parts: PrimExpr) -> Session:
        state = self.state_for(parts)
        session = self._sessions.get(state)
        if session is None:
            if len(self._sessions) >= _SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            if len(self._groups) >= _GROUPS:
                self._groups.clear()
            session = self._sessions[state] = self._new_session(state)
        session.begin()
        return session

    def _new_session(self, state: ContextState) -> Session:
        if self.int64:
            from rlx.solver.overflow import MachineSession

            return MachineSession(state, self.statistics)
        from rlx.solver.session import Session

        return Session(state, self.statistics, self._groups)


def _pairs(pairs: object, context: Context) -> list[tuple[PrimExpr, PrimExpr]]:
    if not isinstance(pairs, list | tuple):
        raise TypeError(f"expected a list of pairs, found {usage_errors.described(pairs)}")
    found = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise TypeError(f"expected pairs of expressions, found {usage_errors.described(pair)}")
        a, b = pair
        found.append((context.read(a), context.read(b)))
    return found


_ALWAYS = Relation("always")


def identical(a: PrimExpr, b: PrimExpr) -> Proved:
    """The verdict that expressions of the same structure are equal."""
    return Proved("identical", evidence=Evidence(_identity, a, b))


def _identity(a: PrimExpr, b: PrimExpr) -> dict[str, Any]:
    from rlx.solver.proofs.producer import identity  # few ask for one

    return identity(a, b, "identical")


def equation(pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> PrimExpr:
    """The condition that all pairs are equal."""
    return prim_exprs.conjunction(tir.EQ(a, b) for a, b in pairs)


Pairs = Sequence[tuple[PrimExpr, PrimExpr]]
_CANDIDATES = 10
_TRIES = 24
"""The maximum number of assumptions tried for an explanation."""
_NODES = 4000
_COMPARED = 2
"""The maximum number of variables compared with each other in search of an assumption."""
_SIMPLE = 3
"""The maximum number of nodes of a condition that may itself be assumed."""


def relate(session: Session, pairs: Pairs) -> Relation:
    """Compare two lists of dimensions under the same values of the variables.

    ``never`` refers to values >= 1; a zero that would make them equal is only mentioned. But if one
    of the dimensions is the literal 0, there are empty tensors, so the variables may also be 0.
    """
    key = tuple(e for pair in pairs for e in pair)
    found = session.relations.get(key)
    if found is None:
        found = session.relations[key] = _related(session, pairs)
    else:
        session.statistics.count("remembered")
    return found


def assumption(session: Session, condition: PrimExpr) -> PrimExpr | None:
    """An assumption under which a condition is proved."""
    if not simple_enough(condition):
        return None
    limits = _limits_of(session, condition, tir.postorder(condition))
    return _first_that_helps(session, limits, condition, _TRIES)


def _related(session: Session, pairs: Pairs) -> Relation:
    condition = prim_exprs.conjunction(_equation(a, b) for a, b in pairs)
    try:
        tir.postorder(condition, limit=NODES)
    except tir.TooLargeError as reason:
        return Relation("unknown", reason=str(reason))
    verdict = session.always(condition)
    if isinstance(verdict, Proved):
        return Relation("always")
    positive = session.where(_at_least_one(session, condition))
    opposite = positive.witness(condition)
    different = _different(positive.always(condition), verdict)
    match opposite:
        case Proved():
            found = _never(session, condition, positive.always(condition), different)
            if found.zero_saves and found.counterexample and _names_zero(condition):
                helps = _suggested(session, pairs, condition)
                return Relation("sometimes", found.counterexample, found.witness, helps)
            return found
        case Refuted(example=witness) if different is not None:
            return Relation(
                "sometimes", different, witness, assumption=_suggested(session, pairs, condition)
            )
        case Refuted(example=witness):
            return Relation("unknown", None, witness, reason=_reason(verdict))
    return Relation("unknown", different, reason=_reason(opposite))


def _equation(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """``a == b``; a condition that is to be true is that condition."""
    if type(b) is tir.IntImm and b.dtype == BOOL and b.value and prim_exprs.is_boolean(a):
        return a
    return tir.EQ(a, b)


def _never(
    session: Session, condition: PrimExpr, positive: Verdict, different: dict[str, int] | None
) -> Relation:
    """The relation of dimensions that no positive values make equal."""
    with_zero = session.witness(condition)
    saves = isinstance(with_zero, Refuted)
    if isinstance(positive, Refuted):
        return Relation("never", different, with_zero.counterexample, zero_saves=saves)
    if isinstance(with_zero, Proved):
        return Relation("never", different)
    if saves and different is not None:
        return Relation("sometimes", different, with_zero.counterexample)
    return Relation("unknown", different, with_zero.counterexample, reason=_reason(with_zero))


def _names_zero(condition: PrimExpr) -> bool:
    """Whether some dimension is compared with the literal 0; no remainder is a dimension."""
    return any(
        _zero_beside(node.a, node.b) or _zero_beside(node.b, node.a)
        for node in tir.postorder(condition, limit=NODES)
        if isinstance(node, tir.EQ)
    )


def _zero_beside(a: PrimExpr, b: PrimExpr) -> bool:
    return isinstance(a, tir.IntImm) and a.value == 0 and not isinstance(b, INTEGER_DIVISIONS)


def _different(*verdicts: Verdict) -> dict[str, int] | None:
    for verdict in verdicts:
        if isinstance(verdict, Refuted):
            return dict(verdict.example)
    return None


def _reason(verdict: Verdict) -> str:
    return verdict.reason if isinstance(verdict, Unknown) else ""


def _at_least_one(session: Session, condition: PrimExpr) -> list[PrimExpr]:
    """The conditions that variables which may be zero are not."""
    nodes = tir.postorder(condition)
    limits = _limited(session, nodes)
    return [tir.GE(var, prim_exprs.ONE) for var, (low, high) in limits if low == 0 != high]


def _limited(session: Session, nodes: Iterable[PrimExpr]) -> list[tuple[tir.Var, Range]]:
    """The variables among nodes, with their smallest and largest values."""
    return [(var, session.state.range_of(var)) for var in prim_exprs.variables_among(nodes)]


def _suggested(session: Session, pairs: Pairs, condition: PrimExpr) -> PrimExpr | None:
    """A simple assumption under which pairs are proved to agree, and which can hold."""
    if not simple_enough(condition):
        return None
    return _first_that_helps(session, _candidates(session, pairs), condition)


def simple_enough(condition: PrimExpr) -> bool:
    """Whether assumptions are tried for a condition, since each is a question of its size."""
    try:
        tir.postorder(condition, limit=_NODES)
    except tir.TooLargeError:
        return False
    return True


def _first_that_helps(
    session: Session,
    candidates: Iterable[PrimExpr],
    condition: PrimExpr,
    tries: int = _CANDIDATES,
) -> PrimExpr | None:
    """The first of some assumptions under which a condition is proved, and which can hold."""
    for candidate in islice(candidates, tries):
        if not session.where([candidate]).proves_quickly(condition):
            continue
        if isinstance(session.witness(candidate), Refuted):
            return candidate
    return None


def _candidates(session: Session, pairs: Pairs) -> Iterator[PrimExpr]:
    nodes = tir.postorder(*(e for pair in pairs for e in pair))
    yield from _positive(session, nodes)
    yield from _divisible(nodes)
    left = [(a, b) for a, b in pairs if not isinstance(session.always(_equation(a, b)), Proved)]
    yield from _solved(left)
    yield prim_exprs.conjunction(_equation(a, b) for a, b in left)


def _limits_of(
    session: Session, condition: PrimExpr, nodes: Sequence[PrimExpr]
) -> Iterator[PrimExpr]:
    """Assumptions that may make any condition true, those that ask for least first."""
    exact = session.limit_that_is(condition)
    if exact is not None:
        yield exact
    yield from _positive(session, nodes)
    yield from (
        tir.GE(var, prim_exprs.ZERO) for var, (low, _) in _limited(session, nodes) if low is None
    )
    variables = prim_exprs.variables_among(nodes)[:_COMPARED]
    yield prim_exprs.conjunction(tir.GE(v, prim_exprs.ONE) for v in variables)
    compared = list(permutations(variables, 2))
    yield from (tir.LE(a, b) for a, b in compared)
    yield from (tir.LT(a, b) for a, b in compared)
    yield from _divisible(nodes)
    yield from (tir.LE(v, prim_exprs.ONE) for v in variables)
    yield from (tir.GE(v, prim_exprs.TWO) for v in variables)
    if len(nodes) <= _SIMPLE:
        yield condition


def _positive(session: Session, nodes: Iterable[PrimExpr]) -> Iterator[PrimExpr]:
    for var, (low, _) in _limited(session, nodes):
        if low == 0:
            yield tir.GE(var, prim_exprs.ONE)


def _divisible(nodes: Iterable[PrimExpr]) -> Iterator[PrimExpr]:
    for node in nodes:
        if isinstance(node, INTEGER_DIVISIONS):
            yield tir.EQ(tir.FloorMod(_without_offset(node.a), node.b), prim_exprs.ZERO)


def _without_offset(expr: PrimExpr) -> PrimExpr:
    """``n`` of ``n + 3``: divisibility is asked of what varies."""
    while isinstance(expr, (tir.Add, tir.Sub)) and isinstance(expr.b, tir.IntImm):
        expr = expr.a
    return expr


def _solved(pairs: Pairs) -> Iterator[PrimExpr]:
    """One equation between a variable and something simple that settles all pairs."""
    seen: set[tuple[PrimExpr, PrimExpr]] = set()
    for a, b in pairs:
        for left, right in ((a, b), (b, a)):
            if isinstance(left, tir.Var) and (right, left) not in seen:
                seen.add((left, right))
                yield tir.EQ(left, right)
    for a, b in pairs:
        for left, right in ((a, b), (b, a)):
            if isinstance(left, tir.Mul) and isinstance(right, tir.Mul):
                yield from (
                    tir.EQ(x, y) for x, y in ((left.a, right.a), (left.b, right.b)) if x is not y
                )
