"""A graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rlx.graphs.items import FunctionItems, GraphItem, ModuleItems

_COLOURS = {"removed": "#b3261e", "added": "#1c7a3a", "carried": "#a85b00"}
_FILLS = {"parameter": "#f1eee6", "call": "#e7f0fb", "packed": "#fdf0dc", "cast": "#f3eafa"}


def dot(graph: ModuleItems) -> str:
    """The text."""
    lines = ["digraph rlx {", '  node [shape=box, style="rounded,filled", fontname=monospace];']
    for side, shown in (("a", graph), ("b", graph.other)):
        if shown is None:
            continue
        for number, function in enumerate(shown.functions):
            lines += _function(function, f"{side}{number}", "" if graph.other is None else side)
        for name, signature in shown.prim_funcs.items():
            label = f"{name}\n{signature}" if signature else name
            lines.append(f"  {_text(f'{side}/{name}')} [shape=component, label={_text(label)}];")
    return "\n".join([*lines, "}", ""])


def _function(function: FunctionItems, id: str, side: str) -> Iterator[str]:
    title = f"{side.upper()}: {function.name}" if side else function.name
    yield f"  subgraph cluster_{id} {{"
    yield f"    label={_text(title)};"
    for group, items in groupby(function.items, key=lambda item: item.group):
        found = list(items)
        yield f"    subgraph cluster_{id}_{group}_{found[0].key} {{"
        yield f"      label={_text(function.groups[group])}; style=dotted;"
        for item in found:
            yield f"      {id}_{item.key} [{_attributes(item)}];"
        yield "    }"
    yield "  }"
    for item in function.items:
        for used in item.uses:
            yield f"  {id}_{used} -> {id}_{item.key};"
        for callee in item.callees:
            target = _text(f"{id[0]}/{callee}")
            yield f"  {id}_{item.key} -> {target} [style=dashed];"


def _attributes(item: GraphItem) -> str:
    parts = [f"{item.name} = {item.value}" if item.value else item.name, item.info]
    label = "\n".join(part for part in [*parts, item.note] if part)
    found = [f"label={_text(label)}", f"fillcolor={_text(_FILLS.get(item.kind, '#ffffff'))}"]
    if item.change:
        found.append(f"color={_text(_COLOURS[item.change])}, penwidth=3")
    return ", ".join(found)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
