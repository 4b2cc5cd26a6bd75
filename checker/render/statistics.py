"""How often each code was reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rlx.checker.render.colour import PLAIN, paint
from rlx.checker.render.files import FileReport


def render(files: Sequence[FileReport], theme: Mapping[str, str] = PLAIN) -> str:
    """A line for each code, the most frequent first."""
    counts = Counter((d.code, d.severity) for file in files for d in file.diagnostics)
    if not counts:
        return ""
    size = len(str(max(counts.values())))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(
        f"{number:>{size}}  {paint(theme, severity, f'{severity:<7}')}  {code}\n"
        for (code, severity), number in ordered
    )
