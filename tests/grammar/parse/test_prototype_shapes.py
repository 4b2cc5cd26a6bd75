"""Annotations of 2022 without the letter; the first argument of its call_tir is a shape, however it is written."""

import pytest

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module

TEXT = """\
@I.ir_module
class M:
    @T.prim_func
    def f(a: T.handle, b: T.handle):
        n = T.var("int64")
        A = T.match_buffer(a, (n, 4), "float32")
        B = T.match_buffer(b, (n, 4), "float32")
        for i, j in T.grid(n, 4):
            B[i, j] = A[i, j]
    @R.function
    def main(x: Tensor((n, 4), "float32")) -> Tensor((n, 4), "float32"):
        y = R.call_tir(SHAPE, f, [x])
        return y
"""


@pytest.mark.parametrize("shape", ["(n, 4)", "R.shape_of(x)", "x.shape", "R.shape([n, 4])"])
def test_a_shape_comes_first(shape: str) -> None:
    found = check_text(TEXT.replace("SHAPE", shape))
    assert found.diagnostics == ()
    assert 'R.call_tir(cls.f, (x,), out_ty=R.Tensor((n, 4), dtype="float32"))' in print_module(
        found.modules[0]
    )


@pytest.mark.parametrize("numbers", ["(n, 4)", "[n, 4]", "R.shape([n, 4])"])
def test_numbers_for_the_function_come_last(numbers: str) -> None:
    text = TEXT.replace("b: T.handle):", "b: T.handle, m: T.int64, k: T.int64):")
    found = check_text(text.replace("SHAPE, f, [x]", f"(n, 4), f, [x], {numbers}"))
    assert found.diagnostics == ()
    printed = print_module(found.modules[0])
    assert "R.call_tir(cls.f, (x,), " in printed and "tir_vars=R.shape([n, 4])" in printed
