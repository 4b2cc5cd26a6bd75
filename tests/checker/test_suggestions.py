"""What is meant where an argument is misspelt or stands in the place of another."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic

HEAD = """@R.function
def main(x: R.Tensor((2, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), n: T.int64, m: T.int64):
"""
SIZE = "R.shape([4, 4])"


def found(value: str) -> tuple[Diagnostic, ...]:
    return check_text(f"{HEAD}    y = {value}\n    return y\n").diagnostics


@pytest.mark.parametrize(
    ("value", "code", "word"),
    [
        ('R.nn.conv2d(x, w, data_layout="NCH")', "OBL-layout-axes", "NCHW"),
        ('R.astype(x, "flaot32")', "D14-argument", "float32"),
        ('R.nn.conv2d(x, w, out_dtype="float23")', "D14-argument", "float32"),
        (f'R.image.resize2d(x, {SIZE}, method="liner")', "OBL-word-known", "linear"),
        ('R.nn.pad(x, (0, 0, 0, 0, 0, 0, 1, 1), pad_mode="refect")', "OBL-word-known", "reflect"),
        ('R.nn.attention(x, x, x, causal_mask="TopLeftt")', "OBL-word-known", "TopLeft"),
    ],
)
def test_a_word_is_suggested(value: str, code: str, word: str) -> None:
    [said] = found(value)
    assert (said.code, said.help) == (code, f"did you mean {word!r}?")


@pytest.mark.parametrize(
    "value",
    [
        f'R.image.resize2d(x, {SIZE}, method="linear")',
        f'R.image.resize2d(x, {SIZE}, method="lanczos")',
        "R.arange(n, m)",
        "R.arange(n, m, 2)",
    ],
)
def test_nothing_is_said_of_what_may_be_meant(value: str) -> None:
    assert not found(value)


def test_no_handle_is_suggested() -> None:
    for word in ("handle", "handel"):
        text = f'@R.function\ndef main(h: R.Tensor((2,), "{word}")):\n    return h\n'
        [error] = check_text(text).diagnostics
        assert error.help is None


def test_two_arguments_in_the_place_of_each_other_are_one_mistake() -> None:
    text = """
@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), s: R.Shape, k: R.Tensor((3,), "int64")) -> R.Tensor((2, 3), "float32"):
        return x

    @R.function
    def main(a: R.Tensor((2, 3), "float32"), b: R.Tensor((3,), "int64"), s: R.Shape) -> R.Tensor((2, 3), "float32"):
        cls = M
        return cls.f({})
"""
    [error] = check_text(text.format("b, s, a")).diagnostics
    assert error.code == "D14-argument"
    assert error.help == "arguments 0 and 2 are swapped: each fits the parameter of the other"
    assert not check_text(text.format("a, s, b")).diagnostics
    assert len(check_text(text.format("b, s, b")).diagnostics) == 1
