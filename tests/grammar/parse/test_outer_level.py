"""Imports and declarations of shape variables beside the definitions of a text are read as Python reads them."""

import pytest

from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.parser import parse

MAIN = """
@R.function
def main(x: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):
    y = R.add(x, x)
    return y
"""


@pytest.mark.parametrize(
    "head",
    [
        'n = TypeVar("n")  # rows',
        "n = TypeVar('n',)",
        'n = TypeVar(name="n")',
        'n = typing.TypeVar("n")',
        'n, m = TypeVar("n"), TypeVar("m")',
        'n=TypeVar("n");m=TypeVar("m")',
        'n = TypeVar(\n    "n"\n)',
        "from typing import TypeVar\nn = TypeVar('n')",
        "from tvm.script import (relax as R,\n    tir as T)",
    ],
)
def test_declarations_are_read_and_formatted(head: str) -> None:
    assert parse(head + MAIN).diagnostics == ()
    found = format_text(head + MAIN)
    assert found.text is not None and 'n = TypeVar("n")' in found.text


@pytest.mark.parametrize("head", ["n = T.int64()", 'n = tir.Var("n", "int64")', '"""A text."""'])
def test_other_lines_are_read_and_kept(head: str) -> None:
    assert parse(head + MAIN).diagnostics == ()
    found = format_text(head + MAIN)
    assert found.text is not None and found.text.startswith(f"{head}\n")


ALONE = "TypeVar takes only the name of the shape variable 'n'"


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ('n = TypeVar("m")', "the TypeVar 'n' is declared with a different name, 'm'"),
        ("n = TypeVar()", ALONE),
        ("n = TypeVar(1)", ALONE),
        ('n = TypeVar("n" "n")', "the TypeVar 'n' is declared with a different name, 'nn'"),
        ('n = TypeVar("")', ALONE),
        ('n = TypeVar("n", bound=int)', ALONE),
        ('n = TypeVar("n").x', ALONE),
        ('n, m = TypeVar("m"), TypeVar("m")', ALONE),
        ('n, m = TypeVar("n")', "each shape variable needs a TypeVar of its own"),
        ('n, m = TypeVar("n"), TypeVar("m"), 1', "each shape variable needs a TypeVar of its own"),
        ('n = TypeVar("n") )', "this is not Python: unmatched ')'"),
        ('n = TypeVar("n"', "this is not Python: '(' was never closed"),
        ('    n = TypeVar("n")', "this is not Python: unexpected indent"),
        ("from tvm.script imprt relax as R", "this is not Python: invalid syntax"),
    ],
)
def test_what_python_or_tvm_refuses_is_an_error(head: str, message: str) -> None:
    found = parse(head + MAIN).diagnostics
    assert [(d.severity, d.message) for d in found] == [("error", message)]


@pytest.mark.parametrize("deep", ["+ (", "[", "{", "- -", "not (", "f(", "x[", "lambda: ("])
@pytest.mark.parametrize("levels", [150, 250, 5_000])
def test_what_is_nested_deeper_than_python_reads(deep: str, levels: int) -> None:
    """The error is at that line, and the text is read on."""
    ends = {"(": ")", "[": "]", "{": "}"}
    line = f"m = TypeVar({deep * levels} 1{ends.get(deep[-1], '') * levels})"
    text = f'n = TypeVar("n")\n{line}\n{MAIN}'
    found = parse(text)
    assert len(found.modules) == 1
    (error,) = [each for each in found.diagnostics if each.is_error]
    assert error.span is not None and text.count("\n", 0, error.span[0]) == 1
    assert "deeper than Python reads" in error.message or "takes only the name" in error.message
    assert format_text(text, "<text>").status in (0, 1, 2)


def test_a_flag_of_a_decorator_is_true_or_false() -> None:
    text = "@R.function(private=Truue)\ndef f(x: R.Object):\n    return x\n"
    (found,) = parse(text).diagnostics
    assert found.message == "expected True or False for private, found the name 'Truue'"


@pytest.mark.parametrize(
    "annotation", ["R.Tensor((nn, 4))", "R.Shape([nn])", "R.Tensor((nn * 2,))"]
)
def test_a_dimension_beside_declared_ones_is_declared(annotation: str) -> None:
    text = f'n = TypeVar("n")\n@R.function\ndef main(x: {annotation}):\n    return x\n'
    (found,) = parse(text).diagnostics
    assert found.message == "the dimension 'nn' is not declared"
    assert found.help == "did you mean 'n'?"
    assert parse(text.removeprefix('n = TypeVar("n")\n')).diagnostics == ()


@pytest.mark.parametrize(
    "rest",
    [
        "def main(k: T.int64, x: R.Tensor((k, n))):\n    return x",
        "def main[k](x: R.Tensor((k, n))):\n    return x",
        'def main(x: R.Tensor(("k", n))):\n    return x',
        "def main(x: R.Tensor((n, 2))):\n    k = T.int64()\n    y = R.match_cast(x, R.Tensor((n, k)))\n    return y",
    ],
)
def test_other_ways_to_declare_a_dimension(rest: str) -> None:
    assert parse(f'n = TypeVar("n")\n@R.function\n{rest}\n').diagnostics == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A[0] = + k", "unary + is not supported for scalars"),
        ("A[0] = R.add(k, k)", "R.add belongs to Relax and has no meaning in a PrimFunc"),
        ("x = y = k", "not supported by TVM in a PrimFunc: chained assignment"),
    ],
)
def test_what_no_prim_func_says(text: str, message: str) -> None:
    head = '@T.prim_func\ndef f(A: T.Buffer((4,), "float32"), k: T.float32):\n'
    found = [d.message for d in parse(f"{head}    {text}\n").diagnostics if d.is_error]
    assert found == [message]


@pytest.mark.parametrize(
    ("attribute", "annotation", "wrong"),
    [(True, False, False), (False, True, True), (False, False, False)],
)
def test_dimensions_are_quoted_outside_of_bodies(
    attribute: bool, annotation: bool, wrong: bool
) -> None:
    info = 'R.Tensor(("n", 4), "float32")'
    lines = [
        "@I.ir_module",
        "class M:",
        f'    I.module_attrs({{"a": {info if attribute else 1}}})',
        "    @R.function",
        f"    def main(x: {info}) -> {info}:",
        f"        y{f': {info}' if annotation else ''} = x",
        "        return y",
        "    @T.prim_func",
        '    def kernel(x: T.Buffer(("n",), "float32"), n: T.int64):',
        "        T.evaluate(n)",
    ]
    found = [d.message for d in parse("\n".join(lines)).diagnostics if d.is_error]
    words = "only a signature quotes dimensions: a body has them declared"
    assert found == ([words] if wrong else [])
