"""A call in front of an access may end the run, so the access is not certain; a value that is only computed may not."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

CALL = 'T.evaluate(T.call_extern("int32", "f"))'


@pytest.mark.parametrize(
    ("before", "behind", "certain"),
    [
        ("T.evaluate(0)", "T.evaluate(0)", True),
        ("T.evaluate(A[0])", CALL, True),
        ("C[i] = A[i]", CALL, True),
        (CALL, "T.evaluate(0)", False),
        ("if i > 1: " + CALL, "T.evaluate(0)", False),
        ("if i > 1: T.evaluate(0)", CALL, True),
        ("for j in range(2): " + CALL, "T.evaluate(0)", False),
    ],
)
def test_what_may_end_a_run_before_an_access(before: str, behind: str, certain: bool) -> None:
    text = (
        '@T.prim_func(s_tir=True)\ndef main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")'
        ', C: T.Buffer((4,), "float32")):\n    for i in range(4):\n'
        f"        {before}\n        B[i + 4] = A[i]\n        {behind}\n"
    )
    found = [d.code for d in check_text(text).diagnostics if d.is_error]
    assert found == (["TIR11-range"] if certain else [])
