"""Finding and replacing matches of patterns in programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from rlx.checker.derive.state import DerivationState
from rlx.checker.normalize import normalize, normalize_function
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.python_places import (
    MisuseError,
    callable_of,
    described,
    here,
    module_of,
    spelt,
)
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import (
    bindings,
    bindings_in,
    evaluated,
    expressions,
    reached_functions,
    result_of,
)
from rlx.grammar.stack import recursion_room
from rlx.solver.prover import Prover
from rlx.transform.builder import taken
from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.builder.states import Signatures, signatures_of
from rlx.transform.certain import Certainty
from rlx.transform.patterns.attempt import Attempt, Match, MatchedValues, Users
from rlx.transform.patterns.context import PatternContext, fits_head
from rlx.transform.patterns.expressions import COMPUTED
from rlx.transform.patterns.pattern import Pattern, PatternError, alternatives, expected
from rlx.transform.visitors.dispatch import module_around
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import Without, unneeded

Replacement = Callable[[Match], Expr | None]
Rewriting = TypeVar("Rewriting", IRModule, ast.Function)


@spelt
def rewrite(module: Rewriting, pattern: Pattern, replacement: Replacement) -> Rewriting:
    """Replace the matches of a pattern in a module or a function.

    Each binding is visited once, in order; replacements of earlier ones are visible. Values that
    became unused are removed if they cannot fail. A function without a match is returned as it is.

    Parameters
    ----------
    replacement
        Called with each match. Returns the new value, or None or the old value to leave it; then
        the other ways in which the pattern matches are tried. ``match[part]`` is the expression
        that a part of the pattern matched, in the new program.

    Raises
    ------
    BuildError
        If a new value violates a rule.
    """
    in_order("rewrite", module=module, pattern=pattern, replacement=replacement)
    return _Replacing(pattern, callable_of(replacement, "a match", 1))(module)


@spelt
def rewrite_call(
    pattern: Pattern,
    rewriter: Callable[[Expr, Match], Expr | None],
    func: Rewriting,
) -> Rewriting:
    """Replace the matches of a pattern until none is left, as TVM does. In a function that changes,
    copies, equal values and unused values go, too. :func:`rewrite` replaces each match once.

    Parameters
    ----------
    rewriter
        Called with the matched expression and the match. It returns the new value, or the old one
        to leave it.
    func
        A function or a module.

    Raises
    ------
    PatternError
        If the replacements match again and again.
    """
    in_order("rewrite_call", pattern=pattern, rewriter=rewriter, func=func)
    asked = callable_of(rewriter, "an expression and a match", 2)
    return settled(func, [replacing(pattern, lambda match: asked(match.value, match))])


def in_order(name: str, **given: object) -> None:
    """Raise MisuseError if the arguments of a function that rewrites are swapped.

    Parameters
    ----------
    name
        The function.
    given
        What its parameters got, in their order.
    """
    kinds = [next((k for k, kind in enumerate(_KINDS) if kind(v)), -1) for v in given.values()]
    wanted = [_ROLES[parameter] for parameter in given]
    if kinds != wanted and sorted(kinds) == sorted(wanted):
        raise MisuseError(f"the arguments are swapped: write {name}({', '.join(given)})", here())


# A Relax function can be called, too: it is asked for before what is only a callable.
_KINDS: tuple[Callable[[object], bool], ...] = (
    lambda each: isinstance(each, Pattern | PatternContext),
    lambda each: isinstance(each, IRModule | ast.Function),
    callable,
)
_ROLES = {"pattern": 0, "ctx": 0, "module": 1, "func": 1, "replacement": 2, "rewriter": 2}
"""Which of the kinds a parameter takes."""


def replacing(pattern: Pattern, replacement: Replacement) -> Callable[[IRModule], IRModule]:
    """A step for :func:`settled`, which removes what becomes unused."""
    return _Round(pattern, replacement)


class _Round:
    """One round of replacements. Of alternatives, ``p | q``, a later one is tried only where no
    earlier one matches anything.

    Attributes
    ----------
    replaced
        The variables of what the pattern computes, which the new values stand for.
    """

    def __init__(self, pattern: Pattern, replacement: Replacement) -> None:
        self._ways = [*alternatives(expected(pattern))]
        self._replacement = replacement
        self.replaced: set[ast.Var] = set()

    def __call__(self, module: IRModule) -> IRModule:
        self.replaced = set()
        for way in self._ways:
            mutator = _Replacing(way, self._replacement, cleans=False)
            found = mutator(module)
            if found is not module:
                self.replaced = mutator.replaced
                return found
        return module


def settled(
    subject: Rewriting, steps: Sequence[Callable[[IRModule], IRModule]], once: bool = False
) -> Rewriting:
    """A module or a function after rewriting steps, which are repeated until they change nothing,
    or run ``once``.

    Raises
    ------
    PatternError
        If they never end.
    """
    if isinstance(subject, ast.Function):
        gv, around = module_around(subject)
        return settled(around, steps, once).functions[gv]  # type: ignore[return-value]
    module = module_of(subject)
    first = module
    for number in range(ROUNDS):
        before = module
        for step in steps:
            module = step(module)
        if module is before:
            return before
        old = before.functions
        replaced = {v for step in steps for v in (step.replaced if type(step) is _Round else ())}
        changed = {gv for gv, f in module.functions.items() if f is not old.get(gv)}
        module = _tidy(module, changed, replaced)
        new = module.functions.items()
        if all(f is old.get(gv) or (gv in old and _equal(f, old[gv])) for gv, f in new):
            return before
        if once:
            return module
        if number and _size(module) > GROWTH * (1 + _size(first)):
            break
    words = "what takes the place of a match matches again and again"
    raise PatternError(f"{words}: rewrite(module, pattern, …) replaces each match once")


ROUNDS = GROWTH = 100
"""The number of rounds, and the growth of the module, after which rewriting is given up."""


def _equal(new: Node, old: Node) -> bool:
    """Whether two functions are equal; most are told apart by what they compute."""
    return _kinds(new) == _kinds(old) and structural_equal(new, old)


def _kinds(function: Node) -> list[str]:
    values = [binding.value for binding in bindings(function)]
    return [v.op_name if isinstance(v, ast.Call) else type(v).__name__ for v in values]


def _size(module: IRModule) -> int:
    return sum(1 for f in module.relax_functions.values() for _ in bindings(f))


def _tidy(
    module: IRModule, changed: Collection[ast.GlobalVar], replaced: Collection[ast.Var]
) -> IRModule:
    """A module in which the functions that changed have no copies, equal values and unused
    values; those that were replaced go even if they may fail.
    """
    from rlx.transform.passes.common_subexpressions import Common, writes
    from rlx.transform.passes.dead_code import dead_code
    from rlx.transform.passes.simple import CanonicalizeBindings

    every = module.functions
    live = reached_functions(changed, every)
    part = replace(module, functions={gv: f for gv, f in every.items() if gv in live})
    for _ in range(ROUNDS if changed else 0):
        merged = part if writes(part) else Common(calls=False)(part)
        found = CanonicalizeBindings().apply(merged)
        part = dead_code(found)
        if found is merged:
            break
    if replaced:
        around = signatures_of(part)
        part = part.map_relax_functions(
            lambda gv, f: without(f, around, replaced, True) if gv in changed else f
        )
    return replace(
        module,
        functions={gv: part.functions[gv] if gv in changed else f for gv, f in every.items()},
    )


@spelt
def find(subject: IRModule | ast.Function, pattern: Pattern) -> list[Match]:
    """The matches of a pattern in the order of the text, without changing the program."""
    expected(pattern)
    module = subject
    if isinstance(subject, ast.Function):
        _, module = module_around(subject)
    module = normalize(module_of(module))
    around = signatures_of(module)
    functions = module.relax_functions.values()
    return [match for function in functions for match in _found(function, pattern, around)]


def get_var2val(function: ast.Function) -> dict[ast.Var, Expr]:
    """The value of each variable that a function binds."""
    if not isinstance(function, Node):
        raise MisuseError(f"expected a function, found {described(function)}", here())
    return {b.var: b.value for b in bindings(function) if type(b) is ast.VarBinding}


def _found(function: ast.Function, pattern: Pattern, around: Signatures) -> Iterator[Match]:
    """The first match at each binding of a function in normal form."""
    local: set[ast.Var] | None = None
    for var, value, attempt in _attempts(_values(function, around), pattern):
        if local is None:
            blocks = evaluated(function, ast.DataflowBlock)
            local = {b.var for block in blocks for b in bindings(block) if b.var is not None}
        yield Match(var, value, attempt, var in local)


def _values(function: ast.Function, around: Signatures) -> MatchedValues:
    return MatchedValues(get_var2val(function), around, function, lambda: _users(function))


def _attempts(around: MatchedValues, pattern: Pattern) -> Iterator[tuple[ast.Var, Expr, Attempt]]:
    """The first attempt at each binding that succeeds; it is undone behind the next one."""
    heads = pattern.heads
    for var, value in around.values.items():
        if heads is not None and not fits_head(value, heads):
            continue
        if isinstance(value, _WITH_BLOCKS):
            continue
        attempt = Attempt(around)
        for _ in pattern.matches(var, attempt):
            yield var, value, attempt
            break


def without_idle(builder: BlockBuilder, gv: ast.GlobalVar, idle: Collection[ast.Var]) -> None:
    """Remove those of some variables of a function that are unused now and cannot fail."""
    function = builder.lookup_func(gv)
    assert isinstance(function, ast.Function)
    builder.put(gv, without(function, builder.signatures, idle, False), keep=True)


def without(
    function: ast.Function, around: Signatures, idle: Collection[ast.Var], may_fail: bool
) -> ast.Function:
    """A function without those of some variables that are unused.

    Parameters
    ----------
    may_fail
        Whether pure values that may fail go, too.
    """
    certain = Certainty(function, around)

    def may_go(var: ast.Var, value: Expr) -> bool:
        return var in idle and (certain.cannot_fail(value) or (may_fail and certain.is_pure(value)))

    gone = unneeded(function, may_go)
    return Without(gone).function(function) if gone else function


_WITH_BLOCKS = (ast.Function, ast.If, ast.SeqExpr)


class _Replacing(ExprMutator):
    """Looks at each binding with the pattern.

    Parameters
    ----------
    cleans
        Whether matched values that are unused then and cannot fail go.
    """

    def __init__(self, pattern: Pattern, replacement: Replacement, cleans: bool = True) -> None:
        self.cleans = cleans
        self.pattern = expected(pattern)
        self.replacement = replacement
        self.around = MatchedValues({})
        self.old_state: DerivationState | None = None
        self.pending_var: ast.Var | None = None
        self.pending_value: Expr | None = None
        self.idle: set[ast.Var] = set()
        self.replaced: set[ast.Var] = set()
        """Those that the pattern computes, of all functions."""
        self.old: dict[ast.Var, ast.Var] = {}
        self.changed = False
        """Whether a function became another one for its callers."""

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        normal = normalize_function(function)
        around = _values(normal, self.builder.signatures)
        if not self.changed and next(_attempts(around, self.pattern), None) is None:
            return
        self.around, self.idle, self.old = around, set(), {}
        self.old_function, self.old_state = normal, None
        super().visit_global_function(gv, normal)
        new = self.builder.lookup_func(gv)
        assert isinstance(new, ast.Function)
        if new is normal:
            self.builder.put(gv, function, keep=True)
            return
        self.changed = self.changed or (new is not function and function.ret_struct_info is None)
        if self.idle and self.cleans:
            without_idle(self.builder, gv, self.idle)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        value = binding.value
        if isinstance(value, _WITH_BLOCKS):
            super().visit_var_binding(binding)
            return
        if type(value) is not ast.Call or not self.is_kept(value):
            value = self.visit_expr(value)
        if self.pattern.heads is not None and not fits_head(value, self.pattern.heads):
            self._rebound(binding, value)
            return
        attempt = Attempt(self)
        found = None
        self.pending_var, self.pending_value = binding.var, value
        in_dataflow = self._frame.is_dataflow
        emitted = self._frame.bindings()
        for _ in self.pattern.matches(binding.var, attempt):
            match = Match(binding.var, value, attempt, in_dataflow, self.builder)
            before = len(emitted)
            found = self.replacement(match)
            if found is not None and found is not value:
                found = taken.value(found, self.place)
                inside = [(p, each) for p, each in match.items() if isinstance(each, ast.Var)]
                computed = [each for p, each in inside if isinstance(p, COMPUTED)]
                self.replaced.update(each for var in computed for each in self._named(var))
                self.idle.update(self.replaced, [each for _, each in inside])
                self.idle.discard(binding.var)
                self.replaced.discard(binding.var)
                break
            del emitted[before:]
            found = None
        self.pending_var = self.pending_value = None
        self._rebound(binding, value if found is None else found)

    def _named(self, var: ast.Var) -> Iterator[ast.Var]:
        """A variable, and those that it is a copy of."""
        named: Expr | None = var
        while isinstance(named, ast.Var):
            yield named
            named = self.value(named)

    def _rebound(self, binding: ast.VarBinding, value: Expr) -> None:
        new = self.rebind(binding, value)
        if new is not binding.var:
            self.old[new] = binding.var

    # ------------------------------------------------------------ what patterns ask

    @property
    def prover(self) -> Prover:
        """The prover of the function at hand."""
        return self._frame.state.prover

    def value(self, var: ast.Var) -> Expr | None:
        """The value of a variable; one that is bound later has its old value."""
        if var is self.pending_var:
            return self.pending_value
        known = self._frame.values.get(var)
        later = self.around.values.get(var) if known is None else None
        return known if later is None else _Renamed(self._vars).expr(later)

    def info(self, expr: Expr) -> StructInfo | None:
        """The struct info of an expression."""
        if expr is self.pending_var:
            assert self.pending_value is not None
            return self._frame.derived(self.pending_value, self.place)
        found = self._frame.state.info_of.get(expr)
        if found is None and isinstance(expr, ast.Var):
            found = self._old_info(expr)
        return found

    def _old_info(self, var: ast.Var) -> StructInfo | None:
        """The struct info, in the old program, of a variable that is bound later in the new one."""
        if self.old_state is None:
            self.old_state = self.builder.derivation(self.around.values)
            with recursion_room():
                self.old_state.info(self.old_function)
        return self.old_state.info_of.get(var)

    def users(self, var: ast.Var) -> Sequence[tuple[ast.Var | None, Expr]]:
        """The values of the old program that mention a variable."""
        found = self.around.users(self.old.get(var, var))
        return [(user, _Renamed(self._vars).expr(value)) for user, value in found]

    def counting(self, var: ast.Var) -> Callable[[], int]:
        """A function that counts these values."""
        return self.around.counting(self.old.get(var, var))


class _Renamed(Rewriter):
    """An expression of the old program with the variables of the new one."""

    def __init__(self, names: Mapping[ast.Var, Expr]) -> None:
        super().__init__()
        self._names = names

    def var(self, var: ast.Var) -> Expr:
        return self._names.get(var, var)


def _users(function: ast.Function) -> Users:
    """The values that mention each variable, and the results of sequences."""
    found: dict[ast.Var, list[tuple[ast.Var | None, Expr]]] = {}
    bodies: list[Expr] = [function.body]
    while bodies:
        body = bodies.pop()
        for binding in bindings_in(body):
            value = binding.value
            match value:
                case ast.If(true_branch=then, false_branch=otherwise):
                    bodies += (then, otherwise)
                case ast.Function(body=inner):
                    bodies.append(inner)
                case ast.Call() | ast.Tuple() | ast.TupleGetItem() | ast.Var():
                    for var in {e for e in expressions(value) if isinstance(e, ast.Var)}:
                        found.setdefault(var, []).append((binding.var, value))
        result, _ = result_of(body)
        for leaf in expressions(result):
            if isinstance(leaf, ast.Var):
                found.setdefault(leaf, []).append((None, result))
    return found
