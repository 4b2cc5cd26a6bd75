"""Numbers written in constants, and the element types that are to hold them (D03)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import LARGEST, DataType
from rlx.spec.registry import need

if TYPE_CHECKING:
    from rlx.checker.derive.state import DerivationState

_BYTE = 8
_ROUNDED = 1 + 2**-25
"""The factor up to which a number is rounded to the largest one of float32."""


def check(state: DerivationState, node: ast.Constant) -> bool:
    """Whether a constant has a value: its element type is one of numbers, which holds those that
    are written.

    An integer beyond a type of less than a byte is a warning only: TVM accepts it and keeps its low
    bits. So is a number beyond a float type, which becomes infinity.
    """
    kind, value = node.data.dtype, node.data.value
    if not need("D03-element-type", kind.code != "handle" and kind.lanes == 1):
        message = f"the elements of a constant must be numbers or Booleans, not {kind}"
        state.add("D03-element-type", "error", message, node.span)
        return False
    misfit = next((n for n in _numbers(value) if not _holds(kind, n)), None)
    if misfit is None:
        return need("D03-fits", True)
    kept = kind.is_float or (kind.bits < _BYTE and math.isfinite(misfit))
    severity = "warning" if kept else "error"
    message = f"{misfit} is out of range for {kind}"
    state.add("D03-fits", severity, message, node.span, notes=_limits(kind))
    return kept


def check_scalar(state: DerivationState, node: ast.PrimValue) -> None:
    """A literal in a scalar is a value of its type, as TVM requires (D04)."""
    for part in tir.postorder(node.value):
        if isinstance(part, tir.FloatImm | tir.IntImm) and part.dtype.lanes == 1:
            kind, number = part.dtype, part.value
            if not need("D04-fits", kind.code == "handle" or _holds(kind, number)):
                message = f"{number} is out of range for {kind}"
                state.add("D04-fits", "error", message, node.span, notes=_limits(kind))


def _numbers(value: object) -> Iterator[int | float]:
    if isinstance(value, tuple):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int | float):
        yield value


def _holds(kind: DataType, number: float) -> bool:
    """Floats are rounded, but not to infinity; where an integer is asked for, a fraction is cut
    off.
    """
    if not kind.is_integer:
        largest = LARGEST.get(str(kind), math.inf) * _ROUNDED
        return not math.isfinite(number) or abs(number) <= largest
    low, high = _range(kind)
    return math.isfinite(number) and low <= math.trunc(number) <= high


def _range(kind: DataType) -> tuple[int, int]:
    if kind.code == "uint":
        return 0, (1 << kind.bits) - 1
    return -(1 << kind.bits - 1), (1 << kind.bits - 1) - 1


def _limits(kind: DataType) -> tuple[str, ...]:
    if not kind.is_integer:
        return (f"the largest number of {kind} is {LARGEST[str(kind)]:g}",)
    low, high = _range(kind)
    return (f"the range of {kind} is {low} to {high}",)
