"""Statements of PrimFuncs that passes make."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import tir


def in_order(stmts: Sequence[tir.Stmt]) -> tir.Stmt:
    """Statements one after the other; one alone needs no sequence."""
    match stmts:
        case [alone]:
            return alone
    return tir.SeqStmt(tuple(stmts))
