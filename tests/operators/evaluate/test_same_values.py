"""What operators give at awkward operands stays what it is: other tests say that it is right, this one that nothing moves.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/operators/evaluate/test_same_values.py` writes the numbers anew. They are sums over all
elements, so that the last bits of floats, which differ between processors, do not matter.
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.operators.evaluation import OperatorFault
from tests.operators.evaluate.awkward import CASES, draw_call

SNAPSHOT = Path(__file__).parent / "snapshots" / "values.json"
CALLS = 24
NAMES = sorted({case[0] for case in CASES})


def arrays(value: Any) -> Iterator[Any]:
    """The arrays of a value, and its numbers as arrays."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from arrays(part)
    elif isinstance(value, np.ndarray | bool | int | float | np.generic):
        yield np.asarray(value)


def summed(array: Any) -> Any:
    """Counts of elements that are no numbers or infinite, and sums in which each element and its place weigh."""
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64).reshape(-1)
        finite = np.where(np.isfinite(wide), wide, 0)
        # Between -1 and 1, and different for small numbers, where most are.
        held = finite / (1 + np.abs(finite))
    places = 1 + np.arange(wide.size) % 7
    infinite = np.isposinf(wide).sum() - 3 * np.isneginf(wide).sum()
    return np.array([wide.size, np.isnan(wide).sum(), infinite, held.sum(), (held * places).sum()])


def outcome(name: str) -> tuple[dict[str, int], list[float]]:
    """The endings of some calls of an operator, and the sums over what they gave."""
    endings: Counter[str] = Counter()
    total = np.zeros(5)
    for seed in range(CALLS):
        call = draw_call(seed, frozenset([name]))
        if call is None:
            continue
        try:
            value = call.evaluate()
        except OperatorFault as fault:
            endings[fault.code] += 1
            continue
        for at, array in enumerate(arrays(value)):
            total += summed(array) * (1 + seed + at)
            endings[f"{array.dtype}[{array.ndim}]"] += 1
    return dict(sorted(endings.items())), [round(float(number), 4) for number in total]


def kept() -> dict[str, Any]:
    return dict(json.loads(SNAPSHOT.read_text("utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_values_are_as_they_were(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        endings, total = outcome(name)
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        entries = kept() if SNAPSHOT.exists() else {}
        entries[name] = [endings, total]
        lines = [f"{json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries)]
        SNAPSHOT.parent.mkdir(exist_ok=True)
        SNAPSHOT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    expected, sums = kept()[name]
    assert endings == expected
    np.testing.assert_allclose(total, sums, rtol=1e-4, atol=1e-2)
