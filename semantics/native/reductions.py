"""Nests of loops around one reduction."""

from __future__ import annotations
from rlx.grammar import tir
from rlx.semantics.native.state import State


def emit(state: State, loop: tir.For) -> bool:
    return False
