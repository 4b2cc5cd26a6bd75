"""The heads of loops and blocks: what their variables are."""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.dtype import INT64
from rlx.semantics.native.expressions import converted, value_of
from rlx.semantics.native.indices import usable
from rlx.semantics.native.ranges import Bounds, IndexSum
from rlx.semantics.native.state import Generation


def loop_range(state: Generation, loop: tir.For, name: str) -> tuple[str, str]:
    """Declare the variable of a loop; its first value and its end, as C."""
    low, extent = state.poly(loop.min), state.poly(loop.extent)
    if low is not None and extent is not None:
        last = low + extent - IndexSum.of(1)
        state.scope.loops[name] = Bounds(low, last)
        if usable(state, IndexSum.of(name), loop.loop_var.dtype):
            state.loop(loop.loop_var, name, state.scope.loops[name])
            if not (low.variables() | extent.variables()) & state.invented:
                state.lows[loop.loop_var] = low.text()
                return low.text(), (low + extent).text()
        else:
            del state.scope.loops[name]
    first, count = (
        converted(state, value_of(state, e), INT64).text for e in (loop.min, loop.extent)
    )
    if (
        loop.loop_var not in state.sums
        or state.sums[loop.loop_var].terms != IndexSum.of(name).terms
    ):
        state.bind_sum(loop.loop_var, None)
        state.loop(loop.loop_var, name, None)
    state.lows[loop.loop_var] = first
    return first, f"{first} + {count}"


def bind_axis(state: Generation, axis: tir.IterVar) -> None:
    """Give an axis of a block the value of its binding."""
    known = state.poly(axis.binding)
    value = value_of(state, axis.binding)
    if known is not None and not usable(state, known, axis.var.dtype):
        known = None
    state.names[axis.var] = converted(state, value, axis.var.dtype)
    state.bind_sum(axis.var, known)
