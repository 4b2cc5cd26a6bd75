"""TVM 0.27 refuses what a target of 0.27 calls an error, and reads what it does not."""

from __future__ import annotations

import pytest
from tvm.error import DiagnosticError
from tvm.script import tirx

from rlx.checker.check import check_text
from rlx.grammar.dialects import LOST_WORDS, READERS
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.script_vocabulary import KNOWN

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


UNKNOWN = """@R.function
def f(x: R.Tensor(({0}, 4), {1})):
    y: R.Tensor(({0}, 4)) = x
    return y
"""


@pytest.mark.parametrize(("dim", "dtype"), [("_", '"float32"'), ("4", "_")])
def test_a_wildcard_is_of_2022(dim: str, dtype: str) -> None:
    right, wrong = UNKNOWN.format("4", '"float32"'), UNKNOWN.format(dim, dtype)
    assert not refused(right)
    assert refused(wrong)
    assert not check_text(wrong).errors
    assert read(right) is not None
    with pytest.raises(DiagnosticError):
        read(wrong)


def test_the_words_that_the_target_lost_are_those_that_tvm_lost() -> None:
    lost = {word for word in KNOWN if not hasattr(tirx, word)}
    told = LOST_WORDS | {form.partition(".")[2] for form in READERS if form.startswith("T.")}
    assert LOST_WORDS <= lost <= told | {"copy", "entry", "frame"}


def test_a_lost_word_is_refused_and_not_written() -> None:
    text = '@T.prim_func\ndef f(n: T.int32):\n    assert n > 0, "T.indexmod"\n    T.evaluate({})\n'
    assert not refused(text.format("T.exp2(1.0)"))
    assert refused(text.format("T.indexmod(n, 4)"))
    assert format_text(text.format("T.indexmod(n, 4)"), "a.rlx", version="0.27").text is None
