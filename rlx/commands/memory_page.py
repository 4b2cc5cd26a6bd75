"""The page of `rlx memory`: the formulas and a chart, without external files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from rlx.commands.memory_report import (
    POINTS,
    FunctionMemory,
    SizeRange,
    bytes_text,
    curves,
    of_function,
)
from rlx.grammar.diagnostic import Source
from rlx.grammar.streams import visible

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 320, 90, 40
COLOURS = ("#2563eb", "#d97706", "#059669")

_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 800px; padding: 0 1rem;
  color: #1f2937; background: #fff }
h1 { overflow-wrap: anywhere }
pre { overflow-x: auto; background: #f3f4f6; padding: 1rem; border-radius: 6px }
svg { width: 100%; height: auto }
text { font: 13px system-ui, sans-serif; fill: currentColor }
@media (prefers-color-scheme: dark) {
  body { color: #e5e7eb; background: #111827 }
  pre { background: #1f2937 }
}
"""


def page(
    answers: Sequence[FunctionMemory],
    sizes: Mapping[str, int],
    axis: SizeRange | None,
    source: Source,
) -> str:
    """The page, complete in itself."""
    title = f"Memory of {_shown(source.path)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>",
    ]
    for answer in answers:
        parts.append(f"<h2>{_shown(answer.need.entry)}</h2>")
        if axis is not None:
            parts += _chart(answer, sizes, axis)
        text = "\n".join(map(_shown, of_function(answer, sizes, source)))
        parts.append(f"<pre>{text}</pre>")
    return "\n".join([*parts, "</body></html>\n"])


def _shown(text: str) -> str:
    """A text of the program in one line of the page."""
    return escape(visible(text))


def _chart(answer: FunctionMemory, sizes: Mapping[str, int], axis: SizeRange) -> Iterator[str]:
    rows = curves(answer, sizes, axis, POINTS)
    largest = max(value for _, values in rows for value in values.values()) or 1
    span = max(axis.last - axis.first, 1)
    across, up = WIDTH - LEFT - 20, HEIGHT - BOTTOM - 20

    def place(value: int, count: int) -> str:
        x = LEFT + across * (value - axis.first) / span
        return f"{x:.1f},{20 + up * (1 - count / largest):.1f}"

    said = f"Bytes over {axis.name}, at most {bytes_text(largest)}"
    yield f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_shown(said)}">'
    for part in range(5):
        y = 20 + up * (1 - part / 4)
        yield (
            f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y}" y2="{y}" stroke="currentColor"'
            ' stroke-opacity="0.2"/>'
        )
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{bytes_text(largest * part // 4)}</text>'
    for value, anchor in ((axis.first, "start"), (axis.last, "end")):
        x = place(value, 0).split(",")[0]
        words = f"{_shown(axis.name)} = {value}"
        yield f'<text x="{x}" y="{HEIGHT - 16}" text-anchor="{anchor}">{words}</text>'
    for number, title in enumerate(rows[0][1]):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(place(value, values[title]) for value, values in rows)
        # Curves that lie on each other are both seen.
        dashes = f' stroke-dasharray="8 {4 * number}"' if number else ""
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"{dashes}/>'
        yield (
            f'<text x="{LEFT + 12}" y="{36 + 18 * number}" style="fill: {colour}">'
            f"{_shown(title)}</text>"
        )
    yield "</svg>"
