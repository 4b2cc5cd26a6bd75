"""Positions of the boxes of a picture: in rows, each below its operands, with few crossings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

GAP, ROW_GAP, SWEEPS = 24.0, 46.0, 8


class Box(NamedTuple):
    """The size of a box, and its band: boxes of a later band stand below those of earlier ones."""

    width: float
    height: float
    band: int


class Arrangement(NamedTuple):
    """The places of boxes (the middle of the upper edge), and the points through which edges go."""

    places: dict[int, tuple[float, float]]
    edges: dict[tuple[int, int], list[tuple[float, float]]]
    width: float
    height: float


def layout(boxes: Mapping[int, Box], edges: Sequence[tuple[int, int]]) -> Arrangement:
    """Place boxes.

    Parameters
    ----------
    boxes
        In an order in which each edge goes forwards.
    edges
        Pairs of keys: from what is used to what uses it.
    """
    rows = _rows(boxes, edges)
    nodes = {key: (box.width, rows[key]) for key, box in boxes.items()}
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    chains: dict[tuple[int, int], list[int]] = {}
    fresh = -1
    for start, end in dict.fromkeys(edges):
        chain = [start]
        for row in range(rows[start] + 1, rows[end]):  # the edge goes between the boxes there
            nodes[fresh] = (8.0, row)
            chain.append(fresh)
            fresh -= 1
        chain.append(end)
        chains[start, end] = chain
        for one, other in pairwise(chain):
            below[one].append(other)
            above[other].append(one)
    table: list[list[int]] = [[] for _ in range(max(rows.values(), default=-1) + 1)]
    for key, (_, row) in nodes.items():
        table[row].append(key)
    _order(table, above, below)
    xs = _columns(table, nodes, above, below)
    heights = [max((boxes[k].height for k in row if k >= 0), default=8.0) for row in table]
    tops, y = [], 0.0
    for height in heights:
        tops.append(y)
        y += height + ROW_GAP
    left = min((xs[k] - w / 2 for k, (w, _) in nodes.items()), default=0.0)
    right = max((xs[k] + w / 2 for k, (w, _) in nodes.items()), default=0.0)
    places = {key: (xs[key] - left, tops[rows[key]]) for key in boxes}
    routes = {}
    for (start, end), chain in chains.items():
        points = [(places[start][0], places[start][1] + boxes[start].height)]
        for key in chain[1:-1]:
            row = nodes[key][1]
            points += [(xs[key] - left, tops[row]), (xs[key] - left, tops[row] + heights[row])]
        routes[start, end] = [*points, places[end]]
    return Arrangement(places, routes, right - left, max(y - ROW_GAP, 0.0))


def _rows(boxes: Mapping[int, Box], edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """The row of each box; what uses nothing stands just above its first use."""
    used = defaultdict(list)
    users = defaultdict(list)
    for start, end in edges:
        used[end].append(start)
        users[start].append(end)
    rows: dict[int, int] = {}
    band, first, last = None, 0, -1
    for key, box in boxes.items():
        if box.band != band:
            band, first = box.band, last + 1
        rows[key] = max([first, *(rows[k] + 1 for k in used[key])])
        last = max(last, rows[key])
    for key in boxes:
        if not used[key] and users[key] and boxes[key].band == boxes[next(iter(boxes))].band:
            rows[key] = max(rows[key], min(rows[k] for k in users[key]) - 1)
    return rows


def _order(
    table: list[list[int]], above: Mapping[int, list[int]], below: Mapping[int, list[int]]
) -> None:
    """Order each row by the middle of its neighbours, downwards and upwards in turn."""
    at = {key: float(k) for row in table for k, key in enumerate(row)}
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        near = above if down else below
        for row in table if down else reversed(table):
            row.sort(key=lambda key: _mean([at[k] for k in near.get(key, ())], at[key]))
            at.update((key, k - len(row) / 2) for k, key in enumerate(row))


def _columns(
    table: Sequence[Sequence[int]],
    nodes: Mapping[int, tuple[float, int]],
    above: Mapping[int, list[int]],
    below: Mapping[int, list[int]],
) -> dict[int, float]:
    """The middle of each box: as near to its neighbours' as the others in its row let it be."""
    xs: dict[int, float] = {}
    for row in table:
        x = 0.0
        for key in row:
            width = nodes[key][0]
            xs[key] = x + width / 2
            x += width + GAP
        for key in row:
            xs[key] -= x / 2
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in table if down else reversed(table):
            near = above if down else below
            wished = [_mean([xs[k] for k in near.get(key, ())], xs[key]) for key in row]
            for key, x in zip(row, _apart(wished, [nodes[k][0] for k in row]), strict=True):
                xs[key] = x
    return xs


def _apart(wished: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The places nearest to those that are wished, in least squares, at which boxes do not overlap."""
    offsets, x = [], 0.0
    for k, width in enumerate(widths):
        x += 0.0 if k == 0 else (widths[k - 1] + width) / 2 + GAP
        offsets.append(x)
    blocks: list[tuple[float, int]] = []  # the mean of some neighbours that touch, and their number
    for wish, offset in zip(wished, offsets, strict=True):
        mean, count = wish - offset, 1
        while blocks and blocks[-1][0] >= mean:
            other, number = blocks.pop()
            mean, count = (mean * count + other * number) / (count + number), count + number
        blocks.append((mean, count))
    means = [mean for mean, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
