"""Diagnostics as lines of text, for examples in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from rlx.grammar.diagnostic import Diagnostic


def listed(text: str, diagnostics: Iterable[Diagnostic]) -> str:
    """Each diagnostic with its line, the marked words, and its help."""
    lines = []
    for found in diagnostics:
        start, end = found.span or (0, 0)
        line = text.count("\n", 0, start) + 1
        words = " ".join(text[start:end].split())
        lines.append(f"{line}: {found.severity}[{found.code}] {found.message}")
        lines += [f"  at: {words}"] * bool(words)
        lines += [f"  help: {found.help}"] * bool(found.help)
    return "".join(f"{line}\n" for line in lines)
