"""The place and order of evaluation of the nodes of a graph.

A text says of a node in no scope where it is computed; this tool computes it once, in the innermost
scope that holds all its uses: the lowest common ancestor. Scopes are the body of a function and the
branches of an if. The order in a scope is that of a walk from its result: parts first, from left to
right; what stands in a branch or in a closure but belongs to a scope around it is computed in front
of the if or the closure.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlx.relay.nodes import ATOMS, RelayExpr, RelayFunction, RelayIf, RelayLet, operands
from rlx.spec.registry import rule


class EvaluationScope:
    """A stretch of evaluation: a function's body or a branch.

    Attributes
    ----------
    parent
        The scope around it; None for the outermost.
    items
        What is evaluated in it, in order. A :class:`RelayLet` among them stands for the binding
        of its variable; its value stands in front of it, if it is no atom.
    result
        The expression that gives the scope's value.
    function
        The function literal around it; None in the body of a function of the module.
    """

    __slots__ = ("depth", "function", "items", "parent", "result")

    def __init__(
        self,
        parent: EvaluationScope | None,
        result: RelayExpr,
        function: RelayFunction | None = None,
    ) -> None:
        self.parent, self.result = parent, result
        self.depth: int = 0 if parent is None else parent.depth + 1
        outer = None if parent is None else parent.function
        self.function: RelayFunction | None = function or outer
        self.items: list[RelayExpr] = []


class Schedule:
    """The scopes of a function.

    Attributes
    ----------
    root
        The scope of its body.
    scope_of
        The scope of each node that is no atom.
    inner
        The scopes that a node opens: the body of a function; both branches of an if.
    uses
        How often each node is a part of another one, or the result of the function.
    binding_scope
        The scope in which each let binds its variable.
    order
        All nodes behind their parts. A let comes twice: when its variable is bound, with True, and
        at its end.
    """

    def __init__(self, body: RelayExpr, let_blocks: bool = False) -> None:
        self._let_blocks = let_blocks
        self.root = EvaluationScope(None, body)
        self.scope_of: dict[RelayExpr, EvaluationScope] = {}
        self.inner: dict[RelayExpr, tuple[EvaluationScope, ...]] = {}
        self.uses: dict[RelayExpr, int] = {}
        self.binding_scope: dict[RelayExpr, EvaluationScope] = {}
        self._tails = _tails(body) if let_blocks else frozenset()
        self.order = order = list(_evaluation_order(body, self.uses))
        self._place(body, order)
        for node, binds in order:
            if binds:
                self.binding_scope[node].items.append(node)
            elif not isinstance(node, RelayLet) or node in self.inner:
                self.scope_of[node].items.append(node)

    def _place(self, body: RelayExpr, order: list[tuple[RelayExpr, bool]]) -> None:
        """Find the scope of each node: users come before what they use."""
        if not isinstance(body, ATOMS):
            self.scope_of[body] = self.root
        for node, binds in reversed(order):
            if binds:
                continue
            for part, scope in zip(operands(node), self._scopes_of_parts(node), strict=True):
                if not isinstance(part, ATOMS):
                    known = self.scope_of.get(part)
                    self.scope_of[part] = scope if known is None else common_scope(known, scope)

    def _scopes_of_parts(self, node: RelayExpr) -> tuple[EvaluationScope, ...]:
        here = self.scope_of[node]
        match node:
            case RelayIf(true_branch=yes, false_branch=no):
                branches = (EvaluationScope(here, yes), EvaluationScope(here, no))
                self.inner[node] = branches
                return (here, *branches)
            case RelayFunction(body=body):
                self.inner[node] = (EvaluationScope(here, body, node),)
                return self.inner[node]
            case RelayLet():
                scope = here
                if self._let_blocks and node not in self._tails:
                    scope = EvaluationScope(here, node.body)
                    self.inner[node] = (scope,)
                self.binding_scope[node] = scope
                return (scope, scope)
        return (here,) * len(operands(node))


@rule("RL-scope", "Relay scope")
def common_scope(first: EvaluationScope, second: EvaluationScope) -> EvaluationScope:
    """The innermost scope around two scopes."""
    while first is not second:
        if first.depth < second.depth:
            first, second = second, first
        assert first.parent is not None
        first = first.parent
    return first


def _evaluation_order(
    body: RelayExpr, uses: dict[RelayExpr, int]
) -> Iterator[tuple[RelayExpr, bool]]:
    """Nodes behind their parts; a let comes twice: when its variable is bound, and at its end."""
    uses[body] = 1
    seen: set[RelayExpr] = set()
    stack: list[tuple[RelayExpr, tuple[RelayExpr, ...], int]] = []
    if not isinstance(body, ATOMS):
        seen.add(body)
        stack.append((body, operands(body), 0))
    while stack:
        node, parts, at = stack.pop()
        if at == 1 and isinstance(node, RelayLet):
            yield node, True
        if at == len(parts):
            yield node, False
            continue
        stack.append((node, parts, at + 1))
        part = parts[at]
        uses[part] = uses.get(part, 0) + 1
        if part not in seen and not isinstance(part, ATOMS):
            seen.add(part)
            stack.append((part, operands(part), 0))


def _tails(body: RelayExpr) -> frozenset[RelayExpr]:
    """The lets that continue a block: the bodies of functions and branches, and of such lets."""
    found: set[RelayExpr] = set()
    seen: set[RelayExpr] = {body}
    many: set[RelayExpr] = set()
    pending: list[tuple[RelayExpr, bool]] = [(body, True)]
    while pending:
        node, tail = pending.pop()
        if tail and isinstance(node, RelayLet):
            found.add(node)
        for number, part in enumerate(operands(node)):
            ends = (
                isinstance(node, RelayFunction)
                or (isinstance(node, RelayIf) and number > 0)
                or (isinstance(node, RelayLet) and number == 1 and node in found)
            )
            if part in seen and not isinstance(part, ATOMS):
                many.add(part)
            elif part not in seen:
                seen.add(part)
                pending.append((part, ends))
    return frozenset(found - many)
