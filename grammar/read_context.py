"""What the actions on one text share: the text, the names, the reports, the readings of a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from rlx.grammar import ast
from rlx.grammar.coerce import Coerce
from rlx.grammar.entries import Entry
from rlx.grammar.node import Span
from rlx.grammar.reports import Reports
from rlx.grammar.scope import Scope
from rlx.grammar.suggest import did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.surroundings import View

Metadata = Mapping[str, Sequence[ast.Literal | None]]


class Parts(Protocol):
    """Who reads parts of the text on demand."""

    def read_info(self, start: int, end: int) -> Entry | None:
        """Read the annotation that one INFO token covers, word by word."""

    def read_quoted(self, text: str, start: int) -> Entry | None:
        """Read the inside of a quoted dimension."""


class ReadContext:
    """The state of reading one text.

    Parameters
    ----------
    text
        The whole source text.
    scope
        The names; statements change it.
    parts
        Reads annotations and quoted dimensions.

    Attributes
    ----------
    around
        The Python around the definition that is read, if there is any.
    metadata
        The constants that the text names by number.
    """

    def __init__(self, text: str, scope: Scope, parts: Parts) -> None:
        self.text = text
        self.scope = scope
        self.reports = Reports(text, scope)
        self.coerce = Coerce(scope, text, parts.read_quoted)
        self.read_info: Callable[[int, int], Entry | None] = parts.read_info
        self.around: View | None = None
        self.metadata: Metadata = {}

    def text_of(self, span: Span) -> str:
        """The source in a stretch of the text."""
        return self.text[span[0] : span[1]]

    def misspelt(self, words: list[str], span: Span) -> None:
        """Report a word that is near to a known one, as which it is read."""
        shown = self.text_of(span)
        self.reports.error(f"unknown word `{shown}`", span, did_you_mean(words, "`"))
