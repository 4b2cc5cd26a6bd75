"""The result of a comparison, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path

from rlx.comparison.compare import Discovery, RunComparison
from rlx.grammar.streams import json_text, visible
from rlx.grammar.wording import counted
from rlx.semantics.run.value_text import line

VERSION = 1


class WrittenBinding:
    """A binding that was written to files.

    Attributes
    ----------
    program, inputs
        The files.
    reproduces
        Whether the program alone shows the same difference; None if that was not tried.
    """

    def __init__(self, program: Path, inputs: Path, reproduces: bool | None) -> None:
        self.program, self.inputs, self.reproduces = program, inputs, reproduces


def text(
    made: RunComparison,
    path: str,
    source_line: Callable[[int], str],
    written: Sequence[WrittenBinding],
) -> str:
    """The report for a reader.

    Parameters
    ----------
    path
        The file.
    source_line
        The line of a number, counted from 1.
    """
    one, other = made.sides
    lines = [f"{visible(path)}: {visible(made.entry)} by {one} and by {visible(other)}"]
    values = counted(made.compared, "value")
    if made.agrees:
        lines.append(f"agrees: {values} compared, each within the rounding of its own binding")
    else:
        lines.append(f"compared: {values}")
    for found in (made.not_finite, made.difference):
        if found is not None:
            lines += ["", *_found(found, made.sides, path, source_line)]
    lines += [f"note: {visible(note)}" for note in made.notes]
    for each in written:
        how = {
            True: "it reproduces the difference",
            False: "alone it does not show the difference",
            None: "not run",
        }[each.reproduces]
        lines.append(f"written: {each.program} and {each.inputs}; {how}")
    return "\n".join(lines) + "\n"


def _found(
    found: Discovery, sides: tuple[str, str], path: str, source_line: Callable[[int], str]
) -> Iterator[str]:
    spot = found.spot
    words = {"differs": "is the first binding that differs", "nan": "is the first to make a NaN"}
    words["infinite"] = "is the first to make an infinity"
    words["joined"] = "differs once passes have joined bindings"
    title = words.get(found.kind, "is where the runs part")
    if spot.name == "the program":
        title = "cannot be compared"
    yield f"{visible(spot.name)} in {visible(spot.function)} {title}"
    if spot.line is not None:
        yield f" --> {visible(path)}:{spot.line}"
        yield f"  | {visible(source_line(spot.line).strip())}"
    yield f"  {visible(found.said)}"
    apart = found.apart
    if apart is not None and apart.ulp is not None:
        exact = "" if apart.exact is None else f"; in float64 it is {_digits(apart.exact)}"
        yield f"  {sides[0]}: {_digits(apart.expected)}; {sides[1]}: {_digits(apart.found)}{exact}"
    if apart is not None and apart.ulp is not None and isfinite(apart.ulp):
        how = "at most" if apart.proved else "by estimate"
        explained = f"rounding explains {apart.allowed:.3g} {how}"
        if apart.exact is None:
            explained = f"without its value in float64, {apart.allowed:.3g} is accepted"
        yield f"  off by {apart.ulp:.4g} ulp, {apart.relative:.3g} relative; {explained}"
    if found.cut is not None:
        for name, value in found.cut.inputs.items():
            yield f"  {visible(name)} = {line(value)}"


def record(
    made: RunComparison, path: str, given: dict[str, object], written: Sequence[WrittenBinding]
) -> str:
    """The same as JSON."""
    return (
        json_text(
            {
                "version": VERSION,
                "path": path,
                "entry": made.entry,
                "sides": list(made.sides),
                "agrees": made.agrees,
                "compared": made.compared,
                **given,
                "difference": _record(made.difference),
                "not_finite": _record(made.not_finite),
                "notes": list(made.notes),
                "written": [
                    {
                        "program": str(each.program),
                        "inputs": str(each.inputs),
                        "reproduces": each.reproduces,
                    }
                    for each in written
                ],
            }
        )
        + "\n"
    )


def _record(found: Discovery | None) -> dict[str, object] | None:
    if found is None:
        return None
    made: dict[str, object] = {
        "name": found.spot.name,
        "function": found.spot.function,
        "line": found.spot.line,
        "kind": found.kind,
        "said": found.said,
    }
    apart = found.apart
    if apart is not None:
        made |= {
            "field": apart.field,
            "index": list(apart.index),
            "expected": _number(apart.expected),
            "found": _number(apart.found),
            "exact": _number(apart.exact),
            "ulp": _number(apart.ulp),
            "relative": _number(apart.relative),
            "allowed": _number(apart.allowed),
            "proved": apart.proved,
            "elements": {"wrong": apart.count, "all": apart.size},
        }
    if found.cut is not None:
        made["program"] = program(found)
        made["inputs"] = {name: line(value) for name, value in found.cut.inputs.items()}
    return made


def _digits(value: float | None) -> str:
    return f"{value:.9g}"


def _number(value: float | bool | None) -> object:
    """A number that JSON has; others as text."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value


def program(found: Discovery) -> str:
    """The text of the binding that was cut out."""
    assert found.cut is not None
    from rlx.api import show as shown

    return shown(found.cut.module)
