"""The contents of one picture: items of a function, or folds of many; a long function has several
views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rlx.graphs.items import FunctionItems, GraphItem

MOST = 60
"""The boxes of a view."""
CHUNK = 40
"""About how many items or folds are folded into one box."""
OUTSIDE = 8
"""How many values from outside have a box of their own."""


@dataclass
class Fold:
    """Some consecutive items as one box, with the view that shows them.

    Attributes
    ----------
    id
        The address of the view in a page.
    """

    id: str
    title: str
    items: Sequence[GraphItem]

    @property
    def lines(self) -> str:
        """The lines of the text, if they are known."""
        known = [item.line for item in self.items if item.line is not None]
        if not known:
            return ""
        first, last = min(known), max(known)
        return f"line {first}" if first == last else f"lines {first} to {last}"


Shown = GraphItem | Fold


@dataclass
class View:
    """A picture.

    Attributes
    ----------
    boxes
        What it shows, in the order of the text.
    outside
        Items whose values are used and which stand in another view.
    edges
        Indices among `outside` followed by `boxes`: what is used, and what uses it.
    folds
        The views of the folds among the boxes.
    """

    id: str
    title: str
    boxes: list[Shown]
    outside: list[GraphItem] = field(default_factory=list)
    more_outside: int = 0
    edges: list[tuple[int, int]] = field(default_factory=list)
    folds: list[View] = field(default_factory=list)


def view_of(function: FunctionItems, id: str) -> View:
    """The view of a function, with those of its folds."""
    return _view(function, function.items, id, function.name)


def all_views(view: View) -> Iterator[View]:
    """A view and those below it."""
    yield view
    for fold in view.folds:
        yield from all_views(fold)


def _view(function: FunctionItems, items: Sequence[GraphItem], id: str, title: str) -> View:
    boxes: list[Shown] = list(items)
    if len(items) > MOST:
        boxes = []
        for number, (name, part) in enumerate(_parts(function, items)):
            boxes += [Fold(f"{id}.{number}", name, part)] if len(part) > 1 else part
    at = {
        item.key: number
        for number, box in enumerate(boxes)
        for item in (box.items if isinstance(box, Fold) else (box,))
    }
    used = Counter(key for item in items for key in item.uses if key not in at)
    shown = sorted(key for key, _ in used.most_common(OUTSIDE))
    outside = {key: number for number, key in enumerate(shown)}
    edges: dict[tuple[int, int], None] = {}
    for item in items:
        end = at[item.key] + len(outside)
        for key in item.uses:
            start = outside.get(key) if key in outside else at.get(key)
            if start is None:
                continue
            start += 0 if key in outside else len(outside)
            if start != end:
                edges[start, end] = None
    return View(
        id,
        title,
        boxes,
        [function.items[key] for key in shown],
        len(used) - len(shown),
        list(edges),
        [_view(function, b.items, b.id, b.title) for b in boxes if isinstance(b, Fold)],
    )


def _parts(
    function: FunctionItems, items: Sequence[GraphItem]
) -> list[tuple[str, Sequence[GraphItem]]]:
    """Consecutive items together: those of a block, and of a long one so many each."""
    parts: list[tuple[str, Sequence[GraphItem]]] = []
    size = max(CHUNK, -(-len(items) // CHUNK))
    for group, found in groupby(items, key=lambda item: item.group):
        members, title = list(found), function.groups[group]
        count = -(-len(members) // size)
        each = -(-len(members) // count)
        for start in range(0, len(members), each):
            part = members[start : start + each]
            name = title if count == 1 else f"{title}: {part[0].name} to {part[-1].name}"
            parts.append((name, part))
    while len(parts) > MOST:  # many short blocks
        each = -(-len(parts) // CHUNK)
        together = [parts[k : k + each] for k in range(0, len(parts), each)]
        parts = [
            (f"{some[0][0]} to {some[-1][0]}", [item for _, part in some for item in part])
            for some in together
        ]
    return parts
