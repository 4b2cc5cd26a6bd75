"""Finding and replacing matches of patterns in programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlx.checker.derive.state import DerivationState
from rlx.checker.normalize import normalize, normalize_function
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo
from rlx.grammar.nodes.python_places import here, module_of
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import bindings, expressions
from rlx.grammar.stack import recursion_room
from rlx.operators.registry import lookup
from rlx.solver.prover import Prover
from rlx.transform.builder import taken
from rlx.transform.patterns.attempt import Attempt, Match
from rlx.transform.patterns.pattern import Pattern, expected
from rlx.transform.visitors.dispatch import callable_of
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import Without, unneeded

Users = dict[ast.Var, list[tuple[ast.Var | None, Expr]]]
Replacement = Callable[[Match], Expr | None]


def rewrite(module: IRModule, pattern: Pattern, replacement: Replacement) -> IRModule:
    """Replace the matches of a pattern in a module.

    Each binding is visited once, in order; replacements of earlier ones are visible. Values that
    became unused are removed if they are calls of pure operators.

    Parameters
    ----------
    replacement
        Called with each match. Returns the new value, or None to leave the old one. ``match[part]``
        is the expression that a part of the pattern matched, in the new program.

    Raises
    ------
    BuildError
        If a new value violates a rule.
    """
    return _Replacing(pattern, replacement)(module)


def find(module: IRModule, pattern: Pattern) -> list[Match]:
    """The matches of a pattern in the order of the text, without changing the program."""
    found: list[Match] = []

    def note(match: Match) -> None:
        found.append(match)

    rewrite(normalize(module_of(module, here())), pattern, note)
    return found


class _Replacing(ExprMutator):
    """Looks at each binding with the pattern."""

    def __init__(self, pattern: Pattern, replacement: Replacement) -> None:
        self.pattern = expected(pattern)
        self.replacement = callable_of(replacement, "a match", here())
        self.old_users: Users = {}
        self.old_values: dict[ast.Var, Expr] = {}
        self.old_state: DerivationState | None = None
        self.pending_var: ast.Var | None = None
        self.pending_value: Expr | None = None
        self.idle: set[ast.Var] = set()
        self.old: dict[ast.Var, ast.Var] = {}

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        normal = normalize_function(function)
        self.old_users, self.idle, self.old = _users(normal), set(), {}
        self.old_values = {b.var: b.value for b in bindings(normal) if type(b) is ast.VarBinding}
        self.old_function, self.old_state = normal, None
        super().visit_global_function(gv, normal)
        if self.idle:
            new = self.builder.lookup_func(gv)
            assert isinstance(new, ast.Function)
            gone = unneeded(new, lambda var, value: var in self.idle and _is_pure_call(value))
            kept = Without(gone).function(new)
            self.builder.put(gv, kept, keep=True)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Function | ast.If | ast.SeqExpr):
            super().visit_var_binding(binding)
            return
        value = self.visit_expr(binding.value)
        attempt = Attempt(self)
        found = None
        self.pending_var, self.pending_value = binding.var, value
        for _ in self.pattern.matches(binding.var, attempt):
            match = Match(binding.var, value, attempt, self.builder)
            found = self.replacement(match)
            if found is not None:
                found = taken.value(found, self.place)
                self.idle.update(e for e in match.values() if isinstance(e, ast.Var))
                self.idle.discard(binding.var)
            break
        self.pending_var = self.pending_value = None
        new = self.rebind(binding, value if found is None else found)
        self.old[new] = binding.var

    # ------------------------------------------------------------ what patterns ask

    @property
    def prover(self) -> Prover:
        """The prover of the function at hand."""
        return self._frame.state.prover

    def value(self, var: ast.Var) -> Expr | None:
        """What a variable is bound to; one that is bound later has its old value."""
        if var is self.pending_var:
            return self.pending_value
        known = self.builder.lookup_binding(var)
        later = self.old_values.get(var) if known is None else None
        return known if later is None else _Renamed(self._vars).expr(later)

    def info(self, expr: Expr) -> StructInfo | None:
        """What is known of an expression."""
        if expr is self.pending_var:
            assert self.pending_value is not None
            return self._frame.derived(self.pending_value, self.place)
        found = self._frame.state.info_of.get(expr)
        if found is None and isinstance(expr, ast.Var):
            found = self._old_info(expr)
        return found

    def _old_info(self, var: ast.Var) -> StructInfo | None:
        """What was known in the old program of a variable that is bound later in the new one."""
        if self.old_state is None:
            self.old_state = self.builder.derivation(self.old_values)
            with recursion_room():
                self.old_state.info(self.old_function)
        return self.old_state.info_of.get(var)

    def users(self, var: ast.Var) -> Sequence[tuple[ast.Var | None, Expr]]:
        """The values of the old program that mention a variable."""
        found = self._old_users(var)
        return [(user, _Renamed(self._vars).expr(value)) for user, value in found]

    def uses(self, var: ast.Var) -> int:
        """The number of these values."""
        return len(self._old_users(var))

    def _old_users(self, var: ast.Var) -> list[tuple[ast.Var | None, Expr]]:
        return self.old_users.get(self.old.get(var, var), [])


class _Renamed(Rewriter):
    """An expression of the old program with the variables of the new one."""

    def __init__(self, names: Mapping[ast.Var, Expr]) -> None:
        super().__init__()
        self._names = names

    def var(self, var: ast.Var) -> Expr:
        return self._names.get(var, var)


def _users(function: ast.Function) -> Users:
    """The values that mention each variable, and the results of sequences."""
    found: Users = {}
    for binding in bindings(function):
        value: Expr = binding.value
        inside = value if isinstance(value, ast.Call | ast.Tuple | ast.TupleGetItem) else None
        mentioned = expressions(value) if inside is not None or isinstance(value, ast.Var) else ()
        for var in {e for e in mentioned if isinstance(e, ast.Var)}:
            found.setdefault(var, []).append((binding.var, value))
    for seq in expressions(function):
        if isinstance(seq, ast.SeqExpr):
            for leaf in expressions(seq.body):
                if isinstance(leaf, ast.Var):
                    found.setdefault(leaf, []).append((None, seq.body))
    return found


def _is_pure_call(value: Expr) -> bool:
    operator = lookup(value.op_name) if isinstance(value, ast.Call) else None
    return operator is not None and operator.pure
