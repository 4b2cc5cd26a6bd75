"""What the parser passes around:
values with their places, tokens among them, and the refusal of one.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from rlx.grammar.node import Span


class Entry(NamedTuple):
    """A value that was read, with the offsets at which its text starts and ends."""

    value: Any
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where its text stands."""
        return (self.start, self.end)


class Token(Entry):
    """A word of the text, whose value is its spelling.

    Each terminal of the grammar has a subclass.
    """

    __slots__ = ()
    type: ClassVar[str] = ""


END = "$END"
"""The terminal behind the text."""


class _Terminals(dict[str, type[Token]]):
    def __missing__(self, name: str) -> type[Token]:
        made = self[name] = type(name, (Token,), {"__slots__": (), "type": name})
        return made


TERMINALS: dict[str, type[Token]] = _Terminals()
"""The class of tokens of each terminal, by its name in `relax.lark`."""


def token(terminal: str, value: str, start: int, end: int) -> Token:
    """A token of a terminal."""
    return TERMINALS[terminal](value, start, end)


class Rejected(Exception):
    """An action can't make sense of a well-formed text: what was expected, and where.

    Inside of a PrimFunc the text may be ``kept``, where a version of TVM may read it all the same.
    In a Python file the code around may give it a meaning, unless it is ``certain`` that none does.
    What a mistake in the ``layout`` above may be the reason of is not said once more.
    """

    def __init__(
        self,
        message: str,
        start: int,
        end: int,
        help: str | None = None,
        certain: bool = False,
        layout: bool = False,
        kept: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = (start, end)
        self.help = help
        self.certain = certain
        self.layout = layout
        self.kept = kept
