"""Which elements a function from outside wrote: they do not hold any more what the memory was
filled with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.semantics.store import Change, Store
from rlx.semantics.values import Tensor

_PATTERN = bytes.fromhex("a96bd3f15e7788c3a96bd3f15e7788c3")
"""No number that a program has use for begins with these bits."""
_NARROWEST = 4
"""Bytes of an element below which each pattern is a number that may well be meant."""


def _elements(tensor: Tensor) -> Any:
    """The bytes of each element; None of elements that are too narrow."""
    data = tensor.data
    if data.itemsize < _NARROWEST:
        return None
    return data.reshape(-1).view(np.uint8).reshape(-1, data.itemsize)


def fill(tensors: Sequence[Tensor]) -> None:
    """Fill new memory."""
    for tensor in tensors:
        elements = _elements(tensor)
        if elements is not None:
            elements[...] = np.frombuffer(_PATTERN, np.uint8)[: tensor.data.itemsize]


def unchanged(store: Store, tensors: Sequence[Tensor]) -> list[Change]:
    """Note which elements still hold the pattern."""
    changes: list[Change] = []
    for tensor in tensors:
        elements = _elements(tensor)
        if elements is not None:
            pattern = np.frombuffer(_PATTERN, np.uint8)[: tensor.data.itemsize]
            written = np.any(elements != pattern, axis=1).view(np.uint8)
            changes += store.blanked(tensor, written if written.any() else None)
    return changes
