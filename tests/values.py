"""Values of runs, compared by their content."""

from __future__ import annotations

import numpy as np

from rlx.semantics.machine.message_text import show
from rlx.semantics.values import Closure, Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.vm.library import MachineFunction

FUNCTIONS = (Closure, MachineFunction)


def alike(one: Value | None, other: Value | None) -> bool:
    """Whether two values have the same content, bit by bit; any two functions are alike."""
    match one, other:
        case Tensor(), Tensor():
            same = one.shape == other.shape and one.dtype == other.dtype
            return same and one.data.tobytes() == other.data.tobytes()
        case ShapeValue(), ShapeValue():
            return one.values == other.values
        case Scalar(), Scalar():
            return one.dtype == other.dtype and repr(one.value) == repr(other.value)
        case TupleValue(), TupleValue():
            return len(one.fields) == len(other.fields) and all(
                alike(a, b) for a, b in zip(one.fields, other.fields, strict=True)
            )
    return type(one) is type(other) or (isinstance(one, FUNCTIONS) and isinstance(other, FUNCTIONS))


def brief(value: object) -> str:
    """A value as text, floats to three digits: the last bits differ between processors."""
    match value:
        case Tensor(data=array) | (np.ndarray() as array):
            return f"{array.dtype}{list(array.shape)} {brief(array.reshape(-1).tolist())}"
        case Scalar(value=number, dtype=kind):
            return f"{brief(number)} ({kind})"
        case TupleValue(fields=parts) | tuple(parts) | list(parts):
            return f"({', '.join(map(brief, parts))})"
        case float():
            return f"{value:.2e}"
    return show(value) if isinstance(value, Value) else str(value)
