"""What every call of `cases.py` gives, and all that is said about it, where: held to snapshots.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/operators/test_snapshots.py` writes them anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rlx.grammar.ast import Expr, StructInfo
from rlx.grammar.printer import show
from rlx.grammar.tir import PrimExpr
from tests.operators.cases import DIFFERENT, ILLEGAL, LEGAL, OURS, UNKNOWN, WARNED, Case
from tests.operators.context import derive
from tests.operators.test_obligations import MORE
from tests.snapshots import assert_entries

SNAPSHOTS = Path(__file__).parent / "snapshots"

CASES: dict[str, list[tuple[str, Case]]] = {
    "legal": [("", call) for call in LEGAL],
    "different": [("", call) for call, *_ in DIFFERENT],
    "errors": [*ILLEGAL, *OURS, *MORE],
    "warnings": [*WARNED, *UNKNOWN],
}


def shown(value: Any) -> str:
    """An argument, on one line."""
    match value:
        case Expr() | StructInfo() | PrimExpr():
            return " ".join(show(value).split())
        case tuple() | list():
            return f"({', '.join(map(shown, value))})"
    return repr(value)


def entries(cases: list[tuple[str, Case]]) -> Iterator[tuple[str, str]]:
    """A heading for each call, and what is said of it with the number of the argument it points at."""
    seen = Counter[str]()
    for code, (name, args, attrs) in cases:
        given = [*map(shown, args), *(f"{k}={shown(v)}" for k, v in attrs.items())]
        heading = f"{code} {name}({', '.join(given)})".strip()
        seen[heading] += 1
        if seen[heading] > 1:
            heading += f" ({seen[heading]})"
        found = derive(name, *args, **attrs)
        lines = [f"-> {found}"]
        for report, place in zip(found.reports, found.recorder.places, strict=True):
            lines += [f"{report[1]} {report[0]} at {place!r}", f"  {report[2]}"]
        yield heading, "\n".join(lines)


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_calls(name: str) -> None:
    assert_entries(SNAPSHOTS / f"{name}.txt", entries(CASES[name]))
