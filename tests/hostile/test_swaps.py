"""Arguments in other places: every command answers, and an error points into the call."""

import random
from pathlib import Path

import pytest

import rlx

from .swaps import complaints, texts, wrong

COUNT, SEED = 10, 11


def test_calls_with_moved_arguments_are_answered(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    for label, text in rng.sample(texts(1), COUNT):
        assert wrong(text, tmp_path) == [], (label, text)


PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def g(a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return a

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Any:
        cls = Module
        t = R.add(x, x)
        y = CALL
        return y
"""


@pytest.mark.parametrize(
    ("call", "by_position"),
    [
        ("R.memory.kill_tensor(tensor=t)", "R.memory.kill_tensor(t)"),
        ("R.vm.kill_object(obj=t)", "R.vm.kill_object(t)"),
        ("R.make_closure(args=(x,), func=cls.g)", "R.make_closure(cls.g, (x,))"),
        ("R.make_closure(cls.g, args=(x,))", "R.make_closure(cls.g, (x,))"),
        (
            "R.hint_on_device(dst_vdevice=R.device(1, 0), data=x)",
            "R.hint_on_device(x, dst_vdevice=R.device(1, 0))",
        ),
    ],
)
def test_operands_by_keyword_have_their_place(call: str, by_position: str, tmp_path: Path) -> None:
    text = PROGRAM.replace("CALL", call)
    assert rlx.show(rlx.parse(text)) == rlx.show(rlx.parse(PROGRAM.replace("CALL", by_position)))
    assert rlx.check(text).diagnostics == ()
    assert complaints(text, tmp_path) == []


def test_an_operand_is_given_once() -> None:
    text = PROGRAM.replace("CALL", "R.vm.kill_object(t, obj=t)")
    assert "obj is given twice, by position and by keyword" in str(rlx.check(text).diagnostics[0])
