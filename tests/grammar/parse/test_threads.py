"""A loop over threads names its thread."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

TEXT = """\
@T.prim_func
def f(a: T.Buffer((4,), "float32"), n: T.int64):
    for i in T.thread_binding({}):
        a[i] = 1.0
"""


@pytest.mark.parametrize("given", ["4", "4, thread=n", "4, n", "0, 4, thread=3"])
def test_a_thread_is_a_name(given: str) -> None:
    assert "PARSE" in {d.code for d in check_text(TEXT.format(given)).errors}


@pytest.mark.parametrize("given", ['4, thread="threadIdx.x"', '4, "threadIdx.x"'])
def test_a_named_thread_is_read(given: str) -> None:
    assert check_text(TEXT.format(given)).diagnostics == ()
