"""Room for the recursion of Python that nested texts need."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LIMIT = 50_000


@contextmanager
def recursion_room() -> Iterator[None]:
    """Let Python recurse as deep as the nesting limit of texts needs, for the duration."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
