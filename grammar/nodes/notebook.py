"""The display of values in notebooks."""

from __future__ import annotations

from html import escape

from rlx.grammar.streams import harmless


def preformatted(text: str) -> str:
    """A text as preformatted HTML."""
    return f'<pre style="line-height: 1.35">{escape(harmless(text.rstrip()))}</pre>'
