"""Several bindings of a dataflow block that match together, replaced at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, Expr, IRModule, StructInfo
from rlx.grammar.nodes.python_places import MisuseError, here
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import show
from rlx.solver.order import subtype
from rlx.solver.prover import Prover
from rlx.transform.builder import taken
from rlx.transform.builder.errors import misuse
from rlx.transform.patterns.attempt import Attempt, Match
from rlx.transform.patterns.expressions import several
from rlx.transform.patterns.pattern import Pattern
from rlx.transform.visitors.dispatch import callable_of
from rlx.transform.visitors.mutator import ExprMutator

Replacements = Mapping[Pattern, object]
Users = Mapping[ast.Var, Sequence[ast.VarBinding]]


def rewrite_bindings(
    module: IRModule,
    patterns: Sequence[Pattern],
    replacement: Callable[[Match], Replacements | None],
) -> IRModule:
    """Replace groups of bindings that match several patterns together.

    The bindings are in one dataflow block, in any order, and none is computed from another. Each
    pattern after the first shares a part with those before it, such as a common operand.

    Parameters
    ----------
    replacement
        Called with each match. Returns the new values by the patterns that they replace, or None to
        keep all. What it emits with ``match.builder`` comes before them.

    Raises
    ------
    MisuseError
        If there is no pattern.
    BuildError
        If a new value violates a rule, or its struct info is less precise than that of the old one.
    """
    given = several(patterns, "patterns")
    if not given:
        raise MisuseError("expected at least one pattern, found none", here())
    return _Together(given, replacement)(module)


class _Together(ExprMutator):
    """Looks at each dataflow block when it is complete."""

    def __init__(
        self,
        patterns: Sequence[Pattern],
        replacement: Callable[[Match], Replacements | None],
    ) -> None:
        self.patterns = patterns
        self.replacement = callable_of(replacement, "a match", here())
        self.users_of: Users = {}
        self.candidates: list[ast.VarBinding] = []
        self.rank: dict[ast.Var, int] = {}

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        super().visit_dataflow_block(block)
        bindings = self._frame.bindings()
        self.candidates = [b for b in bindings if isinstance(b, ast.VarBinding)]
        self.users_of = _users(self.candidates)
        self.rank = {binding.var: k for k, binding in enumerate(self.candidates)}
        done: set[ast.Var] = set()
        start = 0
        for first in self.candidates:
            attempt = Attempt(self)
            for roots in self._matched(self.patterns, [first], done, attempt):
                places = [_place(bindings, root, start) for root in roots]
                start = min(places)
                stretch = slice(start, max(places) + 1)
                order = _order(bindings[stretch], roots)
                if order is not None:
                    done.update(root.var for root in roots)
                    match = Match(first.var, first.value, attempt, self.builder)
                    self._replace(match, roots, order, stretch)
                    break

    def _matched(
        self,
        patterns: Sequence[Pattern],
        candidates: Sequence[ast.VarBinding],
        done: set[ast.Var],
        attempt: Attempt,
    ) -> Iterator[list[ast.VarBinding]]:
        """The bindings that patterns match, each another one."""
        if not patterns:
            yield []
            return
        pattern, *others = patterns
        for binding in candidates:
            for _ in () if binding.var in done else pattern.matches(binding.var, attempt):
                known = [expr for expr in attempt.found.values() if isinstance(expr, ast.Var)]
                near = dict.fromkeys(user for var in known for user in self.users_of.get(var, ()))
                rest = self._matched(others, list(near), done | {binding.var}, attempt)
                yield from ([binding, *found] for found in rest)

    def _replace(
        self,
        match: Match,
        roots: Sequence[ast.VarBinding],
        order: tuple[list[Binding], list[Binding]],
        stretch: slice,
    ) -> None:
        """Put new values in place of what matched, and what is computed from it behind them."""
        bindings, frame = self._frame.bindings(), self._frame
        count = len(bindings)
        values = self.replacement(match)
        if values is None:
            del bindings[count:]
            return
        rebound: list[Binding] = []
        for pattern, root in zip(self.patterns, roots, strict=True):
            if pattern in values:
                value = frame.flat(taken.value(values[pattern], self.place), self.place)
                self._fits(root.var, value)
                frame.values[root.var] = value
                root = ast.VarBinding(root.var, value, self.place, self.place)
            rebound.append(root)
        made = [*bindings[count:], *rebound]
        del bindings[count:]
        before, behind = order
        self._in_scope(made, behind, max(self.rank[root.var] for root in roots))
        bindings[stretch] = [*before, *made, *behind]

    def _in_scope(self, made: list[Binding], behind: list[Binding], last: int) -> None:
        """New values use nothing that is bound behind them."""
        later = {b.var for b in behind if isinstance(b, ast.VarBinding)}
        for var in {var for binding in made for var in _mentioned(binding)}:
            if var in later or self.rank.get(var, 0) > last:
                words = f"{var.name_hint} is computed from what is replaced, or after it"
                raise misuse(f"{words}, so the new values cannot use it", self.place)

    def _fits(self, var: ast.Var, value: Expr) -> None:
        """What uses a variable was checked with what was known of its old value."""
        new, old = self.builder.struct_info(value), self.builder.struct_info(var)
        if not subtype(new, old, self.prover).proved:
            words = f"{var.name_hint} is {show(old)}, and its replacement {show(new)}"
            raise misuse(f"{words}: its uses were checked with the first", self.place)

    # ------------------------------------------------------------ what patterns ask

    @property
    def prover(self) -> Prover:
        """The prover of the function at hand."""
        return self._frame.state.prover

    def value(self, var: ast.Var) -> Expr | None:
        """What a variable is bound to."""
        return self.builder.lookup_binding(var)

    def info(self, expr: Expr) -> StructInfo | None:
        """What is known of an expression."""
        return self._frame.state.info_of.get(expr)

    def users(self, var: ast.Var) -> Sequence[tuple[ast.Var | None, Expr]]:
        """The values of the block that mention a variable; one that outlives it has more users."""
        found: list[tuple[ast.Var | None, Expr]] = [
            (binding.var, binding.value) for binding in self.users_of.get(var, ())
        ]
        return found if type(var) is ast.DataflowVar else [*found, (None, var)]

    def uses(self, var: ast.Var) -> int:
        """The number of these values."""
        return len(self.users(var))


def _place(bindings: Sequence[Binding], binding: Binding, start: int) -> int:
    """Where a binding stands, mostly behind the last one that was looked for."""
    try:
        return bindings.index(binding, start)
    except ValueError:
        return bindings.index(binding)


def _users(bindings: Sequence[ast.VarBinding]) -> Users:
    found: dict[ast.Var, list[ast.VarBinding]] = {}
    for binding in bindings:
        for var in _mentioned(binding):
            found.setdefault(var, []).append(binding)
    return found


def _mentioned(binding: Binding) -> set[ast.Var]:
    value: Expr = binding.value  # type: ignore[attr-defined]
    return {expr for expr in expressions(value) if isinstance(expr, ast.Var)}


def _order(
    bindings: Sequence[Binding], roots: Sequence[ast.VarBinding]
) -> tuple[list[Binding], list[Binding]] | None:
    """Of what stands between the bindings that are replaced: what is not computed from them, and
    what is; None where one of them is computed from another, or a cast from one.
    """
    ours, reached = set(roots), {root.var for root in roots}
    before: list[Binding] = []
    behind: list[Binding] = []
    for binding in bindings:
        uses = not reached.isdisjoint(_mentioned(binding))
        if binding in ours:
            if uses:
                return None
        elif uses:
            if not isinstance(binding, ast.VarBinding):  # its variables of shapes may be used
                return None
            reached.add(binding.var)
            behind.append(binding)
        else:
            before.append(binding)
    return before, behind
