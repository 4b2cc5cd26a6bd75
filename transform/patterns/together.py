"""Several bindings of a dataflow block that match together, replaced at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rlx.checker.memory import IN_PLACE
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, Expr, IRModule, StructInfo
from rlx.grammar.nodes.python_places import MisuseError, described, here
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import show
from rlx.operators.registry import lookup
from rlx.solver.order import subtype
from rlx.solver.prover import Prover
from rlx.transform.builder import taken
from rlx.transform.builder.errors import misuse
from rlx.transform.patterns.attempt import Match, Users
from rlx.transform.patterns.context import PatternContext, users_in
from rlx.transform.patterns.pattern import Pattern
from rlx.transform.patterns.rewriting import without_idle
from rlx.transform.visitors.dispatch import callable_of
from rlx.transform.visitors.mutator import ExprMutator

Replacements = Mapping[Pattern | ast.Var, object]
Replacing = Callable[[Match, Mapping[ast.Var, Expr]], Replacements | None]
Rewriting = TypeVar("Rewriting", IRModule, ast.Function)


def rewrite_bindings(ctx: PatternContext, rewriter: Replacing, func: Rewriting) -> Rewriting:
    """Replace groups of bindings that match several patterns together.

    The bindings are in one dataflow block, in any order, and none is computed from another.

    Parameters
    ----------
    ctx
        The patterns.
    rewriter
        Called with each match, whose values are variables, and with the values of the block's
        variables. Returns the new values by the variables, or by the patterns, that they replace;
        None to keep all. A call that occurs in several values is emitted once. What it emits with
        ``match.builder`` comes before them. What matched is removed if it is unused then and cannot
        fail.
    func
        A function or a module.

    Raises
    ------
    MisuseError
        If it is not a context.
    BuildError
        If a new value violates a rule, or its struct info is less precise than that of the old one.
    """
    if not isinstance(ctx, PatternContext):
        raise MisuseError(f"expected a PatternContext, found {described(ctx)}", here())
    return TogetherRewriter(ctx, rewriter)(func)


class TogetherRewriter(ExprMutator):
    """Looks at each dataflow block when it is complete.

    Parameters
    ----------
    everywhere
        Whether it looks at ordinary blocks, too.
    """

    def __init__(
        self, context: PatternContext, replacement: Replacing, everywhere: bool = False
    ) -> None:
        self.context, self.everywhere = context, everywhere
        self.replacement = callable_of(replacement, "a match and the block's values", here())
        self.users_of: Users = {}
        self.idle: set[ast.Var] = set()
        self.block_values: dict[ast.Var, Expr] = {}
        self.rank: dict[ast.Var, int] = {}

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        self.idle = set()
        super().visit_global_function(gv, function)
        if self.idle:
            without_idle(self.builder, gv, self.idle)

    def visit_binding_block(self, block: ast.BindingBlock) -> None:
        super().visit_binding_block(block)
        if self.everywhere and type(block) is ast.BindingBlock:
            self._replaced()

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        super().visit_dataflow_block(block)
        self._replaced()

    def _replaced(self) -> None:
        """Replace what matches in the block at hand."""
        bindings = self._frame.bindings()
        candidates = [b for b in bindings if isinstance(b, ast.VarBinding)]
        self.users_of = users_in(candidates)
        self.rank = {binding.var: k for k, binding in enumerate(candidates)}
        by_var = {b.var: b for b in candidates}
        self.block_values = {b.var: b.value for b in candidates}
        done: set[ast.Var] = set()
        start = 0
        for attempt, found in self.context.matches(self, candidates, done):
            roots = {p: by_var[var] for p, var in found.items() if var in by_var}
            if not roots or not done.isdisjoint(found.values()):
                continue
            places = [_place(bindings, root, start) for root in roots.values()]
            start = min(places)
            stretch = slice(start, max(places) + 1)
            order = _order(bindings[stretch], list(roots.values()))
            if order is not None and all(map(self._may_move, (*order[0], *order[1]))):
                done.update(root.var for root in roots.values())
                first = next(iter(roots.values()))
                match = Match(ast.Var(""), first.value, attempt, True, self.builder)
                self._replace(match, roots, order, stretch)

    def _replace(
        self,
        match: Match,
        roots: Mapping[Pattern, ast.VarBinding],
        order: tuple[list[Binding], list[Binding]],
        stretch: slice,
    ) -> None:
        """Put new values in place of what matched, and what is computed from it behind them."""
        bindings, frame = self._frame.bindings(), self._frame
        count = len(bindings)
        values = self.replacement(match, self.block_values)
        if not values:
            del bindings[count:]
            return
        self.idle.update(each for each in match.values() if isinstance(each, ast.Var))
        given = {**values, **{var: values[p] for p, var in match.items() if p in values}}  # type: ignore[misc]
        rebound: list[Binding] = []
        once = _EmittedOnce(self)
        for root in roots.values():
            if root.var in given:
                value = once.value(taken.value(given[root.var], self.place))
                value = frame.flat(value, self.place)
                self._fits(root.var, value)
                frame.values[root.var] = value
                root = ast.VarBinding(root.var, value, self.place, self.place)
            rebound.append(root)
        made = [*bindings[count:], *rebound]
        del bindings[count:]
        before, behind = order
        self._in_scope(made, behind, max(self.rank[root.var] for root in roots.values()))
        bindings[stretch] = [*before, *made, *behind]

    def _may_move(self, binding: Binding) -> bool:
        return self._frame.is_dataflow or _may_move(binding)

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
        return self.users_of.get(var, ())

    def counting(self, var: ast.Var) -> Callable[[], int]:
        """What gives the number of these values."""
        return lambda: len(self.users(var))


class _EmittedOnce(Rewriter):
    """Emits each call inside of new values once, though several values share it."""

    def __init__(self, around: TogetherRewriter) -> None:
        super().__init__()
        self._around = around
        self._emitted: dict[ast.Call, ast.Var] = {}
        self._outer: ast.Call | None = None

    def value(self, value: Expr) -> Expr:
        """A new value, in which variables stand for calls."""
        self._outer = value if isinstance(value, ast.Call) else None
        return self.expr(value)

    def call(self, call: ast.Call) -> Expr:
        known = self._emitted.get(call)
        if known is not None:
            return known
        outermost, self._outer = call is self._outer, None
        made = super().call(call)
        if outermost:
            return made
        known = self._emitted[call] = self._around.builder.emit(made)
        return known


def _place(bindings: Sequence[Binding], binding: Binding, start: int) -> int:
    """Where a binding stands, mostly behind the last one that was looked for."""
    try:
        return bindings.index(binding, start)
    except ValueError:
        return bindings.index(binding)


def _may_move(binding: Binding) -> bool:
    """Whether a binding has no effects, and overwrites nothing."""
    value: Expr = binding.value  # type: ignore[attr-defined]
    if not isinstance(value, ast.Call):
        return not isinstance(value, ast.If | ast.SeqExpr | ast.Function)
    operator = lookup(value.op_name)
    return operator is not None and operator.pure and operator.name not in IN_PLACE


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
