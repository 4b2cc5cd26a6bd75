"""One attempt to match: queries on the program, and the current assignment of the pattern's
parts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.python_places import here, located
from rlx.solver.prover import Prover

if TYPE_CHECKING:
    from rlx.transform.builder.builder import BlockBuilder


class PatternSurroundings(Protocol):
    """Queries of patterns on the program around an expression."""

    @property
    def prover(self) -> Prover:
        """The prover, with the facts known at the match."""

    def value(self, var: ast.Var) -> Expr | None:
        """The value of a variable; None for parameters."""

    def info(self, expr: Expr) -> StructInfo | None:
        """The struct info of an expression."""

    def users(self, var: ast.Var) -> Sequence[tuple[ast.Var | None, Expr]]:
        """The values that mention a variable, with the variables that they are bound to, or None
        for a result.
        """

    def uses(self, var: ast.Var) -> int:
        """The number of :meth:`users`."""


class Match(Mapping[Hashable, Expr]):
    """A match of a pattern.

    ``match[pattern]`` is the expression that a part of the pattern matched: a variable or another
    leaf, or the bound value if the part is the whole pattern.

    Attributes
    ----------
    var
        The variable that the matched value is bound to.
    value
        The matched value.
    builder
        The builder of the new program, to emit further bindings before this one, or to add
        functions.
    in_dataflow
        Whether the match is in a dataflow block, where nothing has effects.
    """

    def __init__(
        self,
        var: ast.Var,
        value: Expr,
        attempt: Attempt,
        builder: BlockBuilder,
    ) -> None:
        self.var, self.value, self.builder = var, value, builder
        self.in_dataflow = builder.frame.block is not None
        self._found = dict(attempt.found)
        # Asked now: a match may be read when its function is finished.
        vars_ = [expr for expr in self._found.values() if isinstance(expr, ast.Var)]
        self._uses = {each: attempt.around.uses(each) for each in vars_}
        self._bound = {each: builder.lookup_binding(each) for each in vars_}

    def uses(self, pattern: Hashable) -> int:
        """The number of values and results of the old program that mention the variable matched by
        a part of the pattern.
        """
        expr = self._found[pattern]
        return self._uses[expr] if isinstance(expr, ast.Var) else 0

    def bound(self, pattern: Hashable) -> Expr:
        """The value of the variable that a part of the pattern matched."""
        expr = self._found[pattern]
        if expr is self.var:
            return self.value
        value = self._bound[expr] if isinstance(expr, ast.Var) else None
        return expr if value is None else value

    def __getitem__(self, pattern: Hashable) -> Expr:
        found = self._found.get(pattern)
        if found is None:
            raise KeyError(located(f"{pattern!r} is not part of the pattern that matched", here()))
        return self.value if found is self.var else found

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        shown = ", ".join(f"{pattern}: {expr}" for pattern, expr in self._found.items())
        return f"<Match of {self.var.name_hint}: {shown}>"


class Attempt:
    """The current assignment of the parts of a pattern."""

    def __init__(self, around: PatternSurroundings) -> None:
        self.around = around
        self.found: dict[Hashable, Expr] = {}

    def standing(self, pattern: Hashable, expr: Expr) -> Iterator[None]:
        """Assign an expression to a part. If the part already has one, both must be equal."""
        before = self.found.get(pattern)
        if before is None:
            self.found[pattern] = expr
            try:
                yield
            finally:
                del self.found[pattern]
        elif before is expr or structural_equal(before, expr):
            yield

    def looked_through(self, expr: Expr) -> Expr:
        """The value of a variable, followed through other variables; a parameter is returned
        itself.
        """
        while isinstance(expr, ast.Var):
            value = self.around.value(expr)
            if value is None:
                return expr
            expr = value
        return expr
