"""Equality of two terms: congruence first, then definitions, one level at a time.

Equality is decided at one of two levels. ``"bitwise"``: the same operations on the same elements in
the same order. ``"real"``: floats are exact real numbers, so that sums are reordered and products
distributed (:mod:`rlx.refine.real_sums`). Integers wrap at both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations, islice, permutations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.prim_operators import BY_NODE
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine import rounded, terms
from rlx.refine.facts import (
    Facts,
    assume_reads,
)
from rlx.refine.normal_forms import (
    RISING,
    SHORT,
    Exhausted,
    NormalForms,
    Open,
    chosen_number,
    rounded_to,
    tensors_below,
    written_out,
)
from rlx.refine.terms import (
    ApplicationTerm,
    ConstantTerm,
    FunctionTerm,
    Lambda,
    NumberTerm,
    OpaqueTerm,
    Reduce,
    ResultTerm,
    ScanTerm,
    ShapeTerm,
    TensorTerm,
    Term,
    TupleTerm,
)
from rlx.solver.context import Context
from rlx.spec.registry import decide, rule

SPLITS = 8
"""The most conditions that are split inside of each other."""
ORDERS = 24
"""The most orders of the axes of a reduction that are tried, and of real numbers that are looked at."""
REVERSALS = 7
"""The most sets of axes of a reduction that are reversed."""
CONSTANT = 36
"""The longest axis of a constant of which each element is looked at alone."""
ATTEMPT = 500
"""The most steps for one of several pairs, of which one is enough."""
EXCHANGED = ("relax.add", "relax.multiply", "relax.equal", "relax.not_equal")
"""Operators whose arguments may be exchanged, whatever their values."""
_COMMUTATIVE = (tir.Add, tir.Mul, tir.EQ, tir.NE, tir.And, tir.Or)
_SUMS = (tir.Add, tir.Sub, tir.Mul)


class Unjoined:
    """The first two terms that could not be joined, and why."""

    def __init__(self, before: object, after: object, reason: str) -> None:
        self.before, self.after, self.reason = before, after, reason


EqualElements = Callable[["Matcher", PrimExpr, PrimExpr], bool]
EqualDifferences = Callable[["Matcher", tir.Comparison, tir.Comparison], bool]


class Matcher(NormalForms):
    """Compares terms at a level.

    Parameters
    ----------
    context
        What is known of sizes.
    open_result
        Opens the result of an application.
    level
        ``"bitwise"`` or ``"real"``.
    equal_sums
        Compares two floats as real numbers.
    equal_bits
        Compares two integers, or truth values, bit by bit.
    equal_differences
        Compares the differences of what is compared, up to a factor that changes no answer.
    as_written
        Whether a float is the number that is written, not that of its type which is nearest.

    Attributes
    ----------
    mismatch
        Where the first comparison failed.
    computed
        The calls that BEFORE makes on every way, and that do not fail.
    filled
        The extents of extrema of BEFORE and of their results: where a result has elements, there is
        something that it is the extremum of.
    functions
        The functions of both programs that values are: they were taken to mean the same.
    suspects
        The parts of elements that may not be defined for real numbers, where it was looked at.
    infinite
        Whether an infinity or NaN that is written may be a value of an element or of a tensor, where it was looked at.
    partial
        Whether the elements of tensors are defined for real numbers in part, where it was looked at.
    real_questions, bit_questions
        How often Z3 was asked about real numbers, and about bits, in vain.
    """

    def __init__(
        self,
        context: Context,
        open_result: Open,
        level: str,
        equal_sums: EqualElements,
        equal_bits: EqualElements,
        equal_differences: EqualDifferences,
        as_written: bool = False,
    ) -> None:
        super().__init__(Facts(context.copy()), open_result, level, as_written)
        self._equal_sums = equal_sums
        self._equal_bits = equal_bits
        self._equal_differences = equal_differences
        self.computed: frozenset[ApplicationTerm] = frozenset()
        self.filled: Sequence[tuple[Sequence[PrimExpr], Sequence[PrimExpr]]] = ()
        self._context = context
        self._free: list[Facts] = []
        self.functions: dict[str, None] = {}
        self._tensors: dict[tuple[TensorTerm, TensorTerm], bool] = {}
        self._unjoined: dict[tuple[TensorTerm, TensorTerm], Unjoined | None] = {}
        self._applications: dict[tuple[ApplicationTerm, ApplicationTerm], bool] = {}
        self._elements: list[dict[tuple[PrimExpr, PrimExpr], bool]] = [{}]
        self._numbers: dict[PrimExpr, int] = {}
        self.splits = 0
        self.real_questions = self.bit_questions = 0
        self.partial: dict[TensorTerm, bool] = {}
        self.infinite: dict[PrimExpr | TensorTerm, bool] = {}
        self.suspects: dict[PrimExpr, list[PrimExpr]] = {}
        self._looking = False
        self._orders = 0
        self.mismatch: Unjoined | None = None

    # ------------------------------------------------------------ values

    def equal(self, a: Term, b: Term, known: set[tuple[Term, Term]] | None = None) -> bool:
        """Whether two values are equal.

        Tuples may share their fields; ``known`` has those that are equal.

        Raises Exhausted if that takes too much work.
        """
        if a is b:
            return True
        match a, b:
            case TensorTerm(), TensorTerm():
                return self.tensors(a, b)
            case TupleTerm(fields=one), TupleTerm(fields=other):
                known = set() if known is None else known
                if (a, b) in known:
                    return True
                if len(one) != len(other):
                    return False
                if not all(self.equal(x, y, known) for x, y in zip(one, other, strict=True)):
                    return False
                known.add((a, b))
                return True
            case ShapeTerm(values=one), ShapeTerm(values=other):
                return len(one) == len(other) and all(map(self.facts.equal, one, other))
            case FunctionTerm(name=name, function=one), FunctionTerm(name=label, function=other):
                if isinstance(one, tir.PrimFunc) and isinstance(other, tir.PrimFunc):
                    # Passes note in the attributes how to compile.
                    return structural_equal(replace(one, attrs={}), replace(other, attrs={}))
                if isinstance(one, tir.PrimFunc) or isinstance(other, tir.PrimFunc):
                    return False
                self.functions[name] = None
                return name == label
            case NumberTerm(value=one), NumberTerm(value=other):
                return tir.type_of(one) == tir.type_of(other) and self.elements(one, other)
            case OpaqueTerm(of=ApplicationTerm() as p, path=path), OpaqueTerm(
                of=ApplicationTerm() as q, path=road
            ):
                return path == road and self.applications(p, q)
        return False

    def applications(self, p: ApplicationTerm | None, q: ApplicationTerm | None) -> bool:
        """Whether two applications are the same function of equal arguments."""
        if p is q:
            return True
        if p is None or q is None or p.name != q.name or len(p.arguments) != len(q.arguments):
            return False
        found = self._applications.get((p, q))
        if found is None:
            self._applications[(p, q)] = False
            with self.outside():
                found = (
                    self._attributes(p.attributes, q.attributes)
                    and self._arguments(p, q)
                    and self.applications(p.after, q.after)
                )
            self._applications[(p, q)] = found
        return found

    def _arguments(self, p: ApplicationTerm, q: ApplicationTerm) -> bool:
        """Whether arguments are equal, in any order if the operator takes them so bit for bit."""
        if all(map(self.equal, p.arguments, q.arguments)):
            return True
        turned = q.arguments[::-1]
        return p.name in EXCHANGED and all(map(self.equal, p.arguments, turned))

    def representative(self, term: Term) -> Term:
        """The term that stands for a term and all that are equal to it."""
        return self.representatives.get(term, term) if isinstance(term, TensorTerm) else term

    def join(self, a: TensorTerm, b: TensorTerm) -> None:
        """Let a tensor stand for an equal one: so do the lengths of its axes."""
        self.representatives[b] = self.representatives.get(a, a)
        self.join_sizes(a.shape, b.shape)

    def join_sizes(self, one: Sequence[PrimExpr], other: Sequence[PrimExpr]) -> None:
        """Assume that the sizes of equal values are equal."""
        differ = [
            tir.EQ(x, y) for x, y in zip(one, other, strict=True) if not self.facts.equal(x, y)
        ]
        for each in differ:
            self._context.assume(each)
            self.facts.assume(each)
        if differ:
            self._free.clear()

    def _attributes(self, one: object, other: object) -> bool:
        if one is other:
            return True
        match one, other:
            case tuple(), tuple():
                return len(one) == len(other) and all(map(self._attributes, one, other))
            case PrimExpr(), PrimExpr():
                return self.facts.equal(one, other)
            case (PrimExpr(), _) | (_, PrimExpr()):
                return False
        return bool(one == other)

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Facts about sizes alone: what is decided here holds everywhere."""
        outer, elements, splits = self.facts, self._elements, self.splits
        self.facts = self._free.pop() if self._free else Facts(self._context.copy())
        self.facts.undecided, self.facts.proofs = outer.undecided, outer.proofs
        self.facts.asked = outer.asked
        self._elements, self.splits = [{}], 0
        try:
            yield
        finally:
            self._free.append(self.facts)
            outer.asked = self.facts.asked
            self.facts, self._elements, self.splits = outer, elements, splits

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Facts that are assumed inside hold inside only."""
        with self.facts.scope():
            self._elements.append({})
            try:
                yield
            finally:
                self._elements.pop()

    # ------------------------------------------------------------ tensors

    def tensors(self, a: TensorTerm, b: TensorTerm) -> bool:
        """Whether two tensors are equal: their types, and the elements at all indices."""
        a, b = (self.representatives.get(t, t) for t in (a, b))
        if a is b:
            return True
        found = self._tensors.get((a, b))
        if found is None:
            self._tensors[(a, b)] = False  # while it is looked at
            place = self.trail.attempt()
            self.trail.note("equal", a, b)
            with self.outside(), self.trail.inside():
                found = self._same_tensors(a, b)
            if not found:
                self.trail.drop(place)
            self._tensors[(a, b)] = found
        elif not found and self.mismatch is None:
            self.mismatch = self._unjoined.get((a, b))
        return found

    def _same_tensors(self, a: TensorTerm, b: TensorTerm) -> bool:
        if a.dtype != b.dtype or len(a.shape) != len(b.shape):
            self.differ(a, b, "their types differ")
            return False
        if not all(map(self.facts.equal, a.shape, b.shape)):
            match a, b:
                case ResultTerm(), ResultTerm() if a.path == b.path:
                    if self.applications(a.of, b.of):
                        return True
            self.differ(a, b, "their shapes are not proved to be equal")
            return False
        match a, b:
            case ResultTerm(), ResultTerm():
                mismatch = self.mismatch
                if a.path == b.path and self.applications(a.of, b.of):
                    return True
                if self.may_open(a) or self.may_open(b):
                    self.mismatch = mismatch  # they are opened, which says more
            case ScanTerm(), ScanTerm():
                if a.along != b.along:
                    return False
                axes = tuple([tir.Var(f"i{k}") for k in range(len(a.shape))])
                with self.scope():
                    self.facts.index(axes, a.shape)
                    one, other = (
                        terms.substitute(t.element, dict(zip(t.axes, axes, strict=True)))
                        for t in (a, b)
                    )
                    return self.elements(one, other)
        if not (self.may_open(a) or self.may_open(b)):
            self.differ(a, b, "")
            return False
        axes = tuple([tir.Var(f"i{k}") for k in range(len(a.shape))])
        self.trail.note("elements", axes, a.shape)
        with self.scope():
            self.facts.index(axes, a.shape)
            if any(self.facts.holds(tir.LE(dim, tir.IntImm(0))) for dim in a.shape):
                return True
            self.assume_filled()
            if isinstance(a, ResultTerm) and a.of in self.computed:
                assume_reads(self.opened(a), axes, a.shape, self.facts)
            places = [
                terms.index(0) if isinstance(dim, tir.IntImm) and dim.value == 1 else axis
                for axis, dim in zip(axes, a.shape, strict=True)
            ]
            return self.elements(terms.element(a, places), terms.element(b, places))

    def assume_filled(self) -> None:
        """Assume that what is not empty here is an extremum of something; see ``filled``."""
        for dims, kept in self.filled:
            if all(self.facts.holds(tir.LT(tir.IntImm(0), dim)) is True for dim in kept):
                for dim in dims:
                    self.facts.assume(tir.LT(tir.IntImm(0), dim))

    def number(self, expr: PrimExpr) -> int:
        """The number of an element, in the order in which they are met: a fixed order of factors."""
        return self._numbers.setdefault(expr, len(self._numbers))

    def try_equal(
        self,
        a: TensorTerm,
        b: TensorTerm,
        steps: int,
        below: Sequence[TensorTerm] | None = None,
    ) -> bool:
        """Whether two tensors are equal, without a look below the tensors that both are made of (those that
        ``b`` is made of directly, if no others are given), and with little work. If not, nothing is
        remembered, unless there is nothing below.
        """
        tensors, applications = dict(self._tensors), dict(self._applications)
        parts = tensors_below(b) if below is None else below
        cuts = [self.representatives.get(t, t) for t in parts]
        views = [
            t for cut in cuts if isinstance(cut, Lambda) for t in terms.tensors_of(cut.element)
        ]
        self.frozen = frozenset([t for t in (*cuts, *views) if not self.of_indices(t)])
        outer, self.limit = self.limit, min(self.limit, self.steps + steps)
        self.asked_before = self.facts.asked
        found, ended, place = False, False, self.trail.attempt()
        try:
            with suppress(Exhausted, RecursionError):
                found = self.tensors(a, b)
                ended = True
        finally:
            frozen, self.frozen, self.limit = self.frozen, frozenset(), outer
            self.asked_before = self.facts.asked
        if not found:
            self.trail.drop(place)
            if ended and all(self.opened(tensor) is None for tensor in frozen):
                self._unjoined[a, b] = self.mismatch
            else:
                self._tensors, self._applications = tensors, applications
            self.mismatch = None
        return found

    def attempt(self, equal: Callable[[], bool]) -> bool:
        """Whether two things are found to be equal, with little work. If not, nothing is remembered."""
        tensors, applications = dict(self._tensors), dict(self._applications)
        outer, self.limit = self.limit, min(self.limit, self.steps + ATTEMPT)
        self.asked_before = self.facts.asked
        place = self.trail.attempt()
        try:
            with suppress(Exhausted):
                if equal():
                    return True
                tensors, applications = self._tensors, self._applications
        finally:
            self.limit, self.asked_before = outer, self.facts.asked
        self._tensors, self._applications = tensors, applications
        return self.trail.drop(place)

    def explain(self, a: TensorTerm, b: TensorTerm) -> None:
        """Find where two tensors could not be joined, which are not proved to be equal."""
        self._tensors.pop((a, b), None)
        self.mismatch = None
        with suppress(Exhausted, RecursionError):
            self.tensors(a, b)

    # ------------------------------------------------------------ elements

    def elements(self, x: PrimExpr, y: PrimExpr) -> bool:
        """Whether two elements are equal under the facts."""
        x, y = tir.interned(x), tir.interned(y)
        if x is y:
            return True
        for known in reversed(self._elements):
            found = known.get((x, y))
            if found:
                return True
            if found is False and known is self._elements[-1]:
                return False
        self.count_step()
        self._elements[-1][(x, y)] = False
        place = self.trail.attempt()
        found = self._same_elements(x, y) or self.trail.drop(place)
        self._elements[-1][(x, y)] = found
        return found

    def _same_elements(self, x: PrimExpr, y: PrimExpr) -> bool:
        x, y = self.head(x), self.head(y)
        if x is y:
            return True
        kind = tir.type_of(x)
        for one, other, turned_back in ((x, y, False), (y, x, True)):
            chosen = None if isinstance(other, tir.Cast) else chosen_number(one)
            if chosen is not None:
                return self.elements(*((other, chosen) if turned_back else (chosen, other)))
        if not self.same_numbers(kind, tir.type_of(y)):
            whole = kind.is_integer and tir.type_of(y).is_integer
            if whole and self.facts.equal(x, y):
                return True
            if not (whole and self.facts.is_index(x) and self.facts.is_index(y)):
                self.differ(x, y, "their element types differ")
                return False
        if kind.is_integer and self.facts.is_index(x) and self.facts.is_index(y):
            if self.facts.equal(x, y):
                self.trail.note("index", x, y, self.facts.context.state)
                return True
            self.differ(x, y, "these indices are not proved to be equal")
            return False
        if kind == BOOL and self.facts.is_index(x) and self.facts.is_index(y):
            return self._same_conditions(x, y)
        split = self.condition_of(x) or self.condition_of(y)
        if split is not None:
            return self._by_cases(split, x, y)
        if self.real and kind.is_float:
            return self._equal_sums(self, x, y)
        place, mismatch = self.trail.attempt(), self.mismatch
        if self.congruent(x, y):
            return True
        self.trail.drop(place)
        self.mismatch = mismatch  # another way is tried, whose end says more
        opened = self._one_opened(x, y) or self._folded(x, y)
        if opened is not None:
            return self.elements(*opened)
        if kind.is_integer:
            if self.facts.equal(x, y):
                return True
            depth = max(map(self.deepest, (x, y)))  # 0 opens constants alone
            one, other = (self.opened_inside(each, depth) for each in (x, y))
            if depth or (one, other) != (x, y):
                return self.elements(one, other)
        split = self.inner_condition(x) or self.inner_condition(y)
        if split is not None and self.splits < SPLITS:
            return self._by_cases(split, x, y)
        one, other = (self.choices_taken(each) for each in (x, y))
        if (one, other) != (x, y):
            return self.elements(one, other)
        if self.impossible():
            return True
        if kind.is_integer and any(map(_is_sum, (x, y))) and self._equal_sums(self, x, y):
            return True
        if (
            kind == BOOL
            and any(
                w is not e or _is_connected(e) for w, e in ((self.written(e), e) for e in (x, y))
            )
            and self._same_truth(x, y)
        ):
            return True
        if (kind.is_integer or kind == BOOL) and self._equal_bits(self, x, y):
            return True
        if self.real and kind.is_integer:
            index = rounded.index_of_equal(self.facts, x, y)
            if index is not None:
                self.trail.note("values", x, y, index)
                return True
        axis = self.axis_of_constants(x, y)
        if axis is not None:
            return self._at_each_equal(axis, x, y)
        for one, other in ((x, y), (y, x)):
            inner, against = (e.value if isinstance(e, tir.Cast) else e for e in (one, other))
            if not isinstance(inner, Reduce) or isinstance(against, Reduce):
                continue
            exact = inner.ordered or not tir.type_of(inner).is_float
            few = written_out(inner) if exact else None
            if few is not None:
                few = tir.Cast(one.dtype, few) if isinstance(one, tir.Cast) else few
                return self.elements(*((few, y) if one is x else (x, few)))
        self.differ(x, y, "")
        return False

    def _by_cases(self, condition: PrimExpr, x: PrimExpr, y: PrimExpr) -> bool:
        """Whether two elements are equal whatever a condition gives."""
        axis = self.axis_of_constants(condition)
        if axis is not None:
            return self._at_each_equal(axis, x, y)
        return self._split(condition, lambda: self.elements(x, y))

    def _at_each_equal(self, axis: tuple[tir.Var, int], x: PrimExpr, y: PrimExpr) -> bool:
        return self.at_each(axis, lambda at: self.elements(*(at(each) for each in (x, y))))

    def axis_of_constants(self, *elements: PrimExpr) -> tuple[tir.Var, int] | None:
        """An index on which it depends what is read of constants with several numbers, and how many values
        it has; None if they are many.
        """
        for node in tir.postorder(*elements):
            if isinstance(node, tir.BufferLoad) and isinstance(node.buffer, ConstantTerm):
                for axis in tir.free_vars(*node.indices):
                    for count in (4, SHORT, CONSTANT):
                        inside = tir.And(
                            tir.LE(terms.index(0), axis), tir.LT(axis, terms.index(count))
                        )
                        if self.facts.always(inside):
                            return axis, count
        return None

    def at_each(
        self, axis: tuple[tir.Var, int], holds: Callable[[Callable[[PrimExpr], PrimExpr]], bool]
    ) -> bool:
        """Whether something holds with each value in place of an index."""
        if self.splits >= SPLITS:
            return False
        var, count = axis
        self.splits += 1
        try:
            for k in range(count):
                number = {var: terms.index(k, var.dtype)}
                case = tir.interned(tir.EQ(var, number[var]))
                self.trail.note("case", case, True)
                with self.scope(), self.trail.inside():
                    if self.facts.holds(case) is False:
                        continue
                    self.facts.assume(case)
                    if not holds(lambda each: terms.substitute(each, number)):  # noqa: B023
                        return False
            return True
        finally:
            self.splits -= 1

    def _same_truth(self, x: PrimExpr, y: PrimExpr) -> bool:
        """Whether two Boolean elements are equal for all values of the conditions in them."""
        for one in (x, y):
            if self.holds(one) is None:
                if self.splits >= SPLITS:
                    break
                return self._split(self.atomic(one), lambda: self._same_truth(x, y))
        else:
            if self.holds(x) is self.holds(y):
                return True
        if self.impossible():
            return True
        self.differ(x, y, "")
        return False

    def impossible(self) -> bool:
        """Whether two conditions are assumed that are equal, but have different values."""
        if self._looking:
            return False
        known = [each for each in self.facts.chosen.items() if not self.facts.is_index(each[0])]
        self._looking = True
        try:
            return any(
                value != other and type(one) is type(two) and self.elements(one, two)
                for (one, value), (two, other) in combinations(known, 2)
            )
        finally:
            self._looking = False

    def _same_conditions(self, x: PrimExpr, y: PrimExpr) -> bool:
        """Whether two conditions on indices are equivalent."""
        for one, other in ((x, y), (y, x)):
            if one is terms.TRUE:
                return self.facts.always(other)
        a, b = self.facts.holds(x), self.facts.holds(y)
        if a is not None or b is not None:
            return a == b
        for one, other in ((x, y), (y, x)):
            with self.scope():
                self.facts.assume(one)
                if not self.facts.always(other):
                    return False
        return True

    def split(self, condition: PrimExpr, then: Callable[[], bool]) -> bool:
        """Whether something holds both where a condition holds and where it does not."""
        return self._split(condition, then)

    def _split(self, condition: PrimExpr, then: Callable[[], bool]) -> bool:
        if self.splits >= SPLITS:  # another order of axes may need fewer
            return False
        decided = self._decided(condition)
        if decided is not None:
            with self.scope():
                self.facts.assume(condition, decided)
                return then()
        self.splits += 1
        self.trail.note("split", condition)
        try:
            for value in (True, False):
                self.trail.note("case", condition, value)
                with self.scope(), self.trail.inside():
                    self.facts.assume(condition, value)
                    if not then():
                        return False
            return True
        finally:
            self.splits -= 1

    def _decided(self, condition: PrimExpr) -> bool | None:
        """Whether a condition on elements holds, because they are constants, or because an equal
        one was assumed.
        """
        match condition:
            case tir.Call(op="isnan", args=(x,)):
                number = self.known_float(x)
                if number is not None:
                    return math.isnan(number)
            case tir.Comparison(a=a, b=b) if tir.type_of(a).is_float:
                one = self.known_float(a)
                other = None if one is None else self.known_float(b)
                if one is not None and other is not None:
                    exact = BY_NODE[type(condition)].exact
                    assert exact is not None
                    return bool(exact(one, other))
        if self.facts.is_index(condition):
            return None
        for known, value in self.facts.chosen.items():
            alike = type(known) is type(condition) and not self.facts.is_index(known)
            if alike and self.elements(known, condition):
                return value
        return None

    def congruent(self, x: PrimExpr, y: PrimExpr) -> bool:
        """Whether both are one operation on equal operands."""
        match x, y:
            case tir.BufferLoad(buffer=TensorTerm() as a, indices=i), tir.BufferLoad(
                buffer=TensorTerm() as b, indices=j
            ):
                return (
                    len(i) == len(j)
                    and self._worth(a, b)
                    and all(map(self.elements, i, j))
                    and self.tensors(a, b)
                )
            case Reduce(), Reduce():
                return self.reductions(x, y)
        if type(x) is not type(y):
            return False
        match x, y:
            case tir.Comparison(), tir.Comparison() if self.real and tir.type_of(x.a).is_float:
                return self._same_order(x, y)
            case tir.Binary(), tir.Binary():
                if self.elements(x.a, y.a) and self.elements(x.b, y.b):
                    return True
                return (
                    isinstance(x, _COMMUTATIVE)
                    and self.elements(x.a, y.b)
                    and self.elements(x.b, y.a)
                )
            case tir.Cast(), tir.Cast():
                return self.same_numbers(x.dtype, y.dtype) and self.elements(x.value, y.value)
            case tir.Call(op="reinterpret", args=(*_, source)), _ if (
                self.real and tir.type_of(source).is_float
            ):
                return False  # a real number has no bits, and that the calls are one was looked at
            case tir.Call(), tir.Call():
                return (
                    x.op == y.op
                    and len(x.args) == len(y.args)
                    and not (x.attrs or y.attrs)
                    and all(
                        map(self.same_numbers, map(tir.type_of, x.args), map(tir.type_of, y.args))
                    )
                    and all(map(self.elements, x.args, y.args))
                )
            case tir.Not(), tir.Not():
                return self.elements(x.a, y.a)
        return False

    def _same_order(self, x: tir.Comparison, y: tir.Comparison) -> bool:
        """Whether two comparisons of real numbers of one kind are the same: of equal numbers, also behind a
        growing function, or of numbers with the same difference, up to a factor.
        """
        alike = self.same_numbers(tir.type_of(x.a), tir.type_of(y.a))
        self._orders += 1
        if self._looking or self._orders > ORDERS:
            return alike and self.elements(x.a, y.a) and self.elements(x.b, y.b)
        for one, other in ((x, y), (y, x)):
            a, b = (self.behind(each) for each in (one.a, one.b))
            match a, b:
                case tir.Call(op=p, args=(c,)), tir.Call(op=q, args=(d,)) if p == q in RISING:
                    made = tir.interned(type(one)(c, d))
                    return self.elements(made, other) if one is x else self.elements(other, made)
        if alike and self.elements(x.a, y.a) and self.elements(x.b, y.b):
            return True
        if isinstance(x, tir.EQ | tir.NE):
            swapped = self.elements(x.a, y.b) and self.elements(x.b, y.a)
            return swapped or self._equal_differences(self, x, y)
        return self._equal_differences(self, x, y)

    def _worth(self, a: TensorTerm, b: TensorTerm) -> bool:
        """Whether two tensors may be equal as a whole: others are opened at once."""
        if a is b:
            return True
        if (a, b) in self._tensors:
            return self._tensors[(a, b)]
        if len(a.shape) != len(b.shape) or a.dtype != b.dtype:
            return False
        if not all(map(self.facts.equal, a.shape, b.shape)):
            return False
        match a, b:
            case ResultTerm(), ResultTerm():
                return a.path == b.path and a.of.name == b.of.name
            case ScanTerm(), ScanTerm():
                return True
        return False

    def _one_opened(self, x: PrimExpr, y: PrimExpr) -> tuple[PrimExpr, PrimExpr] | None:
        """Both elements, the one that reads the tensor with more below it opened."""
        ways = []
        for side, node in ((0, x), (1, y)):
            if isinstance(node, tir.BufferLoad) and isinstance(node.buffer, TensorTerm):
                ways.append((-self.depth(node.buffer), side, node, node.buffer))
        for _, side, node, tensor in sorted(ways, key=lambda way: way[:2]):
            opened = self.opened(tensor)
            if opened is not None:
                self.trail.note("open", tensor, side)
                made = terms.element(opened, node.indices)
                return (made, y) if side == 0 else (x, made)
        return None

    def _folded(self, x: PrimExpr, y: PrimExpr) -> tuple[PrimExpr, PrimExpr] | None:
        """Both elements, if one is a number and the other a sum or product of numbers: that is
        computed, and rounded as a run does.
        """
        for one, other, turned_back in ((x, y, False), (y, x, True)):
            if not isinstance(one, tir.FloatImm) or not isinstance(other, _SUMS):
                continue
            a, b = self.known_float(other.a), self.known_float(other.b)
            exact = BY_NODE[type(other)].exact
            if a is None or b is None or exact is None or not math.isfinite(a + b):
                return None
            kind = tir.type_of(other)
            made = rounded_to(tir.FloatImm(float(exact(a, b)), kind), kind)
            if made is None:
                return None
            return (made, one) if turned_back else (one, made)
        return None

    # ------------------------------------------------------------ reductions

    @rule("REFINE-reduce", "refinement")
    def reductions(self, x: Reduce, y: Reduce) -> bool:
        """Whether two reductions combine the same elements."""
        kinds = zip((*x.combiner.left, x), (*y.combiner.left, y), strict=False)
        alike = all(self.same_numbers(tir.type_of(a), tir.type_of(b)) for a, b in kinds)
        if x.output != y.output or not alike:
            return False
        if x.combiner is not y.combiner:
            alike = x.combiner.name == y.combiner.name != "custom"
            if not (alike and (self.real or not tir.type_of(x).is_float)):
                return False
        # Before the first element, any number that is smaller than all others is alike.
        lowest = self.real and self.ignores_init(x) and self.ignores_init(y)
        if not lowest and not all(map(self.elements, x.init, y.init)):
            return False
        free = self.real or all(not v.dtype.is_float for v in x.combiner.left)
        if x.combiner.name == "custom":
            free = False
        if not free and x.ordered != y.ordered:
            self.differ(x, y, "the order of one of these reductions is not specified")
            return decide("REFINE-reduce-order", False)
        place = self.trail.attempt()
        more = x if len(x.axes) > len(y.axes) else y
        # Elements that are the initial value on both sides are guards once they are opened.
        early = x.init[0] is not y.init[0] and max(map(self.deepest, (x, y))) > 0
        for order, turned_axes in islice(self._ways(x, y, more, free), 1 if early else None):
            plain = range(len(x.axes)), range(len(y.axes))
            orders = (order, plain[1]) if more is x else (plain[0], order)
            if self._related(x, y, orders, (more, turned_axes)):
                return True
            self.trail.drop(place)
        decide("REFINE-reduce-order", free)
        return False

    def _ways(
        self, x: Reduce, y: Reduce, more: Reduce, free: bool
    ) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """Orders of the axes of the reduction that has more which are worth a try, and the axes to
        reverse.
        """
        count = len(more.axes)
        plain = tuple(range(count))
        yield plain, ()
        if free:
            if len(x.axes) == len(y.axes):
                yield from ((plain, each) for each in _opposite(x, y))
            yield from ((order, ()) for order in islice(permutations(plain), 1, ORDERS))
            some = (each for n in range(1, count + 1) for each in combinations(plain, n))
            yield from ((plain, each) for each in islice(some, REVERSALS))

    def _related(
        self,
        x: Reduce,
        y: Reduce,
        orders: tuple[Sequence[int], Sequence[int]],
        reversal: tuple[Reduce, Sequence[int]],
    ) -> bool:
        """Whether both have the same domain and elements when their axes are aligned."""
        ours = terms.fresh(x.axes)
        theirs = terms.fresh(y.axes)
        aligned = self._aligned(
            [(ours[k], x.extents[k]) for k in orders[0]],
            [(theirs[k], y.extents[k]) for k in orders[1]],
        )
        if aligned is None:
            return False
        finer, values, inside = aligned
        guard, sources = terms.opened(x, ours)
        other, against = terms.opened(y, theirs)
        last: dict[tir.Var, PrimExpr] = {}
        turned_around, axes = (x, ours) if reversal[0] is x else (y, theirs)
        for k in reversal[1]:
            one = terms.index(1, axes[k].dtype)
            last[axes[k]] = tir.Sub(tir.Sub(turned_around.extents[k], one), axes[k])
        if last:
            guard, other = (terms.substitute(each, last) for each in (guard, other))
            sources = tuple([terms.substitute(each, last) for each in sources])
            against = tuple([terms.substitute(each, last) for each in against])
        self.trail.note("reduction", x, y, finer, values, (*inside[0], *inside[1]))
        with self.scope(), self.trail.inside():
            self.facts.index([v for v, _ in finer], [e for _, e in finer])
            guard, other = (terms.substitute(g, values) for g in (guard, other))
            guard, other = (
                terms.all_of((*conditions, each))
                for each, conditions in zip((guard, other), inside, strict=True)
            )
            same = guard is other or self._same_guards(guard, other)
            if not decide("REFINE-reduce-domain", same):
                self.differ(guard, other, "these guards are not proved to be equivalent")
                return False
            self.facts.assume(guard)
            equal = all(
                self.elements(terms.substitute(a, values), terms.substitute(b, values))
                for a, b in zip(sources, against, strict=True)
            )
            return decide("REFINE-reduce-elements", equal)

    def _same_guards(self, a: PrimExpr, b: PrimExpr) -> bool:
        if self.facts.is_index(a) and self.facts.is_index(b):
            return self._same_conditions(a, b)
        return self.elements(a, b)

    def _aligned(
        self,
        ours: list[tuple[tir.Var, PrimExpr]],
        theirs: list[tuple[tir.Var, PrimExpr]],
    ) -> (
        tuple[
            list[tuple[tir.Var, PrimExpr]],
            dict[tir.Var, PrimExpr],
            tuple[list[PrimExpr], list[PrimExpr]],
        ]
        | None
    ):
        """Common axes for two domains, in lexicographic order.

        Returns
        -------
        axes, values, conditions
            The common axes with their extents, the axes of the domains in terms of them, and for
            each domain the conditions on common axes that its extents express; None if none are
            found.
        """
        finer: list[tuple[tir.Var, PrimExpr]] = []
        values: dict[tir.Var, PrimExpr] = {}
        conditions: tuple[list[PrimExpr], list[PrimExpr]] = ([], [])
        a, b = list(ours), list(theirs)
        while a and b:
            (v, m), (w, n) = a[0], b[0]
            if self.facts.equal(m, n):
                finer.append((v, m))
                values[w] = v
                a.pop(0)
                b.pop(0)
                continue
            # One axis of one side against several of the other, those that fit exactly first.
            ways = [
                (found, one, several, side)
                for one, several, side in ((a, b, 0), (b, a, 1))
                if (found := self._divided(one[0], several)) is not None
            ]
            if not ways:
                return None
            (count, joined, covered), one, several, side = min(ways, key=lambda way: not way[0][2])
            finer += several[:count]
            axis, extent = one[0]
            values[axis] = joined
            if not covered:
                conditions[side].append(tir.LT(joined, extent))
            del one[:1]
            del several[:count]
        return None if a or b else (finer, values, conditions)

    def _divided(
        self, one: tuple[tir.Var, PrimExpr], several: list[tuple[tir.Var, PrimExpr]]
    ) -> tuple[int, PrimExpr, bool] | None:
        """The number of axes of a list that make one axis, its value in terms of them, and whether
        the extents agree exactly. Otherwise theirs reach further. The product of two negative
        extents is positive, but there is nothing below them.
        """
        _, extent = one
        negative = 0
        joined: PrimExpr = terms.index(0)
        product: PrimExpr = terms.index(1)
        first = None
        for count, (axis, size) in enumerate(several, 1):
            negative += self.facts.holds(tir.LE(terms.index(0), size)) is not True
            if negative > 1:
                return None
            joined = axis if count == 1 else tir.Add(tir.Mul(joined, size), axis)
            product = size if count == 1 else tir.Mul(product, size)
            if count > 1 and self.facts.equal(product, extent):
                return count, tir.interned(joined), True
            reaches = self.facts.holds(tir.LE(extent, product)) is True
            if first is None and reaches and count == len(several):
                first = (count, tir.interned(joined), False)
        return first

    # ------------------------------------------------------------ failures

    def differ(self, x: object, y: object, reason: str) -> None:
        """Remember where two terms could not be joined."""
        if self.mismatch is None or (not self.mismatch.reason and reason):
            self.mismatch = Unjoined(x, y, reason)


def _opposite(x: Reduce, y: Reduce) -> Iterator[tuple[int, ...]]:
    """The axes that two reductions run through in opposite directions, if there are several: by
    their guards, and by their elements.
    """
    for one, other in (((x.guard,), (y.guard,)), (x.sources, y.sources)):
        ours, theirs = _directions(one, x.axes), _directions(other, y.axes)
        pairs = enumerate(zip(x.axes, y.axes, strict=True))
        found = tuple([k for k, (a, b) in pairs if ours.get(a, True) is not theirs.get(b, True)])
        if len(found) > 1:
            yield found


def _directions(roots: Sequence[PrimExpr], axes: Sequence[tir.Var]) -> dict[tir.Var, bool]:
    """Whether each axis is added where it is first met, or subtracted; as an index of the result is
    that it meets there.
    """
    found: dict[tir.Var, bool] = {}
    for root in roots:
        for node in tir.postorder(root):
            match node:
                case tir.Comparison(a=a, b=b):
                    places = [[(a, True), (b, False)]]
                case tir.BufferLoad(indices=indices):
                    places = [[(index, True)] for index in indices]
                case _:
                    continue
            for place in places:
                signs = _signs(place)
                others = [sign for var, sign in signs.items() if var not in axes]
                for axis in axes:
                    if axis in signs:
                        found.setdefault(axis, signs[axis] is (others or [True])[0])
    return found


def _signs(stack: list[tuple[PrimExpr, bool]]) -> dict[tir.Var, bool]:
    """Whether each variable of a sum is added; it may be subtracted."""
    found: dict[tir.Var, bool] = {}
    while stack:
        node, added = stack.pop()
        match node:
            case tir.Var():
                found.setdefault(node, added)
            case tir.Add(a=a, b=b):
                stack += [(a, added), (b, added)]
            case tir.Sub(a=a, b=b):
                stack += [(a, added), (b, not added)]
    return found


def _is_sum(x: PrimExpr) -> bool:
    """Whether an integer is a sum or a product, and no bit of it is read alone."""
    match x:
        case tir.BufferLoad(buffer=ScanTerm()):
            return True
        case Reduce():
            return x.combiner.name == "sum"
        case tir.Call(op="shift_left"):
            return True
    return isinstance(x, _SUMS)


def _is_connected(condition: PrimExpr) -> bool:
    """Whether a Boolean element is made of others."""
    if isinstance(condition, tir.EQ):
        return tir.type_of(condition.a) == BOOL
    return isinstance(condition, tir.And | tir.Or | tir.Not)
