"""Messages about declared results use the spelling of the text."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

TEXT = """\
@I.ir_module
class M:
    @T.prim_func
    def k(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        a = R.call_tir(cls.k, (x,), out_ty=R.Tensor((4,), "float32"))
        b = cls.k(x)
        c = R.call_dps_packed("k", (x,))
        d = R.call_pure_packed("k", x)
        return a
"""


@pytest.mark.parametrize(("out", "results"), [("out_ty", "ty_args"), ("out_sinfo", "sinfo_args")])
def test_messages_use_the_words_of_the_text(out: str, results: str) -> None:
    call, dps, packed = check_text(TEXT.replace("out_ty", out)).errors
    assert f"{out}=R.Tensor(" in (call.help or "")
    assert dps.message.endswith(f"0 {out} are given, expected one")
    assert packed.message.endswith(f"expected {results}")
