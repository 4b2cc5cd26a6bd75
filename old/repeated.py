"""Shared results for repeated parts of types and shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from threading import local
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

LONGEST = 10_000
"""Characters of the text of a type or a shape, after which the rest is left out."""


class _OutermostCall(local):
    """The results of the current outermost call, with their arguments, which keeps those alive."""

    results: dict[tuple[Any, ...], tuple[Any, Any]] | None = None


_known = _OutermostCall()


def once_for_each(function: F) -> F:
    """A recursive function that does its work once for the same objects, within the outermost call.

    Tuples may stand at several places of others: `((t, t), (t, t))` has few parts and many fields.
    """

    @wraps(function)
    def known(*args: Any) -> Any:
        if _known.results is None:
            _known.results = {}
            try:
                return function(*args)
            finally:
                _known.results = None
        key = (function, *map(id, args))
        if key not in _known.results:
            _known.results[key] = args, function(*args)
        return _known.results[key][1]

    return known  # type: ignore[return-value]


Pieces = Iterable[Any]
"""Strings, and parts that have pieces of their own."""


def text_of(whole: Any, pieces: Callable[[Any], Pieces]) -> str:
    """The text of something and its parts, in order; "…" for what is beyond :data:`LONGEST`."""
    words: list[str] = []
    length = 0
    stack: list[Iterator[Any]] = [iter((whole,))]
    while stack:
        part = next(stack[-1], None)
        if part is None:
            stack.pop()
        elif not isinstance(part, str):
            stack.append(iter(pieces(part)))
        elif length > LONGEST:
            return "".join(words) + "…"
        else:
            words.append(part)
            length += len(part)
    return "".join(words)


def listed(parts: Iterable[Any]) -> Iterator[Any]:
    """Parts with commas between them."""
    for at, part in enumerate(parts):
        if at:
            yield ", "
        yield part
