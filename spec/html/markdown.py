"""Markdown of the specification as HTML, with links where a text names a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rlx.spec.html.highlight import formula, highlighted
from rlx.spec.html.links import Links
from rlx.spec.judgements import JUDGEMENTS

_JUDGEMENT = re.compile(r"\|- |<:|~>|^<\w, ")
"""What tells a piece of an inference from a piece of code."""

_FORMS = frozenset(["G", "S", "s", *(judgement.form for judgement in JUDGEMENTS)])
"""Pieces of inferences that look like code."""


class Markdown:
    """Renders the texts of one chapter.

    Parameters
    ----------
    links
        Where names lead.
    targets
        The lines that say where the chapter's named links go.
    """

    def __init__(self, links: Links, targets: str) -> None:
        self.links = links
        self.parser = MarkdownIt("commonmark").enable("table")
        self.parser.renderer.rules |= {  # type: ignore[attr-defined]
            "code_inline": self._code,
            "text": self._text,
            "link_open": self._link,
            "fence": self._fence,
            "html_block": lambda *_: "",  # comments for other tools
        }
        self.targets: dict[str, object] = {}
        self.parser.parse(targets, self.targets)  # the parser notes the targets there

    def block(self, text: str) -> str:
        """Paragraphs, lists and tables."""
        if not text.strip():
            return ""
        html: str = self.parser.render(text, self.targets)
        return html

    def inline(self, text: str) -> str:
        """One paragraph without its tags."""
        html: str = self.parser.renderInline(text, self.targets)
        return html

    def _code(self, tokens: Sequence[Token], at: int, *rest: object) -> str:
        text = tokens[at].content
        if _JUDGEMENT.search(text) or text in _FORMS:
            return f'<span class="formula">{formula(text)}</span>'
        return self.links.code(text)

    def _text(self, tokens: Sequence[Token], at: int, *rest: object) -> str:
        inside = sum(t.nesting for t in tokens[:at] if t.type in ("link_open", "link_close"))
        text = tokens[at].content
        return escape(self.links.titles.get(text, text)) if inside else self.links.text(text)

    def _link(self, tokens: Sequence[Token], at: int, *rest: object) -> str:
        target = str(tokens[at].attrGet("href") or "")
        return f'<a href="{self.links.file(target)}">'

    def _fence(self, tokens: Sequence[Token], at: int, *rest: object) -> str:
        return f'<pre class="code">{highlighted(tokens[at].content)}</pre>\n'
