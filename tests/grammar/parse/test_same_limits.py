"""Numbers at the limits of their types, wherever a text may have a number: the tree, its types, and what is said.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/grammar/parse/test_same_limits.py` writes the digests anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.checker.check import check_text
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "limits.txt"
BITS = (7, 8, 15, 16, 30, 31, 32, 53, 62, 63, 64)
NUMBERS = [*range(-2, 3), *(s * (1 << b) + d for b in BITS for s in (1, -1) for d in (-1, 0, 1))]
PRIM = """@T.prim_func(private=True)
def f(A: T.Buffer((4,), "{kind}"), n: T.int64, i: T.int32):
    {line}
"""
RELAX = """@R.function
def main(x: R.Tensor(("n", 4), "{kind}"), k: R.Prim("int64")):
    n = T.int64()
    y = {line}
    return y
"""
PLACES = {
    "a store": PRIM.replace("{line}", "A[0] = {}"),
    "beside an int32": PRIM.replace("{line}", "A[i + {}] = A[0]"),
    "beside an int64": PRIM.replace("{line}", "A[n - {}] = A[0]"),
    "behind a number": PRIM.replace("{line}", "A[0] = 1 + {}"),
    "a comparison": PRIM.replace("{line}", 'T.evaluate(T.Cast("int32", i < {}))'),
    "an extent": PRIM.replace("{line}", "for j in range({}): A[0] = A[0]"),
    "a typed number": PRIM.replace("{line}", "A[0] = T.{kind}({})"),
    "a constant": RELAX.replace("{line}", 'R.const({}, "{kind}")'),
    "a constant without a type": RELAX.replace("{line}", "R.const({})"),
    "a scalar": RELAX.replace("{line}", "R.prim_value({})"),
    "a typed scalar": RELAX.replace("{line}", "R.prim_value(T.{kind}({}))"),
    "a dimension": RELAX.replace("{line}", "R.reshape(x, R.shape([n, {}]))"),
    "beside a dimension": RELAX.replace("{line}", "R.shape([n * {} + k])"),
    "an axis": RELAX.replace("{line}", "R.sum(x, axis=[{}])"),
    "an annotation": RELAX.replace("{line}", 'R.match_cast(x, R.Tensor(({}, 4), "{kind}"))'),
    "an attribute": RELAX.replace("{line}", "R.strided_slice(x, [0], [{}], [n])"),
}


@pytest.mark.parametrize("place", PLACES)
def test_numbers_at_limits(place: str) -> None:
    lines: list[str] = []
    for at, number in enumerate(NUMBERS):
        kind = ("int32", "int8", "uint8", "int64", "float32", "uint64")[at % 6]
        text = PLACES[place].replace("{kind}", kind).replace("{}", str(number))
        report = check_text(text)
        lines += [text, *(f"{d} {d.help}" for d in report.diagnostics)]
        lines += map(repr, report.modules)
    assert_digest(SNAPSHOT, place, "\n".join(lines))
