"""Assumptions: ranges of variables, facts, definitions, and their parts that are relevant for a
goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType, dtype
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs, usage_errors
from rlx.solver.prim_exprs import Range
from rlx.solver.reading import Expression, Vocabulary


class ContextState(Record):
    """The contents of a context at one moment; immutable once a prover uses it.

    Attributes
    ----------
    ranges
        The ranges of declared variables.
    facts
        The conditions that are assumed to be defined and true.
    definitions
        The variables that are defined by expressions.
    """

    ranges: dict[tir.Var, Range]
    facts: tuple[PrimExpr, ...]
    definitions: dict[tir.Var, PrimExpr]

    def range_of(self, var: tir.Var) -> Range:
        """The declared range of a variable, or that of its data type; shape variables are >= 0."""
        found = self.ranges.get(var)
        if found is None:
            return (None, None) if var in self.definitions else default_range(var)
        return found


class Int64State(ContextState):
    """The same, for variables that hold int64 values."""

    def range_of(self, var: tir.Var) -> Range:
        """The range, within int64."""
        return within(INT64, *super().range_of(var))


def default_range(var: tir.Var) -> Range:
    """The range of an undeclared variable: from 0 to the limit of a narrow data type."""
    return within_dtype(var, 0, None)


def within_dtype(var: tir.Var, lower: int | None, upper: int | None) -> Range:
    """The part of a range that fits a variable's data type; signed 64-bit types count as exact
    integers.
    """
    kind = var.dtype
    if kind is INT64 or (kind.code == "int" and kind.bits >= 64):
        return (lower, upper)
    if not kind.is_integer and kind != BOOL:
        return (lower, upper)
    return within(kind, lower, upper)


def within_word(var: tir.Var, lower: int | None, upper: int | None) -> Range:
    """The part of a range that 64 bits hold, of an unsigned variable without a sign."""
    return within(dtype("uint64") if var.dtype.code == "uint" else INT64, lower, upper)


def within(kind: DataType, lower: int | None, upper: int | None) -> Range:
    """The part of a range that a type holds."""
    least, most = prim_exprs.dtype_range(kind)
    return (
        least if lower is None else max(lower, least),
        most if upper is None else min(upper, most),
    )


class Context:
    """The ranges, facts and definitions for questions.

    The cost of extending, leaving (:meth:`pop`) and copying is that of the additions. Variables are
    objects: declaring or defining one again makes a new variable of the same name, and facts about
    the old variable still refer to the old one.

    Variables and expressions are also given as texts, or as those of TVM; a name in a text is the
    variable of this name here.
    """

    __slots__ = ("_forgotten", "_mentioned", "_shared", "_stack", "_state", "vocabulary")

    def __init__(self) -> None:
        self._state = ContextState({}, (), {})
        self.vocabulary = Vocabulary()
        self._mentioned: set[tir.Var] = set()
        self._forgotten: set[tir.Var] = set()
        self._shared = False
        self._stack: list[tuple[ContextState, set[tir.Var]]] = []

    @property
    def state(self) -> ContextState:
        """The current contents; equal contents may be different objects."""
        self._shared = True
        return self._state

    def read(self, value: Expression) -> PrimExpr:
        """An expression as one of ours, in which names and TVM's variables are those of the
        context.

        Raises
        ------
        TypeError
            If it is no expression.
        ValueError
            If a text cannot be parsed.
        """
        if isinstance(value, PrimExpr):
            return value
        return self.vocabulary.expression(value, self._named(value))

    def condition(self, value: Expression) -> PrimExpr:
        """The same for a condition.

        Raises
        ------
        TypeError, ValueError
            As :meth:`read`; TypeError also if it is a number.
        """
        read = self.read(value)
        if not prim_exprs.may_be_condition(read):
            kind = ValueError if isinstance(value, str) else TypeError
            raise kind(usage_errors.no_condition(read))
        return read

    def variable(self, value: Expression) -> tir.Var:
        """The same for a variable.

        Raises
        ------
        TypeError, ValueError
            As :meth:`read`; TypeError also if it is no variable.
        """
        return self.vocabulary.variable(value, self._named(value))

    def _named(self, value: Expression) -> list[tir.Var]:
        """The variables that a text may mean."""
        if not isinstance(value, str):
            return []
        state = self._state
        used = (*state.ranges, *state.definitions, *tir.free_vars(*state.facts))
        return [var for var in used if var not in self._forgotten]

    def declare(self, var: Expression, lower: int | None = 0, upper: int | None = None) -> None:
        """Declare a variable, with its smallest and largest value (None: the limit of its data
        type).

        Raises
        ------
        TypeError
            If the variable is not a variable, or a limit is not an integer.
        ValueError
            If no value lies between the limits.
        """
        var = self.variable(var)
        low, high = limits = within_dtype(
            var, usage_errors.limit("lower", lower), usage_errors.limit("upper", upper)
        )
        if low is not None and high is not None and low > high:
            raise ValueError(
                f"expected limits with a value between them, found lower={lower} and upper={upper}"
                f" for {var.name} of type {var.dtype}"
            )
        self._forget(var)
        self._own()
        self._state.ranges[var] = limits

    def assume(self, condition: Expression) -> None:
        """Add a fact, which restricts the values to those for which it is defined and true.

        Raises
        ------
        TypeError, ValueError
            As :meth:`condition`.
        """
        condition = self.condition(condition)
        added = tuple(prim_exprs.conjuncts(condition))
        state = self._state
        self._mention(condition)
        self._replace(type(state)(state.ranges, state.facts + added, state.definitions))

    def define(self, var: Expression, expr: Expression) -> None:
        """Define a variable as the value of an expression.

        Raises
        ------
        TypeError, ValueError
            As :meth:`variable` and :meth:`read`; ValueError also for a number that the variable's
            type does not hold.
        """
        var, expr = self.variable(var), self.read(expr)
        if isinstance(expr, tir.IntImm):
            value = expr.value
            usage_errors.held(var, expr, lambda _: (value, value))
        if any(v is var for v in tir.free_vars(expr)):
            self._mentioned.add(var)  # it keeps its range, even if nothing else is known of it
            old = self._forget(var)
            assert old is not None
            expr = tir.substitute(expr, {var: old})
        else:
            self._forget(var)
        self._own()
        self._mention(expr)
        self._mentioned.add(var)
        self._state.ranges.pop(var, None)
        self._state.definitions[var] = expr

    def push(self) -> None:
        """Begin a scope; :meth:`pop` restores the current contents."""
        self._stack.append((self.state, self._mentioned))
        self._mentioned = set(self._mentioned)

    def pop(self) -> None:
        """Leave the scope of the last :meth:`push`.

        Raises
        ------
        IndexError
            If no scope is open.
        """
        if not self._stack:
            raise IndexError("expected a push() before this pop(), found none")
        self._state, self._mentioned = self._stack.pop()
        self._shared = True

    def copy(self) -> Context:
        """An independent context with the same contents and without open scopes."""
        other = type(self)()
        other._state = self.state
        other._shared = True
        other._mentioned = set(self._mentioned)
        other._forgotten = set(self._forgotten)
        other.vocabulary = self.vocabulary
        return other

    def _own(self) -> None:
        """Make the state a new one."""
        if self._shared:
            old = self._state
            self._replace(type(old)(dict(old.ranges), old.facts, dict(old.definitions)))
            self._shared = False

    def _replace(self, state: ContextState) -> None:
        self._state = state

    def _mention(self, expr: PrimExpr) -> None:
        self._mentioned.update(tir.free_vars(expr))

    def _forget(self, var: tir.Var) -> tir.Var | None:
        """Give what is known of ``var`` to a variable of its own; None where nothing is."""
        if var not in self._mentioned:
            return None
        old = tir.Var(var.name, var.dtype)
        state = self._state
        renaming: dict[tir.Var, PrimExpr] = {var: old}
        ranges = {(old if v is var else v): r for v, r in state.ranges.items()}
        ranges.setdefault(old, state.range_of(var))
        definitions = {
            (old if v is var else v): tir.substitute(e, renaming)
            for v, e in state.definitions.items()
        }
        facts = tuple(tir.substitute(f, renaming) for f in state.facts)
        self._replace(type(state)(ranges, facts, definitions))
        self._shared = False
        self._mentioned.discard(var)
        self._mentioned.add(old)
        self._forgotten.add(old)
        return old


_REFINED = 64


def constraints(state: ContextState) -> list[PrimExpr]:
    """Facts and definitions as conditions."""
    equations: list[PrimExpr] = [tir.EQ(v, e) for v, e in state.definitions.items()]
    return equations + prim_exprs.expand(list(state.facts))


Orders = Mapping[PrimExpr, list[PrimExpr]]
"""The nodes of conditions, operands first."""
NO_ORDERS: Orders = {}


class Groups:
    """Variables in groups: those that conditions connect, directly or over other variables."""

    def __init__(self) -> None:
        self._parent: dict[tir.Var, tir.Var] = {}
        self._conditions: dict[tir.Var, int] = {}

    def connect(self, used: Iterable[tir.Var]) -> None:
        """One more condition connects variables, of which there is at least one."""
        first, *others = found = dict.fromkeys(map(self.root, used))
        count = 1 + sum(self._conditions.get(root, 0) for root in found)
        self._parent.update(dict.fromkeys(others, first))
        self._conditions[first] = count

    def root(self, var: tir.Var) -> tir.Var:
        """The variable that stands for the group of another one."""
        parent = self._parent
        while (above := parent.setdefault(var, var)) is not var:
            parent[var] = parent[above]
            var = above
        return var

    def roots(self, used: Iterable[tir.Var]) -> set[tir.Var]:
        """The variables that stand for the groups of those that some condition has."""
        return {self.root(v) for v in used if v in self._parent}

    def connected(self, used: Iterable[tir.Var]) -> int:
        """The number of conditions that are connected with variables."""
        return sum(self._conditions[root] for root in self.roots(used))

    def copy(self) -> Groups:
        """The same groups, to be changed independently."""
        other = Groups()
        other._parent, other._conditions = dict(self._parent), dict(self._conditions)
        return other


class Components:
    """Conditions grouped by shared variables; ``orders`` has the nodes of those that the caller
    knows.
    """

    def __init__(self, conditions: Iterable[PrimExpr], orders: Orders = NO_ORDERS) -> None:
        self._groups = Groups()
        self._closed: list[PrimExpr] = []
        owners: list[tuple[PrimExpr, tir.Var]] = []
        for condition in conditions:
            used = prim_exprs.variables_among(orders.get(condition) or tir.postorder(condition))
            if used:
                owners.append((condition, used[0]))
                self._groups.connect(used)
            else:
                self._closed.append(condition)
        self._by_root: dict[tir.Var, list[PrimExpr]] = {}
        for condition, var in owners:
            self._by_root.setdefault(self._groups.root(var), []).append(condition)

    def split(self, used: Iterable[tir.Var]) -> tuple[list[PrimExpr], list[list[PrimExpr]]]:
        """The conditions connected to given variables, and the other groups."""
        roots = self._groups.roots(used)
        near = [c for root, group in self._by_root.items() if root in roots for c in group]
        far = [group for root, group in self._by_root.items() if root not in roots]
        if self._closed:
            far.append(self._closed)
        return near, far


def order(
    goal: PrimExpr, facts: Sequence[PrimExpr], state: ContextState
) -> tuple[list[tir.Var], list[PrimExpr]]:
    """The variables by first appearance in the goal, then in the facts; the facts sorted by
    structure.
    """
    numbers: dict[tir.Var, int] = {}
    for var in tir.free_vars(goal):
        numbers[var] = len(numbers)
    left = list(facts)
    if not left:
        return list(numbers), left
    placed: list[PrimExpr] = []
    while left:
        keys = {id(f): order_key(f, numbers, state) for f in left}
        left.sort(key=lambda f: keys[id(f)])
        count = len(left)
        if count <= _REFINED:
            count = next(
                (
                    i
                    for i, f in enumerate(left, 1)
                    if any(v not in numbers for v in tir.free_vars(f))
                ),
                count,
            )
        for fact in left[:count]:
            for var in tir.free_vars(fact):
                numbers.setdefault(var, len(numbers))
        placed += left[:count]
        left = left[count:]
    return list(numbers), sorted(placed, key=lambda f: order_key(f, numbers, state))


def order_key(expr: PrimExpr, numbers: dict[tir.Var, int], state: ContextState) -> tuple[int, int]:
    """Size and a hash of the structure; hashes of tuples of integers are the same in every
    process.
    """

    def code(node: PrimExpr, operands: list[int]) -> int:
        match node:
            case tir.Var():
                low, high = state.range_of(node)
                limits = (-1 if low is None else low, -2 if high is None else high)
                return hash((1, numbers.get(node, -1), limits))
            case tir.IntImm(value=value):
                return hash((2, value))
        return hash((3, int.from_bytes(type(node).__name__.encode()), *operands))

    codes: dict[PrimExpr, int] = {}
    whole = tir.fold(expr, code, codes)
    return len(codes), whole


_DIVISIONS = frozenset(INTEGER_DIVISIONS)
_PROTECTING = frozenset((tir.And, tir.Or, tir.Call, tir.Select))


def divisors(goals: Sequence[PrimExpr], order: Iterable[PrimExpr] | None = None) -> list[PrimExpr]:
    """The nonconstant divisors that are always evaluated with the goals.

    ``order`` has the nodes of the goals, if the caller has them.
    """
    nodes = tir.postorder(*goals) if order is None else order
    divisions = [node for node in nodes if type(node) in _DIVISIONS]
    found = dict.fromkeys(
        [n.b for n in divisions if type(n.b) is not tir.IntImm or not n.b.value]  # type: ignore[attr-defined]
    )
    if found and not _PROTECTING.isdisjoint(map(type, nodes)):
        certain = {node.b for node in _evaluated(goals) if isinstance(node, INTEGER_DIVISIONS)}
        return [d for d in found if d in certain]
    return list(found)


def demands(goals: Sequence[PrimExpr], order: Sequence[PrimExpr] | None = None) -> list[PrimExpr]:
    """The conditions that all nodes have a value which are always evaluated with the goals: no
    divisor is zero, and no number is shifted by more bits than it has.

    ``order`` has the nodes of the goals, if the caller has them.
    """
    nodes = tir.postorder(*goals) if order is None else order
    found: list[PrimExpr] = [tir.NE(d, prim_exprs.ZERO) for d in divisors(goals, nodes)]
    if tir.Call in map(type, nodes):
        for node in _evaluated(goals):
            if prim_exprs.is_power(node):
                exponent = tir.children(node)[1]
                found += (
                    tir.LE(prim_exprs.ZERO, exponent),
                    tir.LT(exponent, tir.IntImm(prim_exprs.BITS)),
                )
    return found


def _evaluated(goals: Iterable[PrimExpr]) -> Iterable[PrimExpr]:
    """The nodes that no ``and``, ``or`` or branch protects."""

    def below(node: PrimExpr) -> tuple[PrimExpr, ...]:
        protects = isinstance(node, (tir.And, tir.Or)) or prim_exprs.conditional(node)
        return tir.children(node)[: 1 if protects else None]

    return tir.reached(goals, below)
