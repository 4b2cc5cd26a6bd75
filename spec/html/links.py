"""Where the names of rules, codes, constructs and ledger entries lead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from rlx.spec.html.chapter import Chapter, Section
from rlx.spec.html.highlight import replaced
from rlx.spec.reader import rules

_NAME = re.compile(r"[A-Z]+\d*(?:-[a-z][\w-]*)?|[A-Z]\w+")
_IN_TEXT = re.compile(
    r"\b(?:[A-Z]+-[a-z][\w-]*|(?:D|WF|NF|TIR|OWF)\d+(?:-[a-z][\w-]*)?|[Ll]edger \d+)\b"
)
_ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


class Links:
    """Addresses by name.

    Attributes
    ----------
    pages, titles
        The page and the title of each chapter's file.
    """

    def __init__(self, chapters: Iterable[Chapter]) -> None:
        self._known: dict[str, str] = {}
        self.pages: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        for chapter in chapters:
            self.pages[f"{chapter.stem}.md"] = chapter.page
            self.titles[f"{chapter.stem}.md"] = chapter.title
            for section in chapter.sections:
                self._add(chapter, section)

    def _add(self, chapter: Chapter, section: Section) -> None:
        """The names that a section defines."""
        word = section.word
        if word.isdigit():
            self._known[f"ledger {word}"] = f"{chapter.page}#{word}"
        elif word in rules():
            self._known[word] = f"{chapter.page}#{word}"
            for code in rules()[word].premises:
                if code not in rules():
                    self._known[code] = f"{chapter.page}#{code}"
        elif section.slug == "index":
            for name in _ROW.findall(section.parts[""]):
                self._known[name] = f"{chapter.page}#construct-{name}"

    def of(self, name: str) -> str | None:
        """The address of a name, None if it has none."""
        return self._known.get(name.replace("Ledger ", "ledger "))

    def code(self, text: str) -> str:
        """A piece of code, linked if it is a name."""
        shown = f"<code>{escape(text)}</code>"
        address = self.of(text) if _NAME.fullmatch(text) else None
        return shown if address is None else f'<a class="name" href="{address}">{shown}</a>'

    def text(self, text: str) -> str:
        """A text with the rules that it names linked."""

        def linked(match: re.Match[str]) -> str | None:
            name = match.group()
            address = self.of(name)
            return None if address is None else f'<a href="{address}">{name}</a>'

        return replaced(_IN_TEXT, text, linked)

    def file(self, target: str) -> str:
        """The address of a link in Markdown: chapters have become pages."""
        path, _, anchor = target.partition("#")
        page = self.pages.get(path, path)
        return f"{page}#{anchor}" if anchor else page
