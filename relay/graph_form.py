"""Conversion of A-normal form to graphs: lets become shared nodes where this keeps the meaning."""

from __future__ import annotations

from rlx.grammar.nodes.node import replace
from rlx.relay.anf import rebuilt, to_anf
from rlx.relay.nodes import (
    RelayCall,
    RelayExpr,
    RelayFunction,
    RelayIf,
    RelayLet,
    RelayModule,
    RelayVar,
    operands,
)
from rlx.relay.scopes import EvaluationScope, Schedule
from rlx.spec.registry import rule


def to_graph(module: RelayModule) -> RelayModule:
    """The module in graph form.

    A let stays where the graph would compute its value in another scope, in another order or not at
    all, where it says a type, and where its function calls itself.
    """
    normal = to_anf(module)
    functions = {
        var: replace(function, body=graph_of(function.body))
        for var, function in normal.functions.items()
    }
    return RelayModule(functions, module.text)


@rule("RL-graph", "Relay scope")
def graph_of(body: RelayExpr) -> RelayExpr:
    """A body in graph form: tried without lets, and with those that make a difference."""
    schedule = Schedule(body)
    lets = [node for node, binds in schedule.order if binds and isinstance(node, RelayLet)]
    kept = _always_kept(schedule)
    by_scope: dict[EvaluationScope, set[RelayLet]] = {}
    for let in lets:
        if _computes(let.value) or isinstance(let.value, RelayFunction):
            by_scope.setdefault(schedule.binding_scope[let], set()).add(let)
    while True:
        graph = _Graph(schedule, kept)
        more: set[RelayLet] = set()
        for scope, other in graph.different():
            mine = by_scope.get(scope, set())
            moved = {let for let in mine - kept if not graph.stays(let, other)}
            more |= moved or mine - kept
        if not more:
            return graph.body
        kept = kept | more


def _always_kept(schedule: Schedule) -> set[RelayLet]:
    """Lets that say a type, and those of functions that call themselves."""
    found: set[RelayLet] = set()
    mentioned: set[RelayExpr] = set()
    for node, binds in schedule.order:
        if binds and isinstance(node, RelayLet):
            if node.var.annotation is not None or node.var in mentioned:
                found.add(node)
        else:
            mentioned.update(part for part in operands(node) if isinstance(part, RelayVar))
    return found


def _computes(node: RelayExpr) -> bool:
    """Whether it can be seen when and how often a node is evaluated: it may fail, or take time."""
    return isinstance(node, RelayCall | RelayIf)


class _Graph:
    """A body with some of its lets, the others being shared nodes.

    Attributes
    ----------
    body
        The body.
    """

    def __init__(self, schedule: Schedule, kept: set[RelayLet]) -> None:
        self._schedule = schedule
        self._new: dict[RelayExpr, RelayExpr] = {}
        self._kept = kept
        for node, binds in schedule.order:
            if isinstance(node, RelayLet):
                if binds and node not in kept:
                    self._new[node.var] = self._of(node.value)
                elif not binds:
                    self._new[node] = self._end(node)
            else:
                self._new[node] = rebuilt(node, self._of, self._inner)
        self.body = self._of(schedule.root.result)

    def _of(self, node: RelayExpr) -> RelayExpr:
        return self._new.get(node, node)

    def _inner(self, node: RelayExpr, number: int) -> RelayExpr:
        return self._of(self._schedule.inner[node][number].result)

    def _end(self, let: RelayLet) -> RelayExpr:
        body = self._of(let.body)
        return replace(let, value=self._of(let.value), body=body) if let in self._kept else body

    def different(self) -> list[tuple[EvaluationScope, EvaluationScope | None]]:
        """The scopes of the old body that would not compute what they did, or in another order;
        with what became of them, None if they are gone.
        """
        self._made = made = Schedule(self.body)
        pairs: list[tuple[EvaluationScope, EvaluationScope | None]] = []
        pairs.append((self._schedule.root, made.root))
        for node, scopes in self._schedule.inner.items():
            now = made.inner.get(self._new[node], (None, None))
            pairs += zip(scopes, now, strict=False)
        return [(old, new) for old, new in pairs if new is None or not self._alike(old, new)]

    def stays(self, let: RelayLet, scope: EvaluationScope | None) -> bool:
        """Whether the value of a let is computed in a scope."""
        return self._made.scope_of.get(self._new[let.value]) is scope

    def _alike(self, old: EvaluationScope, new: EvaluationScope) -> bool:
        """Whether two scopes compute the same in one order, and make the same functions."""
        before = [self._new[item] for item in old.items if _computes(item)]
        after = [item for item in new.items if _computes(item)]
        made = {self._new[item] for item in old.items if isinstance(item, RelayFunction)}
        makes = {item for item in new.items if isinstance(item, RelayFunction)}
        same = len(before) == len(after) and all(map(lambda a, b: a is b, before, after))
        return same and made == makes
