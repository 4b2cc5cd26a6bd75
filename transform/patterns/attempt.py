"""One attempt to match: what is known of the program, and what the pattern stands for so far."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from rlx.grammar import ast
from rlx.grammar.ast import Expr, StructInfo
from rlx.grammar.equal import structural_equal
from rlx.grammar.python_places import here, located
from rlx.solver.prover import Prover

if TYPE_CHECKING:
    from rlx.transform.builder.builder import BlockBuilder


class PatternSurroundings(Protocol):
    """What patterns ask of the program around an expression."""

    @property
    def prover(self) -> Prover:
        """The prover, with what is known where the match stands."""

    def value(self, var: ast.Var) -> Expr | None:
        """What a variable is bound to; None of parameters."""

    def info(self, expr: Expr) -> StructInfo | None:
        """What is known of an expression."""

    def users(self, var: ast.Var) -> Sequence[tuple[ast.Var | None, Expr]]:
        """The values that mention a variable, with the variables that they are bound to; None for a
        result.
        """


class Match(Mapping[Hashable, Expr]):
    """Where a pattern matched.

    ``match[pattern]`` is the expression that a part of the pattern stands for: a variable, or
    another leaf, or where the part is the whole pattern the value that is bound.

    Attributes
    ----------
    var
        The variable that the whole is bound to.
    value
        The value that the whole is.
    builder
        The builder of the new program, to emit further bindings before this one, or to add
        functions.
    """

    def __init__(
        self,
        var: ast.Var,
        value: Expr,
        attempt: Attempt,
        builder: BlockBuilder,
    ) -> None:
        self.var, self.value, self.builder = var, value, builder
        self._around = attempt.around
        found = attempt.found
        self._found = dict(found)

    @property
    def in_dataflow(self) -> bool:
        """Whether it stands in a dataflow block, where nothing has effects."""
        return self.builder.frame.block is not None

    def uses(self, pattern: Hashable) -> int:
        """How many values and results of the old program mention the variable that a part of the
        pattern stands for.
        """
        expr = self._found[pattern]
        return len(self._around.users(expr)) if isinstance(expr, ast.Var) else 0

    def bound(self, pattern: Hashable) -> Expr:
        """The value behind the variable that a part of the pattern stands for."""
        expr = self._found[pattern]
        if expr is self.var:
            return self.value
        value = self.builder.lookup_binding(expr) if isinstance(expr, ast.Var) else None
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
    """What the parts of a pattern stand for so far."""

    def __init__(self, around: PatternSurroundings) -> None:
        self.around = around
        self.found: dict[Hashable, Expr] = {}

    def standing(self, pattern: Hashable, expr: Expr) -> Iterator[None]:
        """Let a part stand for an expression. If it stands for one already, both must be equal."""
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
        """The value behind variables; a parameter itself."""
        while isinstance(expr, ast.Var):
            value = self.around.value(expr)
            if value is None:
                return expr
            expr = value
        return expr
