"""Graphs to A-normal form: every node is bound by a let, in the scope that evaluates it."""

from __future__ import annotations

from collections.abc import Callable

from rlx.grammar.nodes.node import replace
from rlx.relay.nodes import (
    ATOMS,
    RelayCall,
    RelayExpr,
    RelayFunction,
    RelayIf,
    RelayLet,
    RelayModule,
    RelayProjection,
    RelayTuple,
    RelayVar,
)
from rlx.relay.scopes import EvaluationScope, Schedule


def to_anf(module: RelayModule) -> RelayModule:
    """The module in A-normal form.

    Operands are variables, constants and names of functions. A node that was shared is bound once,
    in the innermost scope around its uses: the body of a function or a branch of an if.
    """
    functions = {
        var: replace(function, body=_Normalizer(function.body).result())
        for var, function in module.functions.items()
    }
    return RelayModule(functions, module.text)


class _Normalizer:
    """Puts the body of one function into A-normal form."""

    def __init__(self, body: RelayExpr) -> None:
        self._body = body
        self._schedule = Schedule(body)
        self._new: dict[RelayExpr, RelayExpr] = {}
        self._bound: dict[EvaluationScope, list[tuple[RelayVar, RelayExpr]]] = {}
        self._direct: dict[RelayExpr, RelayExpr] = {}
        self._count = 0
        self._names = _names(self._schedule)
        self._values = frozenset(
            node.value
            for node, binds in self._schedule.order
            if binds and isinstance(node, RelayLet) and self._schedule.uses[node.value] == 1
        )

    def result(self) -> RelayExpr:
        """The body: lets, and the atom that they lead to."""
        for node, binds in self._schedule.order:
            if binds:
                assert isinstance(node, RelayLet)
                value = self._direct.pop(node.value, None) or self._atom(node.value)
                self._bind(self._schedule.binding_scope[node], node.var, value)
            elif isinstance(node, RelayLet):
                self._new[node] = self._atom(node.body)
            elif node in self._values:
                self._direct[node] = self._rebuilt(node)
            else:
                var = self._fresh(node)
                self._bind(self._schedule.scope_of[node], var, self._rebuilt(node))
                self._new[node] = var
        return self._nested(self._schedule.root)

    def _bind(self, scope: EvaluationScope, var: RelayVar, value: RelayExpr) -> None:
        self._bound.setdefault(scope, []).append((var, value))

    def _fresh(self, node: RelayExpr) -> RelayVar:
        while True:
            self._count += 1
            name = f"v{self._count}"
            if name not in self._names:
                return RelayVar(name, None, getattr(node, "span", None))

    def _atom(self, node: RelayExpr) -> RelayExpr:
        return node if isinstance(node, ATOMS) else self._new[node]

    def _rebuilt(self, node: RelayExpr) -> RelayExpr:
        inner = self._schedule.inner
        return rebuilt(node, self._atom, lambda node, at: self._nested(inner[node][at]))

    def _nested(self, scope: EvaluationScope) -> RelayExpr:
        """The lets of a scope around its result."""
        found = self._atom(scope.result)
        for var, value in reversed(self._bound.get(scope, [])):
            found = RelayLet(var, value, found, getattr(value, "span", None))
        return found


def rebuilt(
    node: RelayExpr,
    part: Callable[[RelayExpr], RelayExpr],
    inner: Callable[[RelayExpr, int], RelayExpr],
) -> RelayExpr:
    """A node with other parts.

    Parameters
    ----------
    part
        What stands in the place of a part.
    inner
        What stands in the place of a node's scope of that number: a body, or a branch.
    """
    match node:
        case RelayCall(op=op, args=args):
            return replace(node, op=part(op), args=tuple(map(part, args)))
        case RelayTuple(fields=fields):
            return replace(node, fields=tuple(map(part, fields)))
        case RelayProjection(value=value):
            return replace(node, value=part(value))
        case RelayIf(cond=cond):
            return replace(
                node, cond=part(cond), true_branch=inner(node, 0), false_branch=inner(node, 1)
            )
        case RelayFunction():
            return replace(node, body=inner(node, 0))
    return node


def _names(schedule: Schedule) -> frozenset[str]:
    """The names of variables that a function uses."""
    return frozenset(part.name for part in schedule.uses if isinstance(part, RelayVar))
