"""What notebooks show."""

from __future__ import annotations

from html import escape


def preformatted(text: str) -> str:
    """A text as a block of HTML that keeps its lines."""
    return f'<pre style="line-height: 1.35">{escape(text.rstrip())}</pre>'
