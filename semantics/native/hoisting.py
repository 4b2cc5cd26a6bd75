"""Heads of loops and blocks, and indices that are loaded or divided by a symbol, which are checked in
the loop that they depend on.

Without that, the check in the innermost loop would keep the compiler from using vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.semantics.native.conversions import converted
from rlx.semantics.native.expressions import integral, value_of
from rlx.semantics.native.indices import usable
from rlx.semantics.native.ranges import Bounds, text_of
from rlx.semantics.native.state import Generation, Hoisted
from rlx.solver.poly import Polynomial


def plan(state: Generation, loop: tir.For) -> None:
    """Find the indices to compute early in a loop and those directly inside it."""
    if loop in state.planned:
        return
    chain: list[tir.For] = []
    stmt: tir.Stmt = loop
    while isinstance(stmt, tir.For):
        chain.append(stmt)
        stmt = stmt.body
    state.planned.update(chain)
    axes, stores = plain_stores(stmt)
    stored = {store.buffer for store in stores}
    for store in stores:
        for buffer, indices, span in unguarded(store):
            for axis, index in enumerate(indices):
                nodes = list(tir.postorder(index))
                read = [node.buffer for node in nodes if isinstance(node, tir.BufferLoad)]
                if (read or any(map(_by_symbol, nodes))) and stored.isdisjoint(read):
                    _place(state, chain, axes, (index, buffer, axis, span))


def plain_stores(body: tir.Stmt) -> tuple[tuple[tir.IterVar, ...], list[tir.BufferStore]]:
    """The stores of the body of a loop that has nothing else, and the axes of the block around them,
    if there is one; no stores if there is more.
    """
    axes: tuple[tir.IterVar, ...] = ()
    if isinstance(body, tir.Block):
        if body.init is not None or body.predicate is not None or body.alloc_buffers:
            return (), []
        axes, body = body.iter_vars, body.body
    parts = tir.flat(body)
    stores = [part for part in parts if isinstance(part, tir.BufferStore)]
    return axes, stores if len(stores) == len(parts) else []


def _by_symbol(expr: tir.PrimExpr) -> bool:
    return isinstance(expr, INTEGER_DIVISIONS) and not isinstance(expr.b, tir.IntImm)


def _place(
    state: Generation,
    chain: list[tir.For],
    axes: tuple[tir.IterVar, ...],
    access: tuple[tir.PrimExpr, tir.Buffer, int, Span | None],
) -> None:
    index, buffer, axis, span = access
    needed = tuple(a for a in axes if a.var in tir.free_vars(index))
    names = {v for a in needed for v in tir.free_vars(a.binding)} | {*tir.free_vars(index)}
    depth = max((at for at, level in enumerate(chain) if level.loop_var in names), default=0)
    inner = tuple(chain[depth + 1 :])
    hidden = {level.loop_var for level in inner}
    if inner and not any(hidden & {*tir.free_vars(level.extent)} for level in inner):
        found = Hoisted(index, buffer, axis, span, needed, inner)
        state.hoists.setdefault(chain[depth], []).append(found)


def unguarded(
    store: tir.BufferStore,
) -> Iterator[tuple[tir.Buffer, tuple[tir.PrimExpr, ...], Span | None]]:
    """The accesses that a store always makes, without those guarded by a condition."""
    yield store.buffer, store.indices, store.span

    def below(node: tir.PrimExpr) -> tuple[tir.PrimExpr, ...]:
        # The variable of a let has no value before its body.
        chosen = isinstance(node, tir.Call) and node.op == "if_then_else"
        if chosen or isinstance(node, (tir.And, tir.Or, tir.Let)):
            return tir.children(node)[:1]
        return tir.children(node)

    for node in tir.reached([*store.indices, store.value], below):
        if isinstance(node, tir.BufferLoad):
            yield node.buffer, node.indices, node.span


def emit(state: Generation, loop: tir.For) -> set[str]:
    """Emit the computation and checks of the hoisted indices at the start of a loop's body; return
    their C variables.
    """
    names: set[str] = set()
    for found in state.hoists.get(loop, ()):
        memory = state.memory.get(found.buffer)
        if memory is None or found.axis >= len(memory.dims) or found.index in state.polys:
            continue
        for axis in found.axes:
            bind_axis(state, axis)
        name = state.out.fresh("h")
        extent = memory.dims[found.axis]
        state.out.put(f"int64_t {name} = 0;")
        runs = [
            f"({value_of(state, level.extent).text} > 0)"
            for level in found.inner
            if not (isinstance(level.extent, tir.IntImm) and level.extent.value > 0)
        ]
        with state.out.block(f"if ({' & '.join(runs) or '1'})"):
            before, state.exact = state.exact, state.bounds
            state.out.put(f"{name} = (int64_t){value_of(state, found.index).text};")
            state.exact = before
            if state.bounds:
                site = state.bounds_site(found.buffer, found.axis, found.span)
                state.out.stop_if(f"(uint64_t){name} >= (uint64_t){extent}", site, name, extent)
        last = memory.extents[found.axis] - Polynomial.of(1)
        state.scope.loops[name] = Bounds(Polynomial({}), last)
        state.polys[found.index] = Polynomial.of(name)
        names.add(name)
    return names


def loop_range(state: Generation, loop: tir.For, name: str) -> tuple[str, str]:
    """Declare the variable of a loop; return its first value and its end in C."""
    low, extent = state.poly(loop.min), state.poly(loop.extent)
    if low is not None and extent is not None:
        last = low + extent - Polynomial.of(1)
        state.scope.loops[name] = Bounds(low, last)
        if usable(state, Polynomial.of(name), loop.loop_var.dtype):
            state.loop(loop.loop_var, name, state.scope.loops[name])
            if not (low.variables() | extent.variables()) & state.invented:
                state.lows[loop.loop_var] = text_of(low)
                return text_of(low), text_of(low + extent)
        else:
            del state.scope.loops[name]
    first, count = (integral(state, e, "bound of a loop").text for e in (loop.min, loop.extent))
    if (
        loop.loop_var not in state.sums
        or state.sums[loop.loop_var].terms != Polynomial.of(name).terms
    ):
        state.bind_sum(loop.loop_var, None)
        state.loop(loop.loop_var, name, None)
    state.lows[loop.loop_var] = first
    return first, f"{first} + RLX_MAX({count}, 0)"


def bind_axis(state: Generation, axis: tir.IterVar) -> None:
    """Give an axis of a block the value of its binding."""
    known = state.poly(axis.binding)
    value = value_of(state, axis.binding)
    if known is not None and not usable(state, known, axis.var.dtype):
        known = None
    state.names[axis.var] = converted(state, value, axis.var.dtype)
    state.bind_sum(axis.var, known)
