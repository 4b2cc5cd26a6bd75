"""Operators that are marks for the compiler: their value is that of their operand."""

from __future__ import annotations

from rlx.operators.evaluation import Plain


def same(value: Plain) -> Plain:
    """The operand, copied like every result."""
    return value
