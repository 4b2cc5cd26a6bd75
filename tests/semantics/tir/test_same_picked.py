"""What PrimFuncs compute, or how they end, of those that were picked because each shows a mistake which the others do not.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/tir/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.semantics.tir.test_same_picked 6000 300 --room semantics/tir` picks more of them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.grammar import tir
from rlx.semantics.faults import Stop
from rlx.semantics.tir import TirProgram
from tests.semantics.random_prim_funcs import arguments, functions
from tests.semantics.random_prim_funcs import program as pool
from tests.snapshots import assert_picked

__all__ = ["pool"]

PARTS = 20
FUEL = 3_000


def answers(text: str) -> str:
    """How each PrimFunc of a text ends, and what it leaves behind."""
    head, _, below = text.partition("\n")
    asked = json.loads(head[2:])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return "\n".join(line for func in functions(below) for line in _run(func, asked))


def _run(func: tir.PrimFunc, asked: dict[str, Any]) -> Iterator[str]:
    try:
        given = arguments(func, asked)
    except Stop as stop:
        yield f"{stop.code} {stop.message}"
        return
    heard: list[str] = []

    def outside(*args: Any) -> int:
        heard.append(" ".join(map(shown, args)))
        return 2

    unwritten: Any = asked.get("unwritten", ())
    if asked["seed"] % 3 == 0:
        unwritten = {at: bytearray(given[at].size) for at in unwritten if _is_array(given, at)}
    memory = asked.get("memory", 1 << 20)
    try:
        found = TirProgram(func).run(
            given,
            fuel=asked.get("fuel", FUEL),
            call={"out.side": outside, "some_function": outside},
            unwritten=unwritten,
            memory=memory,
        )
        yield f"returned {found!r}"
    except Stop as stop:
        yield f"{type(stop).__name__} {stop.code} {stop.message} {stop.span}"
    yield from heard
    yield from map(shown, given)
    if isinstance(unwritten, dict):
        yield str({at: flags.hex() for at, flags in unwritten.items()})


def _is_array(given: list[Any], at: int) -> bool:
    return at < len(given) and isinstance(given[at], np.ndarray)


def shown(value: Any) -> str:
    """A value; of a float three digits, since the last bits differ between processors."""
    if not isinstance(value, np.ndarray):
        return f"{value:.3g}" if isinstance(value, float) else repr(value)
    items = value.reshape(-1).tolist()
    few = [f"{item:.3g}" if isinstance(item, float) else str(item) for item in items]
    return f"{value.dtype}{value.shape} {' '.join(few)}"


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_functions(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
