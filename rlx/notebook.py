"""Notebooks: after ``%load_ext rlx``, a cell that begins with ``%%relax`` is a program, and is
checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from rlx.checker.check import Report
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.streams import harmless, preformatted

_COLOURS = {"error": "#d1242f", "warning": "#bf8700", "note": "#0969da"}


class CheckedCell:
    """A cell with a program, and the checker's report about it.

    Attributes
    ----------
    report
        The report of the checker.
    """

    def __init__(self, report: Report) -> None:
        self.report = report

    @property
    def module(self) -> IRModule | None:
        """The program; None if it has errors, or the cell has several."""
        found = self.report.modules
        return found[0] if self.report.ok and len(found) == 1 else None

    def __repr__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        if all(found.span is None for found in self.report.diagnostics):
            return preformatted(str(self.report))
        source = "".join(_marked(self.report.source.text, self.report.diagnostics))
        numbered = "\n".join(
            f'<span style="color: #888">{number:>3}</span>  {line}'
            for number, line in enumerate(source.rstrip("\n").split("\n"), 1)
        )
        return f'<pre style="line-height: 1.5">{numbered}</pre>{preformatted(str(self.report))}'


def _marked(text: str, diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """The text as HTML, underlined where something is wrong; a line break is in no mark."""
    at = 0
    for found in sorted(diagnostics, key=lambda d: d.span or (0, 0)):
        if found.span is None or found.span[0] < at:
            continue
        start, end = found.span
        yield escape(harmless(text[at:start]))
        style = f"text-decoration: underline wavy {_COLOURS[found.severity]}"
        title = escape(harmless(f"{found.code}: {found.message}"), quote=True).replace(
            "\n", "&#10;"
        )
        for part in text[start : max(end, start + 1)].splitlines(keepends=True):
            inner, broken = part.rstrip("\n"), part.endswith("\n")
            yield f'<span style="{style}" title="{title}">{escape(harmless(inner)) or " "}</span>'
            yield "\n" * broken
        at = max(end, start + 1)
    yield escape(harmless(text[at:]))


def load_ipython_extension(shell: Any) -> None:
    """Give an IPython shell the magic ``%%relax``.

    ``%%relax NAME`` also gives the program a name in the notebook.

    Raises
    ------
    ValueError
        By the magic, if what stands behind ``%%relax`` is not a name.
    """
    from rlx import api

    def relax(line: str, cell: str) -> CheckedCell:
        name = line.strip()
        if name and not name.isidentifier():
            raise ValueError(f"%%relax takes the name of a variable, not {name!r}")
        found = CheckedCell(api.check(cell))
        if name:
            shell.push({name: found.module})
        return found

    shell.register_magic_function(relax, magic_kind="cell", magic_name="relax")
