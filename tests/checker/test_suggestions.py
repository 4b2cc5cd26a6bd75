"""Suggestions for arguments that are misspelt or in the wrong place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.checker.derive.calls import SUGGESTED
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.suggest import distance, fewest_typos

from .test_work import calls

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
    assert error.help == "swap it with a: each fits the parameter of the other"
    assert not check_text(text.format("a, s, b")).diagnostics
    assert len(check_text(text.format("b, s, b")).diagnostics) == 1


def unknown_operators(names: list[str]) -> str:
    calls = "".join(f"    v{i} = R.{name}(x)\n" for i, name in enumerate(names))
    return f'@R.function\ndef main(x: R.Tensor((2,), "float32")):\n{calls}    return x\n'


def test_behind_many_unknown_operators_they_are_told_without_suggestions() -> None:
    many = [f"strange_operator_{i}" for i in range(SUGGESTED - 1)]
    said = check_text(unknown_operators([*many, "nn.softmx", "nn.relux"])).diagnostics
    assert len(said) == len(many) + 2
    assert said[-2].help == "did you mean `R.nn.softmax`?"
    assert said[-1].message == "unknown operator `R.nn.relux`"
    assert said[-1].help is not None and "did you mean" not in said[-1].help


def test_the_work_for_unknown_operators_is_that_of_their_number() -> None:
    """Each name asks for hardly more than a known operator, whether or not it is looked up."""
    names = [f"strange_operator_{i}" for i in range(900)]
    known = calls(lambda: check_text(unknown_operators(["nn.relu"] * 900)))
    first, last = (calls(lambda n=n: check_text(unknown_operators(names[:n]))) for n in (450, 900))  # type: ignore[misc]
    assert last < 2 * first
    assert last < 4 * known


@given(st.text("abcX", max_size=8), st.text("abcX", max_size=8))
def test_letters_alone_never_tell_of_more_typos_than_there_are(a: str, b: str) -> None:
    found = distance(a, b, 8)
    assert found is not None
    assert fewest_typos(a, b) == fewest_typos(b, a) <= found


def long_names(size: int) -> str:
    """Long names, all alike, and as many that are misspelt."""
    names = [f"{'a' * 200}{i}" for i in range(size)]
    defined = "".join(f"    {name} = x\n" for name in names)
    unknown = "".join(f"    y{i} = {name}q\n" for i, name in enumerate(names))
    return f"@R.function\ndef main(x: R.Object):\n{defined}{unknown}    return x\n"


def test_long_names_have_suggestions_until_that_has_cost_enough() -> None:
    few, many, more = (
        sum(bool(said.help) for said in check_text(long_names(size)).diagnostics)
        for size in (20, 100, 200)
    )
    assert few == 20
    assert more < many < 100


@pytest.mark.parametrize(
    "value",
    [
        "R.add(x, 1)",
        "R.add(x, R.const(1))",
        "R.sqrt(2)",
        "R.full((2, 3), 1.5)",
        'R.zeros((x.shape[0], 4), "float32")',
        "R.reshape(x, (R.shape_of(x)[0], 2, 2))",
        "y[1]",
        "R.add(x, R.add(y, y))",
        "R.add(x, y)",
        "R.astype(x, float16)",
    ],
)
def test_what_the_help_writes_is_right(value: str) -> None:
    """The expression at the end of the help, in place of what is marked, makes the program legal."""
    head = 'def f(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "int32")):'
    text = f"@R.function\n{head}\n    z = {value}\n    return z\n"
    (found,) = check_text(text, "a.rlx").diagnostics
    assert found.span is not None and found.help is not None
    written = re.sub(r"^.*?: |^write |, in quotes$", "", found.help)
    start, end = found.span
    written = written.replace("…", text[start:end])
    assert not check_text(f"{text[:start]}{written}{text[end:]}", "a.rlx").diagnostics
