"""The types of a call are given under one of their names, whichever version has it."""

from __future__ import annotations

from itertools import permutations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.dialects import TYPE_KEYWORDS
from rlx.grammar.print.formatting import format_text

CALLS = (
    'R.call_packed("f", x, {})',
    'R.call_pure_packed("f", x, {})',
    'R.call_dps_packed("f", (x,), {})',
    "R.call_tir(main, (x,), {})",
)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("one", "other"), list(permutations(TYPE_KEYWORDS, 2)))
def test_two_names_are_one_error(call: str, one: str, other: str) -> None:
    said = f'{one}=R.Tensor((4,), "float32"), {other}=R.Tensor((5,), "float32")'
    text = (
        '@R.function(pure=False)\ndef main(x: R.Tensor((4,), "float32")):\n'
        f"    y = {call.format(said)}\n    return y\n"
    )
    [error] = [d for d in check_text(text).diagnostics if d.is_error]
    assert error.code == "PARSE"
    assert "says again what" in error.message
    assert format_text(text).text is None
