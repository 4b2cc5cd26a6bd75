"""The run-time checks that TVM's pipeline leaves in, beside those that are needed.

TVM's are counted in what it lowers: calls of `check_…_info` (kind, rank, type) and of `match_shape` or
`match_prim_value` (dimensions), by the place that each names. Ours are counted in the same units: a value with a
part of the first sort that is not proved, a value with dimensions that are not proved or that bind a variable.

Both assume the same for the comparison: packed functions keep the word that calls give for them, and the
parameters behind the first `num_input` are weights, which TVM never checks. What these two assumptions hide is
in the last columns of `dynamic_checks.md`. `RLX_UPDATE_SNAPSHOTS=1` writes the file anew.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import CheckPart, DynamicCheck, analyse

from . import constructs, models
from .networks.layers import Module

TABLE = Path(__file__).with_name("dynamic_checks.md")
NOT_LOWERED = {"closures", "distributed", "prims", "tuples"}
"""Programs that TVM's default pipeline refuses."""

PROGRAMS = [*models.MODELS, *(n for n in constructs.NAMES if n not in NOT_LOWERED)]
KINDS = ("entry", "cast", "return")
CALL = re.compile(r'vm\.builtin\.(check|match)_\w+".*ErrorContext\((.*)')
PLACES = {"loc=param": "entry", "loc=return": "return", "match_cast": "cast"}

Counts = Counter[tuple[str, str]]
"""By kind of check and by sort: ``("entry", "info")``, ``("return", "shape")``."""


@cache
def module(program: str) -> Module:
    build = models.MODELS.get(program)
    return build() if build else constructs.build(program)


@cache
def theirs(program: str) -> Counts:
    """The calls in TVM's lowered functions."""
    counts: Counts = Counter()
    for line in models.lowered(module(program)).script().splitlines():
        found = CALL.search(line)
        if found is not None:
            sort = "info" if found[1] == "check" else "shape"
            place = next(kind for mark, kind in PLACES.items() if mark in found[2])
            counts[place, sort] += 1
    return counts


@cache
def checks(program: str, trusting: bool) -> tuple[DynamicCheck, ...]:
    report = check_text(module(program).script(show_meta=True), program)
    assert not [d for d in report.diagnostics if d.is_error]
    return tuple(c for m in report.modules for c in analyse(m, trusting=trusting))


def ours(found: Iterable[DynamicCheck]) -> Counts:
    """The values that have to be checked."""
    return Counter(
        (check.kind, sort)
        for check in found
        if check.status != "redundant"
        for sort, _ in {_value(part) for part in check.open_parts}
    )


def _value(part: CheckPart) -> tuple[str, tuple[str, ...]]:
    """The value that a part is about, and which of the two sorts of calls TVM would check it by."""
    match part.premise:
        case "dimension":
            return "shape", part.path[:-1]
        case "value":
            return "shape", part.path
    return "info", part.path


def is_weight(check: DynamicCheck) -> bool:
    """Whether a check is of a parameter that TVM takes as it comes."""
    inputs = check.owner.attrs.get("num_input")
    if check.kind != "entry" or not isinstance(inputs, int):
        return False
    return any(check.node is param for param in check.owner.params[inputs:])


@cache
def compared(program: str) -> tuple[Counts, Counts, Counts]:
    """The checks needed under TVM's assumptions, those for packed functions, and those for weights."""
    trusting = ours(c for c in checks(program, True) if not is_weight(c))
    every = checks(program, False)
    sceptical = ours(c for c in every if not is_weight(c))
    return trusting, sceptical - trusting, ours(c for c in every if is_weight(c))


def table() -> str:
    """Both counts of every program; each cell is calls for kind, rank and type + calls for dimensions."""
    heads = ["program", *(f"{who}: {kind}" for who in ("TVM", "needed") for kind in KINDS)]
    heads += ["packed functions not believed", "weights not believed"]
    lines = ["# Checks at run time: TVM's pipeline, and what is needed", "", *INTRODUCTION, ""]
    lines += [_row(heads), _row(["---"] + ["---:"] * (len(heads) - 1))]
    total = [Counter[tuple[str, str]]() for _ in range(4)]
    for program in PROGRAMS:
        counts = [theirs(program), *compared(program)]
        for sum_, count in zip(total, counts, strict=True):
            sum_.update(count)
        lines.append(_row(_cells(program, counts)))
    return "\n".join([*lines, _row(_cells("all", total))]) + "\n"


INTRODUCTION = [
    "Written by `tests/tvm/test_dynamic_checks.py`. A cell `i + s` is `i` calls that look at kind, rank and type,",
    "and `s` calls that compare dimensions or bind shape variables.",
    "",
    "- Entries: TVM checks a private function at its entry too; where all its calls are proved to fit, only what",
    "  binds a variable is left. A dimension that nothing uses is not looked at.",
    "- Returns: TVM compares the dimensions of every result that has some; here they are proved.",
    "- Casts: TVM compares every cast's dimensions; here those are left that are not known, or bind a variable.",
    "- The last two columns are what the specification asks for beyond that, because nothing else checks it: results",
    "  of packed functions, which TVM believes, and parameters behind `num_input`, which TVM never checks.",
]


def _cells(name: str, counts: Sequence[Counts]) -> list[str]:
    two = [f"{c[kind, 'info']} + {c[kind, 'shape']}" for c in counts[:2] for kind in KINDS]
    rest = [
        f"{sum(c[kind, 'info'] for kind in KINDS)} + {sum(c[kind, 'shape'] for kind in KINDS)}"
        for c in counts[2:]
    ]
    return [name, *two, *rest]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("program", PROGRAMS)
def test_never_more_than_tvm(program: str) -> None:
    """Under the same assumptions; of every kind and sort."""
    assert compared(program)[0] <= theirs(program)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_tvm_does_not_check_is_a_claim(program: str) -> None:
    """Beyond that we only ask where a packed function, or a weight, is taken at its word."""
    _, claims, weights = compared(program)
    text = str(module(program).script())
    assert not claims or re.search(r"R\.call_(pure_)?packed|R\.call_inplace_packed", text)
    assert not weights or "num_input" in text


@pytest.mark.parametrize("program", PROGRAMS)
def test_fewer_only_where_it_is_proved(program: str) -> None:
    """Every result whose dimensions TVM compares is one whose check is redundant here."""
    redundant = [c for c in checks(program, True) if c.kind == "return" and c.status == "redundant"]
    left = compared(program)[0]["return", "shape"]
    assert theirs(program)["return", "shape"] - left <= sum(
        len({_value(part) for part in c.parts if part.premise == "dimension"}) for c in redundant
    )


def test_the_table_is_up_to_date() -> None:
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        TABLE.write_text(table(), encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == table()
