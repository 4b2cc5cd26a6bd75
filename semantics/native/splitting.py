"""Innermost loops whose variable is divided by a constant, as two loops without the division.

The compiler makes vectors of contiguous accesses, and does not see that ``i // 2`` or ``i % 512``
are contiguous for many iterations at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlx.grammar.nodes import tir
from rlx.semantics.native.c_types import CValue, held
from rlx.semantics.native.hoisting import plain_stores, unguarded
from rlx.semantics.native.ranges import Bounds
from rlx.semantics.native.state import Generation
from rlx.solver.poly import Polynomial

SHORT = frozenset([2, 3, 4, 8])
"""The iterations of an inner loop that is written out, so that the outer one has the vectors; of others
GCC 12 makes none.
"""


def divisor(state: Generation, loop: tir.For) -> int | None:
    """The constant by which the variable of an innermost loop is divided in the offsets of its
    accesses, if there is one and the loop has whole periods of it.
    """
    if not (isinstance(loop.min, tir.IntImm) and isinstance(loop.extent, tir.IntImm)):
        return None
    axes, stores = plain_stores(loop.body)
    if not stores:
        return None
    name, polys = state.out.fresh("i"), dict(state.polys)
    last = loop.extent.value - 1
    state.scope.loops[name] = Bounds(Polynomial({}), Polynomial.of(last))
    state.bind_sum(loop.loop_var, Polynomial.of(name))
    for axis in axes:
        state.bind_sum(axis.var, state.poly(axis.binding))
    found = {each for store in stores for each in _divisors(state, store, name)}
    del state.scope.loops[name]
    for var in (loop.loop_var, *(axis.var for axis in axes)):
        state.bind_sum(var, None)
    state.polys = polys
    whole = loop.min.value == 0 and len(found) == 1
    [only] = found if whole else [0]
    return only if only and 1 < only <= last and (last + 1) % only == 0 else None


def _divisors(state: Generation, store: tir.BufferStore, name: str) -> Iterator[int]:
    for buffer, indices, _ in unguarded(store):
        memory = state.memory.get(buffer)
        known = memory is not None and len(memory.extents) == len(indices)
        offset = state.offset(memory, indices) if memory is not None and known else None
        unknown = set() if offset is None else offset.variables() & state.invented
        for remainder, quotient, by, whole in state.wholes:
            of = whole.terms.get((name,)) if unknown & {remainder, quotient} else None
            if of == 1 and all(c % by == 0 for m, c in whole.terms.items() if m != (name,)):
                yield by


def bind(state: Generation, loop: tir.For, by: int) -> tuple[str, str]:
    """Give the variable of a loop its value in two loops, the inner of ``by`` iterations; their
    C variables.
    """
    assert isinstance(loop.extent, tir.IntImm)
    outer, inner = state.out.fresh("i"), state.out.fresh("i")
    zero = Polynomial({})
    state.scope.loops[outer] = Bounds(zero, Polynomial.of(loop.extent.value // by - 1))
    state.scope.loops[inner] = Bounds(zero, Polynomial.of(by - 1))
    state.bind_sum(loop.loop_var, Polynomial.of(outer) * Polynomial.of(by) + Polynomial.of(inner))
    kind = loop.loop_var.dtype
    state.names[loop.loop_var] = CValue(f"(({held(kind)})({outer}*{by} + {inner}))", kind)
    state.lows[loop.loop_var] = "0"
    return outer, inner
