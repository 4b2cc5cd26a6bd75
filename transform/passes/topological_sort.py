"""The order of bindings in dataflow blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Binding, IRModule
from rlx.grammar.nodes.node import Node, changed, same
from rlx.grammar.nodes.python_places import MisuseError, here, spelt
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import bindings
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.passes.common_subexpressions import writes
from rlx.transform.visitors.uses import nodes_below

Edges = Mapping[int, Sequence[int]]


class TopologicalSort(ModulePass):
    """Sort the bindings of dataflow blocks: each comes after those that it uses.

    No binding crosses a cast, since what follows may rely on what the cast checks. Modules with
    calls that overwrite values stay as they are.

    Parameters
    ----------
    order
        ``"depth-first"`` or ``"breadth-first"``.
    direction
        ``"from-inputs"``: a binding comes as early as possible; ``"from-outputs"``: as late.
    """

    @spelt
    def __init__(self, order: str = "depth-first", direction: str = "from-inputs") -> None:
        given = (("order", order, _ORDERS), ("direction", direction, _DIRECTIONS))
        for name, value, known in given:
            if not isinstance(value, str) or value not in known:
                expected = " or ".join(map(repr, known))
                raise MisuseError(f"{name}: expected {expected}, found {value!r}", here())
        self._depth_first, self._from_inputs = order == _ORDERS[0], direction == _DIRECTIONS[0]

    def apply(self, module: IRModule) -> IRModule:
        """The module with sorted blocks."""
        if writes(module):
            return module
        normal = normalize(module)
        made = _Sorted(self._depth_first, self._from_inputs).module(normal)
        return module if made is normal else made


_ORDERS = ("depth-first", "breadth-first")
_DIRECTIONS = ("from-inputs", "from-outputs")


class _Sorted(Rewriter):
    def __init__(self, depth_first: bool, from_inputs: bool) -> None:
        super().__init__()
        self._depth_first, self._from_inputs = depth_first, from_inputs
        self._places: dict[Node, int] = {}

    def function(self, function: ast.Function) -> ast.Function:
        for var in (*function.params, *(each.var for each in bindings(function))):
            if var is not None:
                self._places.setdefault(var, len(self._places))
        return super().function(function)

    def block(self, block: ast.BindingBlock) -> ast.BindingBlock:
        made = super().block(block)
        if not isinstance(made, ast.DataflowBlock):
            return made
        found: list[Binding] = []
        run: list[ast.VarBinding] = []
        for binding in made.bindings:
            if isinstance(binding, ast.VarBinding):
                run.append(binding)
            else:
                found += [*self._sorted(run), binding]
                run = []
        found += self._sorted(run)
        return changed(made, bindings=same(made.bindings, found))

    def _sorted(self, given: Sequence[ast.VarBinding]) -> list[ast.VarBinding]:
        homes: dict[Node, int] = {}
        for at, binding in enumerate(given):
            var = binding.var
            homes[var] = at
            if var.shape_var is not None:
                homes[var.shape_var] = at
        mentioned = [_mentioned(binding) for binding in given]
        outer = {v for found in mentioned for v in found if isinstance(v, ast.Var)} - homes.keys()
        inputs = sorted(outer, key=lambda v: self._places.get(v, 0)) if self._from_inputs else []
        # They come before what uses them.
        homes.update((var, -1 - k) for k, var in enumerate(inputs))
        needs = {
            at: list(dict.fromkeys(homes[v] for v in found if homes.get(v, at) != at))
            for at, found in enumerate(mentioned)
        }
        users: dict[int, list[int]] = {at: [] for at in (*homes.values(), *needs)}
        for at, before in needs.items():
            for other in before:
                users[other].append(at)
        if self._from_inputs:
            free = [at for at in range(len(given)) if not needs[at]]
            first = [homes[var] for var in inputs]
            for at in first:
                needs[at] = []
            order = self._walk(first + free, needs, users)
        else:
            last = [at for at in users if not users[at]]
            order = self._walk(last, users, needs)[::-1]
        return [given[at] for at in order if at >= 0]

    def _walk(self, first: Sequence[int], before: Edges, after: Edges) -> list[int]:
        """All bindings, each when everything before it is there."""
        order: dict[int, None] = {}
        waiting: deque[int] = deque()

        def add(found: Sequence[int]) -> None:
            ready = [at for at in found if all(each in order for each in before[at])]
            backwards = self._depth_first and self._from_inputs  # the last is taken first
            waiting.extend(reversed(ready) if backwards else ready)

        add(first)
        while waiting:
            at = waiting.pop() if self._depth_first else waiting.popleft()
            if at not in order:
                order[at] = None
                add(after[at])
        return list(order)


def _mentioned(binding: Binding) -> dict[Node, None]:
    """The variables in a binding, those of shapes too, in order."""
    return dict.fromkeys(n for n in nodes_below(binding) if isinstance(n, ast.Var | tir.Var))
