"""One mistake in the layout, a bracket or a quote is one error, whatever it breaks behind it."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

TEXT = """n = TypeVar("n")

@I.ir_module
class M:
    @T.prim_func(s_tir=True)
    def kernel(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.sblock("x"):
                vi = T.axis.spatial(8, i)
                T.reads(a[vi])
                b[vi] = a[vi]

    @R.function
    def main(
        x: R.Tensor((n, 4), dtype="float32"),
        y: R.Tensor((n, 4), dtype="float32"),
    ) -> R.Tensor((n, 4), dtype="float32"):
        with R.dataflow():
            first = R.add(x, y)
            second = R.multiply(first, y)
            third = R.concat(
                (first, second), axis=1
            )
            R.output(second)
        return second

    @R.function
    def other(x: R.Tensor((n, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
        y = R.exp(x)
        return y
"""
MISTAKES = {
    "a head further right": ("        with R.dataflow", "            with R.dataflow"),
    "a head further left": ("        with R.dataflow", "    with R.dataflow"),
    "no head": ("        with R.dataflow():\n", ""),
    "the first line of a block further left": ("            first =", "        first ="),
    "a line of a block further left": ("            second =", "        second ="),
    "a line further right": ("            second =", "              second ="),
    "a binding behind the outputs": (
        "        return second",
        "            late = R.exp(second)\n        return late",
    ),
    "a decorator further right": (
        "    @R.function\n    def other",
        "        @R.function\n    def other",
    ),
    "a bracket too many": ("R.add(x, y)", "R.add(x, y))"),
    "a bracket of a head": ("T.Buffer((8,)", "T.Buffer(8,)"),
    "a quote of a head": ('"float32"), b:', '"float32), b:'),
    "a quote": ('y: R.Tensor((n, 4), dtype="float32"),', 'y: R.Tensor((n, 4), dtype="float32),'),
    "a head twice": ("    def main(\n", "    def main(\n    def main(\n"),
    "a decorator that cannot be read": ("(s_tir=True)", "(s_tir=True, 1)"),
    "a return further left": ("        return second", "    return second"),
    "a block of a kernel further left": ("                T.reads", "            T.reads"),
    "an undefined output": ("R.output(second)", "R.output(secnd)"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_one_mistake_is_one_error(name: str) -> None:
    before, after = MISTAKES[name]
    assert TEXT.count(before) >= 1
    found = check_text(TEXT.replace(before, after, 1)).diagnostics
    assert len([d for d in found if d.is_error]) == 1, [d.message for d in found]


def test_without_a_mistake_there_is_none() -> None:
    assert not check_text(TEXT).diagnostics


def test_two_mistakes_are_two() -> None:
    text = TEXT.replace("            second =", "              second =").replace(
        "R.exp(x)", "R.exp(x))"
    )
    text = text.replace("R.add(x, y)", "R.ad(x, y)")
    found = [d for d in check_text(text).diagnostics if d.is_error]
    assert len(found) == 3, [d.message for d in found]


def test_a_name_that_is_nothing_is_still_unknown_in_an_annotation() -> None:
    text = """@R.function(pure=False)
def main(x: R.Tensor((n, 4), "float32")):
    _: R.Tuple() = R.print(x, format="{}")
    a: R.Tensor[_, "float32"] = R.exp(x)
    b: R.Tensor[(_, 4), "float32"] = R.exp(a)
    return b
"""
    assert not [d for d in check_text(text).diagnostics if d.is_error]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            'x: R.Tensor((n, 4), dtype="float32"),\n        y',
            'x: ((n, 4), dtype="float32"),\n        y',
        ),
        ('dtype="float32"),\n    ) ->', 'dtype="float32"),\n    ->'),
        ("R.concat(\n                (first", "R.concat(\n                first"),
        ("R.concat(\n", "\n"),
    ],
)
def test_a_bracket_is_one_error(right: str, wrong: str) -> None:
    has_one_error(right, wrong)


def has_one_error(right: str, wrong: str) -> None:
    assert TEXT.count(right) == 1
    found = check_text(TEXT.replace(right, wrong)).diagnostics
    assert len([d for d in found if d.is_error]) == 1, [d.message for d in found]


def test_two_functions_have_two_errors() -> None:
    text = TEXT.replace("R.add(x, y)", "R.add(x, y").replace("R.exp(x)", "R.exp x)")
    assert [d.code for d in check_text(text).diagnostics] == ["PARSE", "PARSE"]


def test_a_dimension_that_is_declared_nowhere_is_one_error() -> None:
    text = TEXT.replace("y = R.exp(x)", 'y: R.Tensor((nn, 4), "float32") = R.exp(x)')
    assert [d.code for d in check_text(text).diagnostics] == ["WF14-unbound"]


def test_a_wrong_flag_is_one_error() -> None:
    text = TEXT.replace("@R.function\n    def other", "@R.function(pure=Falsee)\n    def other")
    text = text.replace("y = R.exp(x)", '_ = R.print(x, format="{}")\n        y = R.exp(x)')
    assert [d.code for d in check_text(text).diagnostics] == ["PARSE"]


def test_a_parameter_twice_is_one_error() -> None:
    text = TEXT.replace("y: R.Tensor((n, 4)", "x: R.Tensor((3, n, 7)").replace(" y)", " x)")
    found = [d.message for d in check_text(text).diagnostics if d.is_error]
    assert found == ["the function already has a parameter 'x'"], found


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("first = R.add(x, y)\n            ", "first = R.add(x, y)"),
        ("y = R.exp(x)", "y, R.Tensor((n, 4)) = R.exp(x)"),
        ("y = R.exp(x)", "y) R.exp(x)"),
        ("y = R.exp(x)", "z = R.exp(x) y: R.Tensor((n, 4)) = z"),
    ],
)
def test_names_of_a_lost_statement_are_known(right: str, wrong: str) -> None:
    has_one_error(right, wrong)
