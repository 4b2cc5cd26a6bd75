"""A view as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from rlx.graphs.items import FunctionItems, GraphItem
from rlx.graphs.layers import Box, layout
from rlx.graphs.views import Fold, View

LINE, PADDING, LETTER = 17.0, 8.0, 7.3
"""The height of a line, the space around the text of a box, the width of a letter, in pixels."""
MARGIN = 12.0

COLOURS = (
    *("#b3261e", "#1d5fbf", "#1c7a3a", "#8a3fb5", "#a85b00", "#007c85", "#b0307a", "#5d6b00"),
    *("#5b4bc4", "#7a4b2a"),
)
"""The colours of shape variables: each can be read on white and on its own tint."""

STYLE = """
.graph text { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, monospace; fill: #23211d }
.graph text .soft { fill: #5f5a51 }
.graph text .name { font-weight: 700 }
.graph rect { fill: #ffffff; stroke: #8d867a }
.graph .parameter rect, .graph .outside rect { fill: #f1eee6 }
.graph .call rect { fill: #e7f0fb; stroke: #1d5fbf }
.graph .packed rect { fill: #fdf0dc; stroke: #a85b00 }
.graph .cast rect { fill: #f3eafa; stroke: #8a3fb5 }
.graph .branch rect, .graph .function rect { fill: #eef6e6; stroke: #5d6b00 }
.graph .result rect { fill: #23211d; stroke: #23211d }
.graph .result text, .graph .result text .soft { fill: #ffffff }
.graph .fold rect { fill: #fbf6d9; stroke-width: 2 }
.graph .outside rect { stroke-dasharray: 4 3 }
.graph .removed rect { fill: #fbe3e1; stroke: #b3261e; stroke-width: 2.5 }
.graph .added rect { fill: #dff3e0; stroke: #1c7a3a; stroke-width: 2.5 }
.graph .carried rect { fill: #fdf6e3; stroke: #a85b00; stroke-dasharray: 6 3 }
.graph .removed text, .graph .added text, .graph .carried text { fill: #23211d }
.graph .found rect { stroke: #d97706; stroke-width: 4 }
.graph path { fill: none; stroke: #8d867a; stroke-width: 1.3 }
.graph marker path { fill: #8d867a; stroke: none }
"""


def colours_of(function: FunctionItems) -> dict[str, str]:
    """The colour of each shape variable; those that one item binds differ."""
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(function.bound_at)}


def picture(view: View, colours: Mapping[str, str], links: bool = False) -> str:
    """A view as an SVG element.

    Parameters
    ----------
    links
        Whether a fold leads to its view.
    """
    shown = [*view.outside, *view.boxes]
    texts = {
        number: list(_lines(box, number < len(view.outside))) for number, box in enumerate(shown)
    }
    boxes = {}
    bands: dict[object, int] = {}
    for number, box in enumerate(shown):
        letters = max(len("".join(part for part, _ in line)) for line in texts[number])
        across, up = letters * LETTER + 2 * PADDING, len(texts[number]) * LINE + 2 * PADDING - 4
        band: object = "first"
        if number >= len(view.outside):
            band = ("fold", number) if isinstance(box, Fold) else box.group
            if isinstance(box, GraphItem) and (box.kind == "parameter" or box.group == 0):
                band = "first"
        boxes[number] = Box(across, up, bands.setdefault(band, len(bands)))
    if all(isinstance(box, Fold) for box in view.boxes):
        boxes = {number: Box(box.width, box.height, 0) for number, box in boxes.items()}
    found = layout(boxes, view.edges)
    width, height = found.width + 2 * MARGIN, found.height + 2 * MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    tip = 'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" {size}>',
        f"<title>{escape(view.title)}</title>",
        f'<defs><marker id="{view.id}-tip" {tip}><path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    ]
    for points in found.edges.values():
        parts.append(f'<path d="{_curve(points)}" marker-end="url(#{view.id}-tip)"/>')
    for number, box in enumerate(shown):
        x, y = found.places[number]
        outside = number < len(view.outside)
        left, top = x - boxes[number].width / 2 + MARGIN, y + MARGIN
        drawn = _box(box, texts[number], left, top, boxes[number], colours, outside)
        if isinstance(box, Fold) and links:
            drawn = f'<a href="#{box.id}">{drawn}</a>'
        parts.append(drawn)
    return "\n".join([*parts, "</svg>"])


def _box(
    shown: GraphItem | Fold,
    lines: Sequence[Sequence[tuple[str, str]]],
    left: float,
    top: float,
    box: Box,
    colours: Mapping[str, str],
    outside: bool,
) -> str:
    if isinstance(shown, Fold):
        kind = " ".join(["fold", *sorted({item.change for item in shown.items} - {""})])
        words = f"{shown.title}: " + ", ".join(item.name for item in shown.items[:200])
    else:
        kind = "outside" if outside else f"{shown.kind} {shown.change}".strip()
        words = _title(shown)
    parts = [f'<g class="box {kind}"><title>{escape(words)}</title>']
    parts.append(
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="5"/>'
    )
    for number, line in enumerate(lines):
        y = top + PADDING + 10 + LINE * number
        spans = "".join(_span(text, kind, colours) for text, kind in line)
        parts.append(
            f'<text x="{left + PADDING:.1f}" y="{y:.1f}" xml:space="preserve">{spans}</text>'
        )
    return "".join([*parts, "</g>"])


def _lines(shown: GraphItem | Fold, outside: bool) -> Iterator[list[tuple[str, str]]]:
    """The lines of a box: parts of text with what they are."""
    if isinstance(shown, Fold):
        yield [(shown.title[:60], "name")]
        changed = sum(1 for item in shown.items if item.change)
        words = f"{len(shown.items)} values" + (f", {changed} differ" if changed else "")
        yield [(f"{words}, {shown.lines}" if shown.lines else words, "soft")]
        return
    if outside or shown.kind == "parameter" or not shown.value:
        yield [(shown.name, "name")]
    else:
        yield [(shown.name, "name"), (f" = {shown.value}", "")]
    if shown.info and not outside:
        yield [(shown.info, "info")]
    if shown.binds and not outside:
        yield [("binds ", "soft"), (", ".join(shown.binds), "info")]
    if shown.note:
        yield [(shown.note, "soft")]


def _title(item: GraphItem) -> str:
    place = f"line {item.line}: " if item.line is not None else ""
    value = f" = {item.value}" if item.value else ""
    return f"{place}{item.name}{value}{': ' + item.info if item.info else ''}"


_NAMES = re.compile(r"[^\W\d]\w*")


def _span(text: str, kind: str, colours: Mapping[str, str]) -> str:
    if kind != "info":
        return f'<tspan class="{kind}">{escape(text)}</tspan>' if kind else escape(text)

    def coloured(match: re.Match[str]) -> str:
        name = match.group()
        if name not in colours:
            return name
        return f'<tspan style="fill:{colours[name]};font-weight:700">{name}</tspan>'

    return f'<tspan class="soft">{_NAMES.sub(coloured, escape(text, quote=False))}</tspan>'


def _curve(points: Sequence[tuple[float, float]]) -> str:
    x, y = points[0][0] + MARGIN, points[0][1] + MARGIN
    parts = [f"M{x:.1f} {y:.1f}"]
    for next_x, next_y in points[1:]:
        to_x, to_y = next_x + MARGIN, next_y + MARGIN
        middle = (y + to_y) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return " ".join(parts)
