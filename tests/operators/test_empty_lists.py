"""An empty list of numbers is a list of none, and no argument that was left out."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

TEXT = """@R.function
def main(x: R.Tensor((8, 4), "float32")):
    e = R.tuple()
    y = R.strided_slice(x, {})
    return y
"""


@pytest.mark.parametrize("empty", ["()", "[]", "R.tuple()", "e"])
def test_an_empty_list_is_as_long_as_it_is(empty: str) -> None:
    full = ["(0,)", "(0,)", "(3,)", "(1,)"]
    for k in range(4):
        given = [*full[:k], empty, *full[k + 1 :]]
        found = check_text(TEXT.format(", ".join(given))).diagnostics
        assert [d.code for d in found] == ["OBL-slices-length"], given
    assert not check_text(TEXT.format(", ".join([empty] * 4))).diagnostics
