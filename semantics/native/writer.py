"""Lines of C code, fresh names, and stop sites of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rlx.grammar.nodes.node import Span


class StopSite:
    """A site where a kernel may stop: the code, a message with ``{a}`` and ``{b}``, and the
    location in the text.
    """

    __slots__ = ("code", "message", "span")

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        self.code = code
        self.message = message
        self.span = span


class CWriter:
    """Collects lines of C code. All names are made here, so no text of the program appears in
    them.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sites: list[StopSite] = []
        self._names = 0
        self._known: dict[tuple[str, str, Span | None], int] = {}

    def fresh(self, letter: str = "v") -> str:
        """A name not used before."""
        self._names += 1
        return f"{letter}{self._names}"

    def put(self, line: str) -> None:
        """Add a line."""
        self.lines.append(line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """``head {`` … ``}`` around the lines added inside the ``with`` statement."""
        self.put(head + " {")
        yield
        self.put("}")

    @contextmanager
    def captured(self) -> Iterator[list[str]]:
        """Collect the lines added inside the ``with`` statement separately."""
        outer, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = outer

    def site(self, code: str, message: str, span: Span | None) -> int:
        """The index of a stop site."""
        key = (code, message, span)
        if key not in self._known:
            self._known[key] = len(self.sites)
            self.sites.append(StopSite(code, message, span))
        return self._known[key]

    def stop_if(self, condition: str, site: int, a: str = "0", b: str = "0") -> None:
        """Leave the kernel with two values if ``condition`` holds."""
        self.put(f"if (RLX_RARE({condition})) RLX_STOP({site}, {a}, {b});")
