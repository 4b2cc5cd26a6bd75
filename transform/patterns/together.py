"""Several bindings of a dataflow block that match together, replaced at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from rlx.checker.memory import IN_PLACE
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, Expr, IRModule, StructInfo
from rlx.grammar.nodes.python_places import MisuseError, callable_of, described, here, spelt
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import expressions, reached
from rlx.grammar.print.printer import show
from rlx.operators.registry import lookup
from rlx.solver.order import subtype
from rlx.solver.prover import Prover
from rlx.transform.builder import taken
from rlx.transform.builder.errors import misuse
from rlx.transform.patterns.attempt import Match, Users
from rlx.transform.patterns.context import PatternContext, users_in
from rlx.transform.patterns.pattern import Pattern
from rlx.transform.patterns.rewriting import in_order, settled
from rlx.transform.visitors.mutator import ExprMutator

Replacements = Mapping[Pattern | ast.Var, object]
Replacing = Callable[[Match, Mapping[ast.Var, Expr]], Replacements | None]
Rewriting = TypeVar("Rewriting", IRModule, ast.Function)


@spelt
def rewrite_bindings(ctx: PatternContext, rewriter: Replacing, func: Rewriting) -> Rewriting:
    """Replace groups of bindings that match several patterns together.

    The bindings are in one dataflow block, in any order. If one is computed from another, and the
    new values cannot be computed before it, they stay.

    Parameters
    ----------
    ctx
        The patterns.
    rewriter
        Called with each match, whose values are variables, and with the values of the block's
        variables. Returns the new values by the variables, or by the patterns, that they replace;
        None to keep all. A call that occurs in several values is emitted once. What it emits with
        ``match.builder`` comes before them. In a function that changes, copies, equal values and
        unused values go.
    func
        A function or a module.

    Raises
    ------
    MisuseError
        If it is not a context.
    BuildError
        If a new value violates a rule, or its struct info is less precise than that of the old one.
    """
    in_order("rewrite_bindings", ctx=ctx, rewriter=rewriter, func=func)
    if not isinstance(ctx, PatternContext):
        raise MisuseError(f"expected a PatternContext, found {described(ctx)}", here())
    return settled(func, [lambda module: TogetherRewriter(ctx, rewriter)(module)], once=True)


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
        self.replacement = callable_of(replacement, "a match and the block's values", 2)
        self.users_of: Users = {}
        self.block_values: dict[ast.Var, Expr] = {}
        self.rank: dict[ast.Var, int] = {}

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
            roots = [by_var[var] for var in found.values() if var in by_var]
            if roots and done.isdisjoint(found.values()):
                done.update(root.var for root in roots)
                match = Match(ast.Var(""), roots[0].value, attempt, True, self.builder)
                start = self._replace(match, by_var, start)

    def _replace(self, match: Match, by_var: Mapping[ast.Var, ast.VarBinding], start: int) -> int:
        """Put new values in place of old ones, and what is computed from them behind them. Return
        the place of the first one.
        """
        bindings, frame = self._frame.bindings(), self._frame
        count = len(bindings)
        values = self.replacement(match, self.block_values)
        if not isinstance(values, Mapping | None):
            wanted = "expected new values by the variables that they replace"
            raise misuse(f"{wanted}, found {described(values)}", self.place)
        values = values or {}
        for key in values:
            if not isinstance(key, ast.Var | Pattern):
                raise misuse(f"expected variables or patterns, found {described(key)}", self.place)
        given = {**values, **{var: values[p] for p, var in match.items() if p in values}}  # type: ignore[misc]
        old = {by_var[var] for var in given if var in by_var}
        made = bindings[count:]
        del bindings[count:]
        if not old:
            return start
        places = [_place(bindings, each, start) for each in old]
        stretch = slice(min(places), max(places) + 1)
        order = _order(bindings[stretch], old)
        if order is None or not all(map(self._may_move, (*order[0], *order[1]))):
            return start
        before, behind = order
        bindings += made
        once = _EmittedOnce(self)
        for at, each in enumerate(behind):
            if each in old:
                value = once.value(taken.value(given[each.var], self.place))
                value = frame.flat(value, self.place)
                self._fits(each.var, value)
                frame.values[each.var] = value
                behind[at] = ast.VarBinding(each.var, value, self.place, self.place)
        made = [*bindings[count:], *behind]
        del bindings[count:]
        late = self._out_of_scope(made, max(self.rank[each.var] for each in old))
        if late is None:
            bindings[stretch] = [*before, *made]
            return stretch.start
        if any(by_var.get(var) in old for each in old for var in _computed_from(each, by_var)):
            frame.values.update((each.var, each.value) for each in old)
            return start
        words = f"{late.name_hint} is computed from what is replaced, or after it"
        raise misuse(f"{words}, so the new values cannot use it", self.place)

    def _may_move(self, binding: Binding) -> bool:
        return self._frame.is_dataflow or _may_move(binding)

    def _out_of_scope(self, made: list[Binding], last: int) -> ast.Var | None:
        """A variable that new values use and that is bound behind them."""
        later = {b.var for b in made if isinstance(b, ast.VarBinding)}
        for binding in made:
            for var in _mentioned(binding):
                if var in later or self.rank.get(var, 0) > last:
                    return var
            if isinstance(binding, ast.VarBinding):
                later.discard(binding.var)
        return None

    def _fits(self, var: ast.Var, value: Expr) -> None:
        """Check that a new value is as precise as the old one, with which its uses were checked."""
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
        """The value that a variable is bound to."""
        return self.builder.lookup_binding(var)

    def info(self, expr: Expr) -> StructInfo | None:
        """The struct info of an expression."""
        return self._frame.state.info_of.get(expr)

    def users(self, var: ast.Var) -> Sequence[tuple[ast.Var | None, Expr]]:
        """The values of the block that mention a variable; one that outlives it has more users."""
        return self.users_of.get(var, ())

    def counting(self, var: ast.Var) -> Callable[[], int]:
        """A function that returns the number of these values."""
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
    """The position of a binding, mostly behind the last one that was looked for."""
    try:
        return bindings.index(binding, start)
    except ValueError:
        return bindings.index(binding)


def _may_move(binding: Binding) -> bool:
    """Whether a binding has no effects, and overwrites nothing."""
    value = binding.value
    if not isinstance(value, ast.Call):
        return not isinstance(value, ast.If | ast.SeqExpr | ast.Function)
    operator = lookup(value.op_name)
    return operator is not None and operator.pure and operator.name not in IN_PLACE


def _mentioned(binding: Binding) -> set[ast.Var]:
    value = binding.value
    return {expr for expr in expressions(value) if isinstance(expr, ast.Var)}


def _computed_from(
    binding: ast.VarBinding, by_var: Mapping[ast.Var, ast.VarBinding]
) -> set[ast.Var]:
    """The variables of a block from which a value is computed."""
    return reached(_mentioned(binding), lambda v: _mentioned(by_var[v]) if v in by_var else ())


def _order(
    bindings: Sequence[Binding], old: Collection[ast.VarBinding]
) -> tuple[list[Binding], list[ast.VarBinding]] | None:
    """The bindings between those that are replaced, in two parts: those that are not computed from
    them, and they themselves with the others. None if a cast is computed from one of them.
    """
    moved = {each.var for each in old}
    before: list[Binding] = []
    behind: list[ast.VarBinding] = []
    for binding in bindings:
        if binding in old or not moved.isdisjoint(_mentioned(binding)):
            if not isinstance(binding, ast.VarBinding):  # its variables of shapes may be used
                return None
            moved.add(binding.var)
            behind.append(binding)
        else:
            before.append(binding)
    return before, behind
