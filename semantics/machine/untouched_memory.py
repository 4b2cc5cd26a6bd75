"""Detection of the elements that an external function wrote: they no longer have the fill
pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.semantics.store import Change, Store
from rlx.semantics.values import Tensor

_PATTERN = bytes.fromhex("a96bd3f15e7788c3a96bd3f15e7788c3")
"""A bit pattern that does not occur in useful numbers."""
_NARROWEST = 4
"""The element size in bytes below which every pattern may be a valid number."""


def _elements(tensor: Tensor) -> Any:
    """The bytes of each element; None of elements that are too narrow."""
    data = tensor.data
    if data.itemsize < _NARROWEST:
        return None
    return data.ravel().view(np.uint8).reshape(data.size, data.itemsize)


def fill(tensors: Sequence[Tensor]) -> None:
    """Fill new memory with the pattern."""
    for tensor in tensors:
        elements = _elements(tensor)
        if elements is not None:
            elements[...] = np.frombuffer(_PATTERN, np.uint8)[: tensor.data.itemsize]


def unchanged(store: Store, tensors: Sequence[Tensor]) -> list[Change]:
    """Record the elements that still have the pattern."""
    changes: list[Change] = []
    for tensor in tensors:
        elements = _elements(tensor)
        if elements is not None:
            pattern = np.frombuffer(_PATTERN, np.uint8)[: tensor.data.itemsize]
            written = np.any(elements != pattern, axis=1).view(np.uint8)
            changes += store.blanked(tensor, written if written.any() else None)
    return changes
