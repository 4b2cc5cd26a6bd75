"""Padding of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, back, wide
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@rule("E-pad", "0235a165", "computation")
def _widths(x: Array, widths: Sequence[int], mode: str) -> list[tuple[int, int]]:
    pairs = list(zip(widths[::2], widths[1::2], strict=False))
    if len(pairs) != x.ndim or mode not in _MODES:
        raise OperatorFault(
            "E-pad-width",
            (f"padding {tuple(widths)} of mode {mode!r} cannot be applied to shape {x.shape}"),
        )
    limit = {"reflect": 1, "circular": 0}.get(mode)
    for n, (before, after) in zip(x.shape, pairs, strict=True):
        short = limit is not None and max(before, after, 0) > n - limit
        none = mode == "replicate" and n == 0 and max(before, after) > 0
        if short or none or n + before + after < 0:
            raise OperatorFault(
                "E-pad-width",
                (
                    f"padding {before, after} of mode {mode!r} cannot be applied to an axis of"
                    f" length {n}"
                ),
            )
    return pairs


def pad(x: Array, widths: Sequence[int], mode: str, value: float) -> Array:
    """The tensor with padding before and after along its axes."""
    pairs = _widths(x, widths, mode)
    options: dict[str, Any] = {"constant_values": value} if mode == "constant" else {}
    chosen: Any = _MODES[mode]
    added = [(max(before, 0), max(after, 0)) for before, after in pairs]
    padded = np.pad(wide(x), added, mode=chosen, **options)
    kept = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(padded.shape, pairs, strict=True)
    )
    return back(padded[kept], x.dtype)
