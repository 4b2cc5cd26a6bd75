"""An index outside of its axis is reported where index, extent and values are short: long ones are nobody's slips."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

TEXTS = {
    "an index": "a: T.Buffer((4,), 'float32')):\n    for i in range(4):\n        a[i + {more} + 4]",
    "a value": "a: T.Buffer((4,), 'float32')):\n    for i in range(4):\n"
    "        j: T.let[T.int32] = i + {more} + 4\n        a[j]",
    "an extent": "p: T.handle, n: T.int32):\n    a = T.match_buffer(p, (n - ({more}),))\n"
    "    for i in range(4):\n        a[n + i]",
}


def codes(where: str, terms: int) -> list[str]:
    more = " + ".join(["1"] * terms)
    text = f"@T.prim_func\ndef f({TEXTS[where].format(more=more)} = T.float32(1)\n"
    return [d.code for d in check_text(text, "long.rlx").diagnostics]


@pytest.mark.parametrize("where", TEXTS)
def test_what_is_long_is_left_alone(where: str) -> None:
    for terms in (1, 2, 5, 10, 15):
        assert codes(where, terms) == ["TIR11-range"], terms
    for terms in (25, 40, 100, 400):
        assert codes(where, terms) == [], terms
