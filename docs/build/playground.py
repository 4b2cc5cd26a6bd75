"""Links from programs in the documentation to the playground (`make playground`)."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from editors.playground.build import link

FOLDER = Path(__file__).resolve().parents[2] / "build" / "playground"

_BLOCK = re.compile(r'^```python(?: title="[\w-]+\.rlx")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_RELAX = re.compile(r"^ *@(?:R\.function|I\.ir_module|T\.prim_func)", re.MULTILINE)
_PYTHON = re.compile(r"^(?:>>>|import|from) ", re.MULTILINE)
"""Blocks of Python define passes and tests; some have a program in them."""

_MARK = "<!-- playground -->"


def is_built() -> bool:
    """Whether there is a playground to link to."""
    return (FOLDER / "index.html").exists()


def linked(markdown: str, home: str) -> str:
    """A page whose programs, those of the specification too, have a link below them.

    Parameters
    ----------
    home
        The address of the playground, seen from the page.
    """

    def with_link(found: re.Match[str]) -> str:
        if not _RELAX.search(found[1]) or _PYTHON.search(found[1]):
            return found[0]
        address = escape(home + link(found[1], pane="check"), quote=True)
        return f'{found[0]}\n\n<p class="playground"><a href="{address}">Open in the playground</a></p>\n'

    front = (
        f'Try it in a browser, without installing anything: <a href="{home}">the playground</a>.'
    )
    return _BLOCK.sub(with_link, markdown.replace(_MARK, front))
