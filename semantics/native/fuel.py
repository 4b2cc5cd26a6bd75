"""Fuel: taken in one piece where the number of iterations is known, in a `while` loop one by one.

Nested loops whose extents are fixed when the outermost starts are paid for there; others at each
start of the loop. A run may therefore end a little before the iteration that would have used the
last unit.
"""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.dtype import INT64
from rlx.grammar.node import Span
from rlx.semantics.native.expressions import converted, value_of
from rlx.semantics.native.indices import poly_of
from rlx.semantics.native.ranges import IndexSum
from rlx.semantics.native.state import Generation
from rlx.semantics.tir.memory import WHILE


def spend(state: Generation, nest: tir.Stmt) -> None:
    """Pay for the loops of a nest whose number of iterations is known at its start."""
    total = IndexSum({})
    state.paid = set()
    stack: list[tuple[tir.Stmt, IndexSum]] = [(nest, IndexSum.of(1))]
    while stack:
        stmt, times = stack.pop()
        match stmt:
            case tir.For():
                extent = _extent(state, stmt)
                if extent is not None and len(times.terms) <= 4:
                    times = times * extent
                    total += times
                    state.paid.add(stmt)
                    stack.append((stmt.body, times))
            case tir.SeqStmt():
                stack += [(part, times) for part in stmt.stmts]
            case tir.Block():
                stack.append((stmt.body, times))
    if total.terms:
        pay(state, total, getattr(nest, "span", None))


def _extent(state: Generation, loop: tir.For) -> IndexSum | None:
    extent = poly_of(state, loop.extent)
    if extent is None or extent.variables() - state.scope.natural:
        return None
    return extent if all(c > 0 for c in extent.terms.values()) else None


def pay(state: Generation, amount: IndexSum, span: Span | None) -> None:
    """Take a number of units that is a sum over symbols."""
    site = _site(state, span)
    text = " + ".join(
        "*".join([f"{float(c)!r}", *(f"(double){name}" for name in m)])
        for m, c in amount.terms.items()
    )
    state.out.put(f"RLX_SPEND({text}, {site});")


def spend_here(state: Generation, loop: tir.For) -> None:
    """Pay for a loop at its start, unless the nest has paid for it."""
    if loop in state.paid:
        return
    count = converted(state, value_of(state, loop.extent), INT64)
    state.out.put(
        f"if ({count.text} > 0) RLX_SPEND((double){count.text}, {_site(state, loop.span)});"
    )


def spend_one(state: Generation, span: Span | None) -> None:
    """Pay for one iteration of a `while` loop."""
    state.out.put(f"if (RLX_RARE((RLX_FUEL -= {WHILE}) < 0)) RLX_STOP({_site(state, span)}, 0, 0);")


def _site(state: Generation, span: Span | None) -> int:
    return state.out.site("E-tir-fuel", "the loop takes more iterations than there is fuel", span)
