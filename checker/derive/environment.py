"""The environment of a derivation: variables, scopes, aliases of shape variables, earlier mistakes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from rlx.checker.derive.doubts import Doubt, Doubts
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo, Var
from rlx.grammar.nodes.dtype import BOOL, INT64
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.struct_infos import of_the_value
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.budget import Statistics
from rlx.solver.context import Context, ContextState
from rlx.solver.order import erase, free_shape_vars, substitute, substitute_prim
from rlx.solver.prover import Prover, identical
from rlx.solver.verdict import Relation, Verdict
from rlx.spec.registry import judged, reported

if TYPE_CHECKING:
    from rlx.solver.session import Session


Key = Var | tuple["Key", int]
"""A value: the variable that it was first bound to, or a field of a value."""


class ValueNames:
    """The names of values in a module.

    Attributes
    ----------
    first
        The value that a variable stands for, if it was bound to another one before.
    names
        The further variables of a value.
    holders
        The tuples that a value is a field of, with its position.
    fields
        The fields of a tuple that a variable was bound to.
    shapes
        The variable that the shape of a tensor was first bound to.
    tensors
        The tensor of which a variable is the shape.
    computed
        The variable that a call was first bound to, by its operator and its operand.
    """

    __slots__ = ("computed", "fields", "first", "holders", "names", "shapes", "tensors")

    def __init__(self) -> None:
        self.first: dict[Var, Key] = {}
        self.names: dict[Key, list[Var]] = {}
        self.holders: dict[Key, list[tuple[Var, int]]] = {}
        self.fields: dict[Key, tuple[ast.Expr, ...]] = {}
        self.shapes: dict[Key, Var] = {}
        self.tensors: dict[Key, Key] = {}
        self.computed: dict[tuple[str, Key], Key] = {}

    def of(self, expr: ast.Expr) -> Key | None:
        """The value of an expression; None for an expression that has no name."""
        match expr:
            case Var():
                return self.first.get(expr, expr)
            case ast.TupleGetItem(tuple_value=whole, index=index):
                around = self.of(whole)
                if around is None:
                    return None
                fields = self.fields.get(around, ())
                return self.of(fields[index]) if index in range(len(fields)) else (around, index)
        return None


WHOLE = 8
"""The number of facts about connected variables under all of which any question is asked."""

THOROUGH = 32
"""The number of facts under all of which questions are asked until they have cost
:data:`ALLOWANCE`.
"""

NEAREST = 4
"""The number of facts under which they are asked afterwards: those nearest to the question."""

ALLOWANCE = 500_000
"""The budget of questions under more than :data:`WHOLE` facts in one function: steps of the prover
and units of Z3's ``rlimit``.
"""


_, MOST = prim_exprs.dtype_range(INT64)
"""The largest dimension."""

A = TypeVar("A", Verdict, Relation)


class DerivationScope:
    """The names that a function or a SeqExpr brings into scope, to be removed when it ends.

    Attributes
    ----------
    before
        What was known of variables before a check in the scope said more.
    """

    __slots__ = ("before", "pushed", "shape_vars", "shapes")

    def __init__(self) -> None:
        self.before: list[tuple[ast.Var, StructInfo]] = []
        self.shape_vars: list[tir.Var] = []
        self.shapes: list[ast.Var] = []
        self.pushed = False


class Environment:
    """The knowledge at one moment of the derivation of a module.

    Attributes
    ----------
    info_of
        The specification's Γ, extended to all expressions met; nothing is ever taken out of it.
        What a check says of a variable that is bound already holds until the scope of the check
        ends.
    doubts
        Expressions of which less is known than there should be.
    casts
        What the casts that compare shapes alone (of 2022) give their values.
    believed
        Variables that are what their annotations say, since their values are wrong.
    captured
        Variables, shape variables and annotations that Python around the program gives a meaning.
    shape_vars, shapes
        The specification's Σ, and those variables of Γ that hold a shape: what erasure leaves.
    signed
        The shape variables that may be negative: scalars that are the size of nothing.
    held
        Which shape variables are known to hold, by dimensions or by another variable that holds the
        same.
    home
        The scopes of the variables that hold a shape.
    named
        The names of values.
    statistics
        What the prover was asked, and at which place it is asked now.
    judges
        Whether obligations are proved and annotations compared; not where the module is known to
        have no errors, and only struct infos are wanted.
    """

    def __init__(self, module: ast.IRModule, captured: Collection[Node] = ()) -> None:
        self.module = module
        self.info_of: dict[Node, StructInfo] = {}
        self.doubts = Doubts()
        self.casts: dict[ast.MatchCast, StructInfo] = {}
        self.believed: set[ast.Var] = set()
        self.captured = set(captured)
        self.shape_vars: set[tir.Var] = set()
        self.shapes: set[ast.Var] = set()
        self.signed: set[tir.Var] = set()
        self.held: dict[ast.Var, ast.Var | ast.ShapeExpr] = {}
        self.home: dict[ast.Var, DerivationScope] = {}
        self.named = ValueNames()
        self.scope = DerivationScope()
        self.statistics = Statistics()
        self.judges = True
        self.diagnostics: list[Diagnostic] = []

    @cached_property
    def prover(self) -> AliasProver:
        """Answers questions about dimensions; many modules ask none."""
        return AliasProver(self.statistics)

    def poisoned(self, expr: object) -> bool:
        """Whether nothing should be reported about an expression."""
        return self.doubts.get(expr, 0) >= Doubt.UNSAID  # type: ignore[call-overload,no-any-return]

    def doubt(self, node: Node, why: Doubt = Doubt.WRONG) -> None:
        """Note that less is known of a node than there should be."""
        if why is Doubt.WRONG and node in self.captured:
            why = Doubt.UNSAID
        self.doubts.mark(node, why)

    def is_open(self, info: StructInfo) -> bool:
        """Whether a part of an info is what Python around the program says."""
        return not self.captured.isdisjoint(of_the_value(info))

    def depends(self, parts: Iterable[Node]) -> bool:
        """Whether dimensions or infos mention a number that Python around the program gives."""
        captured = self.captured
        return bool(captured) and any(not captured.isdisjoint(_shape_vars(part)) for part in parts)

    def knows(self, conditions: Iterable[PrimExpr]) -> bool:
        """Whether all shape variables in some conditions are bound."""
        return all(var in self.shape_vars for each in conditions for var in tir.free_vars(each))

    def inherit(self, node: Node, parts: Sequence[Expr]) -> None:
        """Give a node the strongest doubt of its parts."""
        if (found := self.doubts.strongest(parts)) is not None:
            self.doubts.mark(node, found)

    # Scopes

    def enter(self) -> DerivationScope:
        """Open a scope; the one around it."""
        outer, self.scope = self.scope, DerivationScope()
        return outer

    def leave(self, outer: DerivationScope) -> None:
        """Take out of scope what the present scope brought."""
        scope, self.scope = self.scope, outer
        self.shape_vars.difference_update(scope.shape_vars)
        self.shapes.difference_update(scope.shapes)
        for var, info in reversed(scope.before):
            self.info_of[var] = info
        if scope.pushed:
            self.prover.pop()

    def sharpen(self, var: ast.Var, info: StructInfo) -> None:
        """Know more of a variable until the present scope ends."""
        self.scope.before.append((var, self.info_of[var]))
        self.info_of[var] = info

    def bind_shape_vars(self, variables: Sequence[tir.Var]) -> None:
        self.shape_vars.update(variables)
        self.scope.shape_vars.extend(variables)

    def remember(self, fact: PrimExpr) -> None:
        """Assume a fact until the present scope ends."""
        if not self.scope.pushed:
            self.scope.pushed = True
            self.prover.push()
        self.prover.assume(self.prover.resolved(fact))

    def outlived(self, info: StructInfo) -> StructInfo:
        """An info in terms of what the variables of the present scope are known to stand for."""
        if not self.scope.shape_vars:
            return info
        aliases = self.prover.aliases
        known = {v: aliases[v] for v in free_shape_vars(info) if v in aliases}
        return substitute(info, known)

    def erased(self, info: StructInfo) -> StructInfo:
        """A struct info without the variables that are not in scope."""
        return erase(info, self.shapes, self.shape_vars)

    # Reports

    def add(self, code: str, severity: str, message: str, span: Span | None, **extra: Any) -> None:
        """Report a diagnostic at a place of the text."""
        self.diagnostics.append(reported(Diagnostic(code, severity, message, span, **extra)))


def arithmetic_condition(info: StructInfo) -> PrimExpr | None:
    """The value of a Boolean scalar, if it is an expression that the prover can assume."""
    if not isinstance(info, ast.PrimStructInfo) or info.dtype != BOOL or info.value is None:
        return None
    return info.value if prim_exprs.may_be_condition(info.value) else None


def _shape_vars(part: Node) -> Iterable[object]:
    """The shape variables that a dimension or an info mentions."""
    return tir.free_vars(part) if isinstance(part, tir.PrimExpr) else free_shape_vars(part)  # type: ignore[arg-type]


_STATES = 8
"""Choices of facts of which each is one state of the prover."""


class AliasProver(Prover):
    """Answers questions after replacing variables by what they stand for, and under the facts that
    are nearest to the question if there are many.

    Attributes
    ----------
    aliases
        What variables stand for; no image mentions a variable that is a key.
    promises
        What attributes promise of the sizes of the functions that are derived now. They decide what
        is reported (:meth:`relate_all`), and nothing that a run relies on: no run checks them.
    """

    __slots__ = (*("_about", "_charged", "_many", "_spent", "_states"), "aliases", "promises")

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(Context())
        self.statistics = statistics
        self.aliases: dict[tir.Var | object, PrimExpr] = {}
        self.promises: tuple[PrimExpr, ...] = ()
        self._about: dict[tir.Var, list[PrimExpr]] = {}
        self._states: dict[tuple[PrimExpr, ...], ContextState] = {}
        self._many = False
        self._charged: Session | None = None
        self._spent = 0

    # Facts

    def push(self) -> None:
        """Begin a scope of facts; :meth:`pop` ends it."""
        self.context.push()

    def pop(self) -> None:
        """Forget the facts since the last :meth:`push`."""
        known = self.context.state.facts
        self.context.pop()
        for fact in known[len(self.context.state.facts) :]:
            for var in tir.free_vars(fact):
                self._about[var].pop()

    def assume(self, condition: PrimExpr) -> None:
        """Assume a condition until the present scope ends."""
        if not self.context.state.facts:  # another function
            self._charged, self._spent = None, 0
        self.context.assume(condition)
        self._index(prim_exprs.conjuncts(condition))

    def declare(self, var: tir.Var) -> None:
        """Let a variable have any value; earlier facts of it are about another one."""
        self.context.declare(var, None, None)
        if self._about.get(var):
            self._about.clear()
            self._index(self.context.state.facts)

    def _index(self, facts: Iterable[PrimExpr]) -> None:
        for fact in facts:
            for var in tir.free_vars(fact):
                self._about.setdefault(var, []).append(fact)

    def state_for(self, parts: Sequence[PrimExpr]) -> ContextState:
        """The assumptions under which a question about some expressions is asked: all, unless they
        are many.
        """
        state = self.context.state
        self._many = False
        if len(state.facts) <= WHOLE:
            return state
        used = tir.free_vars(*parts)
        affordable = self._spent < ALLOWANCE
        near = self._nearest(used, THOROUGH if affordable else WHOLE + 1)
        if len(near) > WHOLE and not affordable:
            near = self._nearest(used, NEAREST)
        else:
            self._many = len(near) > WHOLE
            if len(state.facts) <= THOROUGH:
                return state
        facts = tuple(near)
        made = self._states.get(facts)
        if made is None or made.ranges is not state.ranges:
            if len(self._states) >= _STATES:
                self._states.clear()
            made = self._states[facts] = ContextState(state.ranges, facts, state.definitions)
        return made

    def _nearest(self, used: Iterable[tir.Var], most: int) -> dict[PrimExpr, None]:
        """Facts connected with variables: those about few others first, then the latest."""
        found: dict[PrimExpr, None] = {}
        about, seen = self._about, set(used)
        layer = list(seen)
        while layer:
            layer = sorted((v for v in layer if about.get(v)), key=lambda v: len(about[v]))
            later: dict[tir.Var, None] = {}
            for var in layer:
                for fact in reversed(about[var][-most:]):
                    if fact in found:
                        continue
                    found[fact] = None
                    if len(found) == most:
                        return found
                    later.update(dict.fromkeys(tir.free_vars(fact)))
            layer = [v for v in later if v not in seen]
            seen.update(layer)
        return found

    def _session(self, *parts: PrimExpr) -> Session:
        if self._charged is not None:
            self._spent += self._charged.work.used
            self._charged = None
        session = super()._session(*parts)
        if self._many:
            self._charged = session
        return session

    # Aliases

    def alias(self, var: tir.Var, image: PrimExpr) -> None:
        """Let a variable that was not mentioned so far stand for an expression, from now on."""
        self.aliases[var] = self.resolved(image)

    def resolved(self, expr: PrimExpr) -> PrimExpr:
        """An expression without variables that stand for others; always the same object for the
        same text.
        """
        if self.aliases:
            expr = substitute_prim(expr, self.aliases)
        return prim_exprs.shared(expr)

    @judged("question", "equal")
    def equal(self, a: PrimExpr, b: PrimExpr) -> Verdict:
        """Whether two expressions have the same value wherever both are defined."""
        if prim_exprs.alike(a, b):
            self.statistics.sight += 1
            return identical(a, b)
        a, b = self.resolved(a), self.resolved(b)
        ask = super().equal
        return self._within_int64(ask(a, b), (a, b), lambda: ask(a, b))

    @judged("question", "always")
    def always(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for all values."""
        condition = self.resolved(condition)
        ask = super().always
        return self._within_int64(ask(condition), (condition,), lambda: ask(condition))

    @judged("question", "never")
    def never(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for no value; a counterexample makes it true."""
        return super().never(self.resolved(condition))

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the same value wherever ``expr`` is defined."""
        found: PrimExpr = super().simplify(self.resolved(expr))
        return found

    @judged("question", "relate_all")
    def relate_all(self, pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> Relation:
        """The relation of two lists of dimensions: all pairs have the same values, of those that
        the functions promise if there are others.
        """
        resolved, ask = self.resolved, super().relate_all
        asked = [(resolved(a), resolved(b)) for a, b in pairs if not prim_exprs.alike(a, b)]
        parts = [part for pair in asked for part in pair]

        def related() -> Relation:
            return self._within_int64(ask(asked), parts, lambda: ask(asked))

        found = related()
        if not self.promises or found.kind in ("always", "never"):
            return found
        again = self._assuming(map(resolved, self.promises), related)
        return again if again.kind != "never" else Relation("sometimes", again.counterexample)

    def _within_int64(self, found: A, parts: Sequence[PrimExpr], again: Callable[[], A]) -> A:
        """An answer that no number beyond int64 refutes: no dimension is one."""
        if all(abs(value) <= MOST for value in (found.counterexample or {}).values()):
            return found
        variables = tir.free_vars(*parts)
        return self._assuming([tir.LE(var, tir.IntImm(MOST)) for var in variables], again)

    def _assuming(self, facts: Iterable[PrimExpr], ask: Callable[[], A]) -> A:
        """An answer under more facts."""
        self.push()
        try:
            for fact in facts:
                self.assume(fact)
            return ask()
        finally:
            self.pop()
