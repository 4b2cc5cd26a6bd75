"""The packed functions that generated programs call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def copy(given: Any, out: Any) -> None:
    """Writes what it is given into the result."""
    out[...] = given


def negate(given: Any) -> Any:
    """Overwrites its argument and returns it."""
    given[...] = np.logical_not(given) if given.dtype == bool else -given
    return given


PACKED: dict[str, Callable[..., Any]] = {
    "same": lambda given: given,
    "test.same": lambda given: given,
    "test.first": lambda given, *_: given,
    "test.copy": copy,
    "test.negate_inplace": negate,
}
