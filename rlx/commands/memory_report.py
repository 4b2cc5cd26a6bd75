"""The output of `rlx memory`: lines for people, JSON, and the curves of a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.print.show import spelled_dim
from rlx.transform.memory_use import MemoryUse, number

BARS = 16
"""The points of a chart in the terminal."""
POINTS = 64
"""The points of a chart in a page."""
WIDTH = 48


class Plan(NamedTuple):
    """The memory that a plan needs; without a use, the reason why there is none."""

    by: str
    use: MemoryUse | None
    why_not: str = ""


class FunctionMemory(NamedTuple):
    """The memory that a function needs, and that plans of it take."""

    need: MemoryUse
    plans: tuple[Plan, ...]

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the shape variables that any of it depends on."""
        uses = (self.need, *(plan.use for plan in self.plans if plan.use is not None))
        return tuple(dict.fromkeys(name for use in uses for name in use.sizes))


class SizeRange(NamedTuple):
    """The sizes over which a chart goes: a shape variable from its first to its last value."""

    name: str
    first: int
    last: int

    def values(self, count: int) -> list[int]:
        """At most so many values, at even distances."""
        span = self.last - self.first
        steps = min(count - 1, span)
        return [self.first + span * k // steps for k in range(steps + 1)] if steps else [self.first]


# ------------------------------------------------------------ for people


def lines(
    answers: Sequence[FunctionMemory],
    sizes: Mapping[str, int],
    axis: SizeRange | None,
    source: Source,
) -> Iterator[str]:
    """The answers for people."""
    for place, answer in enumerate(answers):
        if place:
            yield ""
        yield from of_function(answer, sizes, source)
        if axis is not None:
            yield ""
            yield from _bars(answer, sizes, axis)


def of_function(answer: FunctionMemory, sizes: Mapping[str, int], source: Source) -> Iterator[str]:
    """The memory of a function, in lines for people."""
    need = answer.need
    at = sizes if all(name in sizes for name in answer.sizes) else {}
    shown = bool(at) or not answer.sizes
    yield need.entry + (
        f" at {', '.join(f'{name}={at[name]}' for name in answer.sizes)}" if at else ""
    )
    rows: list[tuple[str, PrimExpr | int, str]] = [
        ("arguments", need.arguments, ""),
        ("constants", need.constants, ""),
        ("alive at once", need.peak, ""),
        *(
            (f"plan of {plan.by}", plan.use.peak if plan.use else 0, plan.why_not)
            for plan in answer.plans
        ),
    ]
    for title, size, why in rows:
        said = f"none: {why}" if why else with_number(size, at, shown)
        yield f"  {title:<14} {said}"
    if need.bounds:
        declared = ", ".join(f"{name} <= {most}" for name, most in need.bounds.items())
        said = f"declared: {declared}"
        if all(name in need.bounds for name in need.sizes):
            said += f"; alive at once there: {bytes_text(need.highest(need.bounds)[0])}"
        yield f"  {'upper bounds':<14} {said}"
    peaks = [need.highest(at)[1]] if shown else need.peaks
    for peak in peaks:
        if not peak.living:
            continue
        yield ""
        yield f"  alive together, {with_number(peak.size, at, shown)}:"
        width = max(len(each.name) for each in peak.living)
        for each in peak.living:
            place = f"line {line(each.span, source)}" if each.span else ""
            inside = "" if each.function == need.entry else f" of {each.function}"
            where = ", ".join(filter(None, [place + inside]))
            yield f"    {each.name:<{width}}  {with_number(each.size, at, shown)}  {where}".rstrip()
    if need.unknown:
        yield ""
        yield "  not counted:"
        for name, span, why in need.unknown:
            place = f" (line {line(span, source)})" if span else ""
            yield f"    {name}{place}: {why}"


def _bars(answer: FunctionMemory, sizes: Mapping[str, int], axis: SizeRange) -> Iterator[str]:
    rows = curves(answer, sizes, axis, BARS)
    largest = max((value for _, values in rows for value in values.values()), default=0) or 1
    titles = list(rows[0][1])
    width = max(len(str(value)) for value, _ in rows)
    yield f"  {axis.name:>{width}}"
    for value, values in rows:
        for place, title in enumerate(titles):
            filled = round(values[title] * WIDTH / largest)
            head = f"{value:>{width}}" if not place else " " * width
            yield f"  {head}  {'█' * filled:<{WIDTH}} {bytes_text(values[title])} {title}"


def curves(
    answer: FunctionMemory, sizes: Mapping[str, int], axis: SizeRange, count: int
) -> list[tuple[int, dict[str, int]]]:
    """The bytes of each curve of a chart, by its title, at each value of the axis."""
    rows = []
    for value in axis.values(count):
        at = {**sizes, axis.name: value}
        found = {"alive at once": answer.need.highest(at)[0]}
        for plan in answer.plans:
            if plan.use is not None:
                found[f"plan of {plan.by}"] = plan.use.highest(at)[0]
        rows.append((value, found))
    return rows


def line(span: Span, source: Source) -> int:
    """The line of a place, from 1."""
    return source.position(span[0])[0]


def with_number(size: PrimExpr | int, at: Mapping[str, int], shown: bool) -> str:
    """A formula, and its value where the sizes are given."""
    if isinstance(size, int):
        return bytes_text(size)
    formula = spelled_dim(size)
    if not shown:
        return f"{formula} bytes"
    value = bytes_text(number(size, at))
    return value if value == f"{formula} bytes" else f"{formula} = {value}" if at else value


def bytes_text(count: int) -> str:
    """A number of bytes, as people read it."""
    for unit, each in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= each:
            return f"{count / each:.1f} {unit}"
    return f"{count} bytes"


# ------------------------------------------------------------ for machines


def record(
    path: str,
    answers: Sequence[FunctionMemory],
    sizes: Mapping[str, int],
    axis: SizeRange | None,
    source: Source,
) -> dict[str, Any]:
    """The answers as data for JSON."""
    return {
        "version": 1,
        "path": path,
        "sizes": dict(sizes),
        "functions": [_function(answer, sizes, axis, source) for answer in answers],
    }


def _function(
    answer: FunctionMemory, sizes: Mapping[str, int], axis: SizeRange | None, source: Source
) -> dict[str, Any]:
    need = answer.need
    known = all(name in sizes for name in answer.sizes)

    def size(formula: PrimExpr) -> dict[str, Any]:
        return {"formula": spelled_dim(formula), "bytes": number(formula, sizes) if known else None}

    return {
        "entry": need.entry,
        "arguments": size(need.arguments),
        "constants": need.constants,
        "alive": size(need.peak),
        "peaks": [
            {
                **size(peak.size),
                "values": [
                    {
                        "name": each.name,
                        "function": each.function,
                        "line": line(each.span, source) if each.span else None,
                        **size(each.size),
                    }
                    for each in peak.living
                ],
            }
            for peak in need.peaks
        ],
        "plans": [
            {"by": plan.by, "reason": plan.why_not or None}
            | (size(plan.use.peak) if plan.use else {"formula": None, "bytes": None})
            for plan in answer.plans
        ],
        "bounds": dict(need.bounds),
        "not_counted": [
            {"name": name, "line": line(span, source) if span else None, "reason": why}
            for name, span, why in need.unknown
        ],
        "chart": None
        if axis is None
        else [
            {axis.name: value, "bytes": values}
            for value, values in curves(answer, sizes, axis, POINTS)
        ],
    }
