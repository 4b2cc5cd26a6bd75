"""Elements added around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, back, wide
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@rule("E-pad", "e14f7c01")
def _widths(x: Array, widths: Sequence[int], mode: str) -> list[tuple[int, int]]:
    pairs = list(zip(widths[::2], widths[1::2], strict=False))
    if len(pairs) != x.ndim or any(w < 0 for w in widths) or mode not in _MODES:
        raise OperatorFault("E-pad-width", f"{mode!r} padding of {tuple(widths)} around {x.shape}")
    limit = {"reflect": 1, "circular": 0}.get(mode)
    for n, (before, after) in zip(x.shape, pairs, strict=True):
        short = limit is not None and max(before, after) > n - limit
        if short or (mode == "replicate" and n == 0 and before + after):
            raise OperatorFault("E-pad-width", f"{mode!r} padding of {before, after} around {n}")
    return pairs


def pad(x: Array, widths: Sequence[int], mode: str, value: float) -> Array:
    """The tensor with elements added before and after along its axes."""
    pairs = _widths(x, widths, mode)
    options: dict[str, Any] = {"constant_values": value} if mode == "constant" else {}
    chosen: Any = _MODES[mode]
    return back(np.pad(wide(x), pairs, mode=chosen, **options), x.dtype)
