"""Arguments of calls of PrimFuncs that TVM takes by their place are the ones that it takes by name."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

OUT = 'R.Tensor((8,), dtype="float32")'
TEXT = """
@I.ir_module
class Module:
    @T.prim_func
    def kernel(a: T.Buffer((8,), "float32")):
        for i in range(8):
            a[i] = T.float32(1)

    @T.prim_func
    def copy(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
        for i in range(8):
            b[i] = a[i]

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")):
        cls = Module
        z = R.exp(x)
        y = R.%s
        return y
"""


@pytest.mark.parametrize(
    ("by_place", "by_name"),
    [
        (
            f"call_tir_inplace(cls.kernel, (z,), [0], {OUT})",
            f"call_tir_inplace(cls.kernel, (z,), inplace_indices=[0], out_ty={OUT})",
        ),
        (
            f"call_tir_inplace(cls.kernel, (z,), [0], out_ty={OUT})",
            f"call_tir_inplace(cls.kernel, (z,), inplace_indices=[0], out_ty={OUT})",
        ),
        (
            f'call_tir_with_grad(cls.copy, (z,), {OUT}, "grad", {{"k": 1}})',
            f'call_tir_with_grad(cls.copy, (z,), out_ty={OUT}, te_grad_name="grad", te_grad_kwargs={{"k": 1}})',
        ),
    ],
)
def test_by_place_as_by_name(by_place: str, by_name: str) -> None:
    one, other = parse(TEXT % by_place), parse(TEXT % by_name)
    assert not one.diagnostics and not other.diagnostics
    assert print_module(one.modules[0], "0.27") == print_module(other.modules[0], "0.27")
    assert not check_text(TEXT % by_place).diagnostics
