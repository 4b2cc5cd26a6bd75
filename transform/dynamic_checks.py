"""Elimination of run-time checks that cannot fail.

A redundant cast becomes a plain binding. The checks of signatures have no text of their own, so a
:class:`CheckPlan` beside the module says which of their comparisons may be skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlx.checker.derive import known_infos
from rlx.checker.dynamic_checks import DynamicCheck, analyse
from rlx.checker.dynamic_checks.uses import Survey
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Binding, IRModule, StructInfo
from rlx.grammar.nodes.node import Node, Record
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import bindings, sequences
from rlx.solver.order import substitute, substitute_prim, subtype
from rlx.solver.prover import Prover

__all__ = ["CheckPlan", "DynamicCheck", "analyse", "eliminate", "plan"]


class CheckPlan(Record):
    """The checks whose comparisons (the second phase of E-cast) may be skipped in a run.

    The first phase, which gives shape variables their numbers, is never skipped. The plan is valid
    for runs that begin at functions with a ``global_symbol``.

    Attributes
    ----------
    casts
        Bindings of the module's normal form.
    entries
        For each function, the positions of the parameters that need not be compared.
    returns
        Functions whose result need not be compared.
    """

    casts: frozenset[ast.MatchCast]
    entries: Mapping[ast.Function, frozenset[int]]
    returns: frozenset[ast.Function]


def plan(module: IRModule) -> CheckPlan:
    """The comparisons that a run of the module, in normal form, may skip.

    Parameters
    ----------
    module
        Well-formed and without errors.
    """
    proved = [check for check in analyse(module, public=False) if check.comparisons_proved]
    entries: dict[ast.Function, set[int]] = {}
    returns: set[ast.Function] = set()
    for check in proved:
        match check.kind:
            case "entry":
                at = next(i for i, param in enumerate(check.owner.params) if param is check.node)
                entries.setdefault(check.owner, set()).add(at)
            case "return":
                returns.add(check.owner)
    return CheckPlan(
        frozenset(c.node for c in proved if isinstance(c.node, ast.MatchCast)),
        {function: frozenset(positions) for function, positions in entries.items()},
        frozenset(returns),
    )


def eliminate(module: IRModule, *, replace_variables: bool = True) -> IRModule:
    """The module without redundant casts.

    Parameters
    ----------
    module
        Well-formed and without errors.
    replace_variables
        Whether to remove casts that bind shape variables if each variable is known to equal an
        expression over variables in scope. This expression then replaces the variable everywhere.
        Otherwise every cast that binds a variable is kept.

    Returns
    -------
    IRModule
        In normal form; ``module`` itself if there is nothing to remove.

    Notes
    -----
    A cast that binds a variable becomes ``name = value``, with the variable's annotation; a cast
    without a variable is removed. Needed and impossible casts are kept, and those from which the
    type of a function value is derived. A second run finds nothing to remove.
    """
    normal = normalize(module)
    removable: dict[Node, DynamicCheck] = {}
    for check in analyse(normal):
        redundant = check.kind == "cast" and check.status == "redundant"
        if redundant and (replace_variables or all(p.var is None for p in check.open_parts)):
            removable[check.node] = check
    before = _derived_values(normal) if removable else []
    while removable:
        eliminator = _Eliminator(removable)
        found = eliminator.module(normal)
        changed = _changed(before, _derived_values(found) if before else [], eliminator.replaced)
        if not changed:
            return found
        inside = {inner for outer in changed for inner in sequences(outer)}
        left = {node: check for node, check in removable.items() if check.owner not in inside}
        removable = left if len(left) < len(removable) else {}
    return module


def _derived_values(module: IRModule) -> list[tuple[ast.Function, StructInfo]]:
    """The functions that are used as values, whose type at run time is derived from their bodies,
    in the order of the text.
    """
    values = Survey(module).as_values
    found = [
        function
        for gv, outermost in module.relax_functions.items()
        for function in [
            *((outermost,) if gv in values else ()),
            *(b.value for b in bindings(outermost) if b.var in values),
        ]
        if isinstance(function, ast.Function) and function.ret_struct_info is None
    ]
    info = known_infos(module) if found else {}
    return [(function, info[function]) for function in found]


def _changed(
    before: Sequence[tuple[ast.Function, StructInfo]],
    after: Sequence[tuple[ast.Function, StructInfo]],
    images: Mapping[tir.Var, PrimExpr],
) -> set[ast.Function]:
    """The functions that pass other checks than before: their types are not equal."""
    prover = Prover()
    changed: set[ast.Function] = set()
    for (function, was), (_, now) in zip(before, after, strict=True):
        known = substitute(was, images)
        same = subtype(known, now, prover).proved and subtype(now, known, prover).proved
        if not same:
            changed.add(function)
    return changed


class _Eliminator(Rewriter):
    """Takes casts out, and puts expressions in place of the variables that they bound.

    Attributes
    ----------
    images
        The expressions for the variables in scope.
    replaced
        Those for all variables so far.
    """

    def __init__(self, removable: Mapping[Node, DynamicCheck]) -> None:
        super().__init__()
        self.removable = removable
        self.images: dict[tir.Var, PrimExpr] = {}
        self.replaced: dict[tir.Var, PrimExpr] = {}

    def function(self, function: ast.Function) -> ast.Function:
        """A function; the variables that its casts bind end with it."""
        outside = dict(self.images)
        try:
            return super().function(function)
        finally:
            self.images = outside

    def match_cast(self, binding: ast.MatchCast) -> tuple[Binding, ...]:
        check = self.removable.get(binding)
        if check is None:
            return super().match_cast(binding)
        value = self.expr(binding.value)
        for part in check.open_parts:
            assert part.var is not None and part.image is not None
            self.images[part.var] = self.replaced[part.var] = self.prim_expr(part.image)
        if binding.var is None:
            return ()
        var = self.define(binding.var)
        return (ast.VarBinding(var, value, binding.value_span, binding.span),)

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        return substitute_prim(expr, self.images, in_place=True) if self.images else expr

    def struct_info(self, info: StructInfo) -> StructInfo:
        """By substitution, which renames what a function type binds where that is needed."""
        mapping: dict[Any, Any] = {**self.images, **self.renamed}
        return substitute(info, mapping) if mapping else info
