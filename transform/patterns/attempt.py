"""One attempt to match: queries on the program, and the current assignment of the pattern's
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rlx.checker.derive.state import DerivationState
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.python_places import MisuseError, here, located
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.stack import recursion_room
from rlx.solver.prover import Prover
from rlx.transform.builder import states

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

    def counting(self, var: ast.Var) -> Callable[[], int]:
        """A function that returns the number of :meth:`users`, also when the function is finished."""


class Match(Mapping[Any, Expr]):
    """A match of a pattern.

    ``match[pattern]`` is the expression that a part of the pattern matched: a variable or another
    leaf, or the bound value if the part is the whole pattern.

    Attributes
    ----------
    var
        The variable that the matched value is bound to.
    value
        The matched value.
    in_dataflow
        Whether the match is in a dataflow block, where nothing has effects.
    """

    def __init__(
        self,
        var: ast.Var,
        value: Expr,
        attempt: Attempt,
        in_dataflow: bool,
        builder: BlockBuilder | None = None,
    ) -> None:
        self.var, self.value, self.in_dataflow = var, value, in_dataflow
        self._builder = builder
        self._found = dict(attempt.found)
        # Asked now: a match may be read when its function is finished.
        vars_ = [expr for expr in self._found.values() if isinstance(expr, ast.Var)]
        self._uses = {each: attempt.around.counting(each) for each in vars_}
        self._bound = {each: attempt.around.value(each) for each in vars_}

    @property
    def builder(self) -> BlockBuilder:
        """The builder of the new program, to emit further bindings before this one, or to add
        functions.

        Raises
        ------
        MisuseError
            If the match is one of :func:`rlx.transform.find`, which changes nothing.
        """
        if self._builder is None:
            raise MisuseError("a match of find has no builder: use rewrite", here())
        return self._builder

    def uses(self, pattern: Any) -> int:
        """The number of values and results of the old program that mention the variable matched by
        a part of the pattern.
        """
        expr = self._found[pattern]
        return self._uses[expr]() if isinstance(expr, ast.Var) else 0

    def bound(self, pattern: Any) -> Expr:
        """The value of the variable that a part of the pattern matched."""
        expr = self._found[pattern]
        if expr is self.var:
            return self.value
        value = self._bound[expr] if isinstance(expr, ast.Var) else None
        return expr if value is None else value

    def __getitem__(self, pattern: Any) -> Expr:
        found = self._found.get(pattern)
        if found is None:
            raise KeyError(located(f"{pattern!r} is not part of the pattern that matched", here()))
        return self.value if found is self.var else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        shown = ", ".join(f"{pattern}: {expr}" for pattern, expr in self._found.items())
        return f"<Match of {self.var.name_hint}: {shown}>"


Users = Mapping[ast.Var, Sequence[tuple[ast.Var | None, Expr]]]


class MatchedValues:
    """A program that is not changed: the values of variables.

    Parameters
    ----------
    values
        The values of variables.
    signatures
        Those of the functions of the module around it.
    function
        The function around it, whose facts count.
    users
        Makes the users of each variable, when they are asked for the first time.
    """

    def __init__(
        self,
        values: Mapping[ast.Var, Expr],
        signatures: states.Signatures | None = None,
        function: ast.Function | None = None,
        users: Callable[[], Users] | None = None,
    ) -> None:
        self.values, self._function = values, function
        self._signatures = signatures
        self._users = users or (lambda: users_among(values.items()))

    def value(self, var: ast.Var) -> Expr | None:
        """The value of a variable; None for parameters."""
        return self.values.get(var)

    @cached_property
    def _state(self) -> DerivationState:
        """The derivation of the function, made when it is first asked for."""
        signatures = self._signatures or states.signatures_of(ast.IRModule({}))
        state = states.derivation(signatures, self.values)
        if self._function is not None:
            with recursion_room():
                state.info(self._function)
        return state

    @property
    def prover(self) -> Prover:
        """The prover, with the facts of the function."""
        return self._state.prover

    def info(self, expr: Expr) -> StructInfo | None:
        """The struct info of an expression."""
        state = self._state
        found = state.info_of.get(expr)
        if found is None and self._function is None:
            with recursion_room():
                found = self._derived(expr)
        return found

    def _derived(self, expr: Expr) -> StructInfo | None:
        """The struct info of an expression outside a function. Raises MisuseError if it mentions a
        variable that has neither an annotation nor a value.
        """
        for each in expressions(expr):
            if isinstance(each, ast.Var) and each not in self._state.info_of:
                value = self.values.get(each)
                known = each.struct_info_annotation
                if known is None and value is None:
                    words = f"the type of {each.name_hint} is not written in the program"
                    raise MisuseError(
                        f"{words}: match in annotated(module), or give get_var2val", here()
                    )
                if known is None and value is not None:
                    known = self._derived(value)
                self._state.info_of[each] = known or OBJECT
        return self._state.info(expr)

    @cached_property
    def users_of(self) -> Users:
        """The users of each variable."""
        return self._users()

    def users(self, var: ast.Var) -> Sequence[tuple[ast.Var | None, Expr]]:
        """The values that mention a variable."""
        return self.users_of.get(var, ())

    def counting(self, var: ast.Var) -> Callable[[], int]:
        """A function that counts these values."""
        return lambda: len(self.users(var))


def users_among(values: Iterable[tuple[ast.Var | None, Expr]]) -> Users:
    """The values that mention each variable, each with the variable that it is bound to."""
    found: dict[ast.Var, list[tuple[ast.Var | None, Expr]]] = {}
    for user, value in values:
        for var in {each for each in expressions(value) if isinstance(each, ast.Var)}:
            found.setdefault(var, []).append((user, value))
    return found


class Attempt:
    """The current assignment of the parts of a pattern."""

    def __init__(self, around: PatternSurroundings) -> None:
        self.around = around
        self.found: dict[Any, Expr] = {}
        self.inner: dict[ast.Var, Expr] = {}
        """The values of variables inside a function that is being matched."""

    def standing(self, pattern: Any, expr: Expr) -> Iterator[None]:
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
                value = self.inner.get(expr)
                if value is None:
                    return expr
            expr = value
        return expr
