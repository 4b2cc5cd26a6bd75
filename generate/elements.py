"""Elements of arrays, made of bytes that are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

SPECIAL = np.array([-0.0, 1e30, np.inf, -np.inf, np.nan])
"""Values that drawn floats may have besides small numbers, the plainest first."""


class Elements:
    """The elements of arrays. A smaller byte is a plainer number, and zero is zero, so that Hypothesis
    shrinks them.

    Parameters
    ----------
    draw
        Gives so many bytes, such as ``random.Random(0).randbytes``.
    """

    def __init__(self, draw: Callable[[int], bytes]) -> None:
        self._draw = draw

    def whole(self, below: int, shape: Shape) -> Array:
        """Integers that are at least 0 and less than ``below``, which is at most 256."""
        return self._bytes(shape).astype(np.int64) % below

    def real(self, shape: Shape, special: bool) -> Array:
        """Floats from -2 to 2; NaN, infinities, signed zeros and 1e30 among them if ``special``. One byte
        is a plain number, another one is how far the element is from it.
        """
        fine, coarse = self._bytes(shape), self._bytes(shape)  # what comes first is made zero first
        made = np.clip(PLAIN[coarse] + fine / 2.0**14, -2, 2)
        if not special:
            return made
        behind = (coarse - _FIRST_SPECIAL) % len(SPECIAL)
        return np.where(coarse >= _FIRST_SPECIAL, SPECIAL[behind], made)

    def _bytes(self, shape: Shape) -> Array:
        """Numbers below 256 in this shape; in large arrays the same ones come again after a prime number
        of elements.
        """
        count = int(np.prod(shape, dtype=np.int64))
        data = self._draw(min(count, LONGEST))
        found = np.frombuffer(data, np.uint8).astype(np.int64)
        return np.resize(found, shape) if count else np.zeros(shape, np.int64)


LONGEST = 257
"""The most elements of an array that are drawn one by one."""

_FIRST_SPECIAL = 180
"""The first byte that stands for a special float, where these are asked for."""


def _plain() -> Array:
    """256 multiples of a 64th, the plainest first: whole numbers, halves, then the others by their
    size.
    """
    ordered = sorted(
        (k / 64 for k in range(-127, 129)),
        key=lambda x: (x % 1 != 0, x % 0.5 != 0, abs(x), x < 0),
    )
    return np.array(ordered)


PLAIN = _plain()
