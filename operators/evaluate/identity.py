"""Hints for compilers, whose value is that of their operand."""

from __future__ import annotations

from rlx.operators.evaluation import Plain


def same(value: Plain) -> Plain:
    """The operand, copied like every result."""
    return value


OPERATORS = dict.fromkeys(
    (
        *("builtin.stop_lift_params", "memory.ensure_zero_offset"),
        *("grad.start_checkpoint", "grad.end_checkpoint", "grad.no_grad"),
    ),
    same,
)
"""The operators that functions of this file make or share, by name."""
