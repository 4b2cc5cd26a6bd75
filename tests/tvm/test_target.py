"""TVM 0.27 refuses what a target of 0.27 calls an error, and reads what it does not."""

from __future__ import annotations

import pytest
from tvm.error import DiagnosticError

from rlx.checker.check import check_text

from .test_printer import read

KERNEL = """@I.ir_module
class M:
    @T.prim_func(s_tir=True)
    def k(a: T.Buffer((4,), "float32"), c: T.Buffer((4,), "float32")):
        for i in range(4):
            with {}("b"):
                v = T.axis.spatial(4, i)
                {}({{"a": 1}})
                c[v] = a[v]
    @R.function
    def main(x: {}) -> R.Tensor((4,), "float32"):
        cls = M
        y = R.call_tir(cls.k, (x,), {}=R.Tensor((4,), "float32"))
        return y
"""
RIGHT = ("T.sblock", "T.sblock_attr", 'R.Tensor((4,), "float32")', "out_ty")
WRONG = ("T.block", "T.block_attr", 'R.Tensor[(4,), "float32"]', "out_sinfo")


def refused(text: str) -> bool:
    """Whether the target makes a spelling of a text an error."""
    found = check_text(text, target="0.27").errors
    return any(d.code.startswith("VERSION") for d in found)


def test_tvm_reads_what_the_target_reads() -> None:
    text = KERNEL.format(*RIGHT)
    assert not refused(text)
    assert read(text) is not None


@pytest.mark.parametrize("at", range(len(RIGHT)), ids=WRONG)
def test_tvm_refuses_what_the_target_does_not_read(at: int) -> None:
    text = KERNEL.format(*RIGHT[:at], WRONG[at], *RIGHT[at + 1 :])
    assert refused(text)
    with pytest.raises(DiagnosticError):
        read(text)
