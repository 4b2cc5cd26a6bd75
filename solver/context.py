"""What is assumed: ranges of variables, facts, definitions."""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL, INT64
from rlx.grammar.node import Record
from rlx.grammar.tir import PrimExpr
from rlx.solver import prim_exprs, usage_errors

Range = tuple[int | None, int | None]
"""Smallest and largest value of a variable; None where there is none."""


class ContextState(Record):
    """The contents of a context at one moment; never changed once a prover has seen it.

    Attributes
    ----------
    ranges
        The variables that were declared.
    facts
        Conditions that are defined and true.
    definitions
        Variables that stand for an expression.
    """

    ranges: dict[tir.Var, Range]
    facts: tuple[PrimExpr, ...]
    definitions: dict[tir.Var, PrimExpr]

    def range_of(self, var: tir.Var) -> Range:
        """Declared range of a variable, or what its data type says: shape variables are >= 0."""
        found = self.ranges.get(var)
        if found is None:
            return (None, None) if var in self.definitions else default_range(var)
        return found


class MachineState(ContextState):
    """The same, for variables that hold int64 values."""

    def range_of(self, var: tir.Var) -> Range:
        """The range, within int64."""
        low, high = super().range_of(var)
        least, most = prim_exprs.dtype_range(INT64)
        return (
            least if low is None else max(low, least),
            most if high is None else min(high, most),
        )


def default_range(var: tir.Var) -> Range:
    """Range of an undeclared variable: from 0, up to what a narrow data type can hold."""
    return within_dtype(var, 0, None)


def within_dtype(var: tir.Var, lower: int | None, upper: int | None) -> Range:
    """The part of a range that a variable's data type can hold; signed 64 bits stand for exact
    integers.
    """
    kind = var.dtype
    if kind.code == "int" and kind.bits >= 64:
        return (lower, upper)
    if not kind.is_integer and kind != BOOL:
        return (lower, upper)
    least, most = prim_exprs.dtype_range(kind)
    return (
        least if lower is None else max(lower, least),
        most if upper is None else min(upper, most),
    )


class Context:
    """Ranges, facts and definitions that questions are asked under.

    Extending, leaving (:meth:`pop`) and copying cost no more than what is added. A variable is one
    object; declaring or defining it again is a new variable of the same name, and what was known of
    the old one stays with the old one.
    """

    __slots__ = ("_mentioned", "_shared", "_stack", "_state")

    def __init__(self) -> None:
        self._state = ContextState({}, (), {})
        self._mentioned: set[tir.Var] = set()
        self._shared = False
        self._stack: list[tuple[ContextState, set[tir.Var]]] = []

    @property
    def state(self) -> ContextState:
        """The present contents; equal contents need not be the same object."""
        self._shared = True
        return self._state

    def declare(self, var: tir.Var, lower: int | None = 0, upper: int | None = None) -> None:
        """Bind a variable, with its smallest and largest value (None: as far as its data type
        goes).

        Raises
        ------
        TypeError
            If that is no variable, or a limit no integer.
        ValueError
            If no value lies between the limits.
        """
        usage_errors.variable(var)
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

    def assume(self, condition: PrimExpr) -> None:
        """Add a fact: from now on only values count for which it is defined and true.

        Raises
        ------
        TypeError
            If the fact is no condition; a text is one question's, see :func:`rlx.solver.prove`.
        """
        usage_errors.condition(condition)
        added = tuple(prim_exprs.conjuncts(condition))
        state = self._state
        self._mention(condition)
        self._replace(ContextState(state.ranges, state.facts + added, state.definitions))

    def define(self, var: tir.Var, expr: PrimExpr) -> None:
        """Let a variable stand for the value of an expression.

        Raises
        ------
        TypeError
            If that is no variable, or no expression.
        """
        usage_errors.variable(var)
        usage_errors.expressions(expr)
        if any(v is var for v in prim_exprs.variables([expr])):
            old = self._forget(var) or tir.Var(var.name, var.dtype)
            expr = prim_exprs.substitute(expr, {var: old})
        else:
            self._forget(var)
        self._own()
        self._mention(expr)
        self._mentioned.add(var)
        self._state.ranges.pop(var, None)
        self._state.definitions[var] = expr

    def push(self) -> None:
        """Begin a scope: :meth:`pop` returns to what is known now."""
        self._stack.append((self.state, self._mentioned))
        self._mentioned = set(self._mentioned)

    def pop(self) -> None:
        """Leave the scope of the last :meth:`push`.

        Raises
        ------
        IndexError
            Without a scope to leave.
        """
        if not self._stack:
            raise IndexError("expected a push() before this pop(), found none")
        self._state, self._mentioned = self._stack.pop()
        self._shared = True

    def copy(self) -> Context:
        """An independent context of the same contents, without scopes to leave."""
        other = Context()
        other._state = self.state
        other._shared = True
        other._mentioned = set(self._mentioned)
        return other

    def _own(self) -> None:
        """Make the state a new one."""
        if self._shared:
            old = self._state
            self._replace(ContextState(dict(old.ranges), old.facts, dict(old.definitions)))
            self._shared = False

    def _replace(self, state: ContextState) -> None:
        self._state = state

    def _mention(self, expr: PrimExpr) -> None:
        self._mentioned.update(prim_exprs.variables([expr]))

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
            (old if v is var else v): prim_exprs.substitute(e, renaming)
            for v, e in state.definitions.items()
        }
        facts = tuple(prim_exprs.substitute(f, renaming) for f in state.facts)
        self._replace(ContextState(ranges, facts, definitions))
        self._shared = False
        self._mentioned.discard(var)
        self._mentioned.add(old)
        return old
