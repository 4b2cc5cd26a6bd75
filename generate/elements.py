"""Sources of random elements: a generator of random numbers, or Hypothesis, which shrinks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from hypothesis import strategies as st

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


class Elements(Protocol):
    """A source of the elements of arrays."""

    def whole(self, below: int, shape: Shape) -> Array:
        """Integers that are at least 0 and less than ``below``, which is at most 256."""

    def real(self, shape: Shape, special: bool) -> Array:
        """Floats from -2 to 2; NaN, infinities, signed zeros and 1e30 among them if ``special``."""


SPECIAL = np.array([-0.0, 1e30, np.inf, -np.inf, np.nan])
"""Values that drawn floats may have besides small numbers, the plainest first."""


class RandomElements:
    """Elements from NumPy's generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def whole(self, below: int, shape: Shape) -> Array:
        """Each number is as frequent as the others."""
        return self.rng.integers(0, below, shape)

    def real(self, shape: Shape, special: bool) -> Array:
        """Each number is as frequent as the others; three in ten are special."""
        made = self.rng.uniform(-2, 2, shape)
        if not special:
            return made
        found = self.rng.choice(SPECIAL, shape)
        return np.where(self.rng.random(shape) < 0.3, found, made)


class DrawnElements:
    """Elements that Hypothesis draws: bytes, of which a smaller one is a plainer number, and zero
    is zero. `draw`: what a composite strategy is given to draw with.
    """

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def whole(self, below: int, shape: Shape) -> Array:
        """One byte for each number."""
        return self._bytes(shape).astype(np.int64) % below

    def real(self, shape: Shape, special: bool) -> Array:
        """A plain number and, of a second byte, how far the element is from it."""
        fine, coarse = self._bytes(shape), self._bytes(shape)  # what comes first is made zero first
        made = np.clip(PLAIN[coarse] + fine / 2.0**14, -2, 2)
        if not special:
            return made
        behind = (coarse - _FIRST_SPECIAL) % len(SPECIAL)
        return np.where(coarse >= _FIRST_SPECIAL, SPECIAL[behind], made)

    def _bytes(self, shape: Shape) -> Array:
        """As many numbers below 256; in large arrays the same ones come again after a prime number
        of elements.
        """
        count = int(np.prod(shape, dtype=np.int64))
        few = min(count, LONGEST)
        data = self.draw(st.binary(min_size=few, max_size=few))
        found = np.frombuffer(data, np.uint8).astype(np.int64)
        return np.resize(found, shape) if count else np.zeros(shape, np.int64)


LONGEST = 257
"""As many elements of an array are drawn one by one."""

_FIRST_SPECIAL = 180
"""From this byte on, a float is a special one where special ones are asked for."""


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
