"""Several patterns that match together in one block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.python_places import MisuseError, described, flag, here
from rlx.grammar.nodes.visit import expressions, reached
from rlx.transform.patterns.attempt import (
    Attempt,
    MatchedValues,
    PatternSurroundings,
    Users,
    users_among,
)
from rlx.transform.patterns.expressions import COMPUTED
from rlx.transform.patterns.pattern import (
    CONTEXTS,
    AndPattern,
    Constrained,
    Pattern,
    PatternError,
    PatternSeq,
    SameShapeConstraint,
    expected,
    stands_at,
)


class Link(Record):
    """The value of one pattern is used by that of another one."""

    producer: Pattern
    consumer: Pattern
    index: int | None
    only: bool


class PatternContext:
    """Patterns that match together: those that are made, or put into a chain, in its ``with``
    statement.

    Parameters
    ----------
    incremental
        Whether it begins with the patterns of the context around it.

    Examples
    --------
    >>> from rlx.transform import PatternContext, is_op, wildcard
    >>> x = wildcard()
    >>> with PatternContext() as both:
    ...     query = is_op("matmul")(x, wildcard())
    ...     key = is_op("matmul")(x, wildcard())
    >>> len(both.roots)
    2
    """

    def __init__(self, incremental: bool = False) -> None:
        around = PatternContext.current() if flag(incremental, "incremental") else None
        self._made: dict[Pattern, None] = {} if around is None else dict(around._made)
        self.links: list[Link] = [] if around is None else list(around.links)
        self.same_shapes: list[SameShapeConstraint] = (
            [] if around is None else list(around.same_shapes)
        )

    def __enter__(self) -> Self:
        CONTEXTS.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        CONTEXTS.remove(self)

    @staticmethod
    def current() -> PatternContext | None:
        """The context of the innermost ``with`` statement, or None."""
        return CONTEXTS[-1] if CONTEXTS else None  # type: ignore[return-value]

    def add(self, pattern: Pattern) -> None:
        """Add a pattern, or the patterns of a chain, which must match, too."""
        expected(pattern)
        if isinstance(pattern, PatternSeq) and len(pattern) > 1:
            with self:
                pattern.record()
        else:
            self._made[pattern] = None

    def link(
        self, producer: Pattern, consumer: Pattern, index: int | None = None, only: bool = False
    ) -> None:
        """Require that the value of one pattern is used by that of another one.

        Parameters
        ----------
        index, only
            As for :meth:`Pattern.used_by` and :meth:`Pattern.only_used_by`.
        """
        self.add(producer)
        self.add(consumer)
        self.links.append(Link(producer, consumer, index, only))

    @property
    def roots(self) -> tuple[Pattern, ...]:
        """The patterns that are not part of another one, in the order in which they are matched:
        each one is connected with one before it, if possible.
        """
        inside = {part for pattern in self._made for part in pattern.parts()}
        left = [p for p in self._made if p not in inside and not isinstance(p, PatternSeq)]
        found: list[Pattern] = []
        reached: set[Pattern] = set()
        while left:
            near = [p for p in left if self._meets(p, reached)]
            narrow = [p for p in near or left if p.heads is not None]
            chosen = (narrow or near or left)[0]
            left.remove(chosen)
            found.append(chosen)
            reached |= _whole(chosen)
        return tuple(found)

    def _meets(self, pattern: Pattern, reached: set[Pattern]) -> bool:
        parts = _whole(pattern)
        return not parts.isdisjoint(reached) or any(
            (link.producer in parts and link.consumer in reached)
            or (link.consumer in parts and link.producer in reached)
            for link in self.links
        )

    def match_dfb(self, dfb: ast.BindingBlock) -> dict[Pattern, Expr] | None:
        """The first match in a block: the variables of the patterns and of their parts; None if
        there is none.

        Raises
        ------
        MisuseError
            If it is not a block.
        """
        if not isinstance(dfb, ast.BindingBlock):
            raise MisuseError(f"expected a dataflow block, found {described(dfb)}", here())
        bound = [b for b in dfb.bindings if isinstance(b, ast.VarBinding)]
        users = users_in(bound)
        around = MatchedValues({b.var: b.value for b in bound}, users=lambda: users)
        for attempt, _ in self.matches(around, bound):
            return dict(attempt.found)
        return None

    def matches(
        self,
        around: PatternSurroundings,
        bound: Sequence[ast.VarBinding],
        done: set[ast.Var] | None = None,
    ) -> Iterator[tuple[Attempt, dict[Pattern, ast.Var]]]:
        """Every match in a block, with the variables of its roots.

        Parameters
        ----------
        around
            The program.
        bound
            The bindings of the block.
        done
            Variables that no root may match, as they are now when each match is looked for.
        """
        roots = self.roots
        if not roots:
            raise PatternError("nothing matches: the context has no patterns")
        search = _Search(self, around, roots, done if done is not None else set(), bound)
        for var in search.candidates(roots[0], bound):
            attempt = Attempt(around)
            yield from ((attempt, found) for found in search.matched(0, [var], attempt))


class _Search:
    """The search for one match after the other, from root to root."""

    def __init__(
        self,
        context: PatternContext,
        around: PatternSurroundings,
        roots: Sequence[Pattern],
        done: set[ast.Var],
        bound: Sequence[ast.VarBinding],
    ) -> None:
        self.context, self.around, self.roots, self.done = context, around, roots, done
        self.bound = [binding.var for binding in bound]
        self.links = context.links
        self.computed = _computed(roots)

    def candidates(self, root: Pattern, bound: Sequence[ast.VarBinding]) -> list[ast.Var]:
        """The variables of a block that the first root may match."""
        heads = root.heads
        found = [b.var for b in bound if heads is None or fits_head(b.value, heads)]
        if heads is None:
            own = {b.var for b in bound}
            mentioned = (e for b in bound for e in expressions(b.value) if isinstance(e, ast.Var))
            found += [var for var in dict.fromkeys(mentioned) if var not in own]
        return found

    def matched(
        self, at: int, candidates: Sequence[Expr], attempt: Attempt
    ) -> Iterator[dict[Pattern, ast.Var]]:
        """Every way in which the roots from this one on match, each one another variable."""
        root = self.roots[at]
        for var in candidates:
            if not isinstance(var, ast.Var) or var in self.done:
                continue
            if any(attempt.found.get(before) is var for before in self.roots[:at]):
                continue
            for _ in root.matches(var, attempt):
                if not (self._apart(attempt) and self._holds(attempt)):
                    continue
                if at + 1 == len(self.roots):
                    yield {p: e for p in self.roots if isinstance(e := attempt.found[p], ast.Var)}
                else:
                    yield from self.matched(at + 1, self._near(at + 1, attempt), attempt)

    def _near(self, at: int, attempt: Attempt) -> list[Expr]:
        """The variables that the next root may match, by what is matched already."""
        root, found = self.roots[at], attempt.found
        parts = _whole(root)
        near: dict[Expr, None] = {}
        for part in parts:
            if isinstance(var := found.get(part), ast.Var):
                near[var] = None
        for link in self.links:
            if link.consumer in parts and isinstance(var := found.get(link.producer), ast.Var):
                near.update((user, None) for user, _ in self.around.users(var) if user is not None)
            if link.producer in parts and isinstance(user := found.get(link.consumer), ast.Var):
                value = self.around.value(user)
                near.update(dict.fromkeys(() if value is None else expressions(value)))
        if not near:
            return list(self.bound)
        step = list(near)
        for _ in range(len(parts) - 1):  # the root is computed from its parts
            users = [u for e in step if isinstance(e, ast.Var) for u, _ in self.around.users(e)]
            step = [user for user in users if user is not None and user not in near]
            near.update(dict.fromkeys(step))
        return list(near)

    def _apart(self, attempt: Attempt) -> bool:
        """Whether the calls and tuples that are matched so far are different ones."""
        found = [attempt.found.get(each) for each in self.computed]
        bound = [each for each in found if isinstance(each, ast.Var)]
        return len(bound) == len({*bound})

    def _holds(self, attempt: Attempt) -> bool:
        """Whether all links and shapes hold of what is matched so far."""
        found, around = attempt.found, self.around
        for link in self.links:
            var, user = found.get(link.producer), found.get(link.consumer)
            if var is None or user is None:
                continue
            value = around.value(user) if isinstance(user, ast.Var) else None
            if (
                not isinstance(var, ast.Var)
                or value is None
                or not (
                    any(each is var for each in expressions(value))
                    and stands_at(var, value, link.index)
                )
            ):
                return False
            if link.only:
                others = [k.consumer for k in self.links if k.producer is link.producer]
                if any(other not in found for other in others):
                    continue
                expected_users = {found[other] for other in others}
                if any(each not in expected_users for each, _ in around.users(var)):
                    return False
        return all(each.holds(attempt) for each in self.context.same_shapes)


def _whole(pattern: Pattern) -> set[Pattern]:
    """A pattern with all its parts."""
    return reached([pattern], lambda each: each.parts())


def _computed(roots: Sequence[Pattern]) -> set[Pattern]:
    """The patterns of calls and tuples; of two that describe one value, ``p & q``, the first."""
    every = {part for root in roots for part in _whole(root)}
    second = {each.right for each in every if isinstance(each, AndPattern)}
    while inside := {each.pattern for each in second if isinstance(each, Constrained)} - second:
        second |= inside
    return {each for each in every - second if isinstance(each, COMPUTED)}


def users_in(bound: Sequence[ast.VarBinding]) -> Users:
    """The values of a block that mention each variable; one that outlives the block has more
    users.
    """
    outliving = [(None, b.var) for b in bound if type(b.var) is not ast.DataflowVar]
    return users_among([*((b.var, b.value) for b in bound), *outliving])


def fits_head(value: Expr, heads: frozenset[object]) -> bool:
    """Whether a value may be one that a pattern with these heads matches."""
    if isinstance(value, ast.Call):
        return (isinstance(value.op, ast.Op) and value.op.op_name in heads) or ast.Call in heads
    return type(value) in heads or isinstance(value, ast.Var)
