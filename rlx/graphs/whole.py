"""All functions of a graph in one picture."""

from __future__ import annotations

import re
from html import escape

from rlx.graphs.items import FunctionItems, ModuleItems
from rlx.graphs.svg import STYLE, colours_of, picture
from rlx.graphs.views import view_of

TITLE, SPACE = 30.0, 20.0
_SIZE = re.compile(r'viewBox="0 0 (\d+) (\d+)"')


def whole_picture(graph: ModuleItems) -> str:
    """The picture: functions below each other, two modules beside each other."""
    columns = [graph] if graph.other is None else [graph, graph.other]
    parts: list[str] = []
    left = bottom = 0.0
    for number, column in enumerate(columns):
        top, widest = 0.0, 320.0
        head = "" if graph.other is None else f"{'AB'[number]}: "
        for place, function in enumerate(column.functions):
            view = view_of(function, f"v{number}.{place}")
            drawn = picture(view, colours_of(function))
            found = _SIZE.search(drawn)
            assert found is not None
            width, height = map(float, found.groups())
            parts.append(
                f'<text x="{left + 12:.0f}" y="{top + 20:.0f}"><tspan class="name">'
                f"{escape(head + function.name)}</tspan>{legend(function)}</text>"
            )
            parts.append(drawn.replace("<svg ", f'<svg x="{left:.0f}" y="{top + TITLE:.0f}" ', 1))
            top += TITLE + height + SPACE
            widest = max(widest, width)
        left += widest + SPACE
        bottom = max(bottom, top)
    size = f'viewBox="0 0 {left:.0f} {bottom:.0f}" width="{left:.0f}" height="{bottom:.0f}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" {size}>'
    ground = f'<rect width="{left:.0f}" height="{bottom:.0f}" style="fill:#ffffff;stroke:none"/>'
    return "\n".join([opening, f"<style>{STYLE}</style>", ground, *parts, "</svg>\n"])


def legend(function: FunctionItems) -> str:
    """The shape variables in their colours, with what binds them."""
    colours = colours_of(function)
    parts = []
    for name, key in function.bound_at.items():
        item = function.items[key]
        parts.append(
            f'<tspan dx="14" style="fill:{colours[name]};font-weight:700">{escape(name)}</tspan>'
            f'<tspan class="soft"> of {escape(item.name)}</tspan>'
        )
    return "".join(parts)
