"""TVM reads the output of `rlx fmt` as the program that it read before, in any layout.

``RLX_TVM_FORMAT=N`` takes N calls of each operator and N generated programs, instead of a sample.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
import tvm
import tvm_ffi

from rlx.checker import check_text
from rlx.generate.programs import Options, random_module
from rlx.grammar.print.formatting import format_text
from rlx.grammar.print.printer import print_module
from tests.grammar.noise import noisy
from tests.hostile.corpus import EXAMPLES

from .calls_as_text import LEGAL, texts
from .test_printer import read

MANY = int(os.environ.get("RLX_TVM_FORMAT", "0"))


def disagreement(text: str, rng: random.Random, is_read: bool = False) -> str | None:
    """The difference between the program read and the one written; texts that TVM does not read
    give none, unless it must.

    Neither do texts of which TVM says that they differ from themselves: it compares a scalar parameter that stands in
    the type of a result as a variable without a binder.
    """
    try:
        expected = read(text)
        if not tvm_ffi.structural_equal(expected, read(text)):
            return None
    except Exception:
        if is_read:
            raise
        return None
    other = noisy(text, rng)
    outcome = format_text(other)
    if outcome.text is None:
        return f"not formatted: {outcome.complaints}"
    if format_text(outcome.text).text != outcome.text:
        return "formatted again, it is another text"
    if sorted(comments(outcome.text)) != sorted(comments(other)):
        return "a comment was lost"
    return _difference(expected, outcome.text)


def _difference(expected: Any, text: str) -> str | None:
    try:
        found = read(text)
    except Exception as error:  # noqa: BLE001
        return f"TVM refuses it: {str(error)[:300]}"
    if tvm_ffi.structural_equal(expected, found):
        return None
    try:
        tvm.ir.assert_structural_equal(expected, found)
    except ValueError as error:
        return f"TVM reads something else: {str(error)[:300]}"
    return None


def comments(text: str) -> list[str]:
    """The comments of a text that are not the header that TVM prints."""
    found = [line[line.index("#") :].strip() for line in text.splitlines() if "#" in line]
    return [each for each in found if not each.startswith(("# from ", "# with T."))]


def calls() -> Iterator[tuple[str, str]]:
    """A call of each operator, or of a sample of them, spelled in one of the ways there are."""
    rng = random.Random(5)
    by_name: dict[str, list[Any]] = {}
    for case in LEGAL:
        by_name.setdefault(case[0], []).append(case)
    for name, cases in by_name.items():
        if MANY or rng.random() < 0.08:
            for case in rng.sample(cases, min(max(MANY, 1), len(cases))):
                yield name, rng.choice(list(texts(case)))


def test_calls_of_operators() -> None:
    rng = random.Random(1)
    wrong = [(name, text, found) for name, text in calls() if (found := disagreement(text, rng))]
    assert wrong == []


HEAD = (
    '@R.function(pure=False)\ndef main(x: R.Tensor((4, 8), "float32"), c: R.Tensor((), "bool")):\n'
)


@pytest.mark.parametrize(
    "call",
    [
        'R.astype(x, "float16")',
        'R.zeros((4, 8), "float32")',
        'R.einsum((x, x), "ij,ij->i")',
        'R.take(x, R.const([0, 1], "int64"), 0, "clip")',
        'R.nn.pad(x, (0, 0, 1, 1), "constant", 0.0)',
        "R.max(x, ())",
        "R.max(x, [])",
        "R.max(x, None, True)",
        "R.concat([R.flatten(x), R.flatten(x)], None)",
        "R.concat((R.flatten(x),), axis=None)",
        "R.strided_slice(x, [0], [0], [1], None)",
        "R.clip(x, 0, 6.5)",
        "R.clip(x, T.float64(0), T.float32(6))",
        "R.full((4,), R.const(1.5), 'float32')",
        "R.reshape(x, (2, -1))",
        'R.memory.alloc_storage((4,), 0, "global", "uint8")',
        'R.memory.alloc_storage(R.shape([4]), R.prim_value(0), R.str("global"), R.dtype("uint8"))',
        'R.call_packed("f", x, R.str("a"), R.prim_value(1), ty_args=R.Object)',
        'R.call_packed("f", x, "a", 1, ty_args=R.Object)',
        'R.print(x, format="{}")',
        "R.tuple(x, x)[0]",
        "(x, R.exp(x))[1]",
        "x + x * x",
        "-x",
        "R.const([[1, 2], [3, 4]], 'int64')",
        "x.astype('float16')",
        *("3", "1.5", "True", "T.int64(3)", "T.bool(True)", "T.float32(1.5)", "R.prim_value(3)"),
        *("R.prim_value(-3)", "(x, 3, 1.5, True)", "(x, (x, c))[1][0]", "x // x % x", "x < x"),
        "R.match_cast(x, R.Tensor((4, 8), 'float32'))",
        "R.str('a\\nb\\x00')",
        "R.topk(x, 2, 0, 'both', True, 'int32')",
        "R.layout_transform(x, index_map=lambda a, b: (b, a))",
        "R.one_hot(R.const([1], 'int64'), R.prim_value(1.0), R.prim_value(0.0), 4, -1)",
        "R.split(x, [1, 3], 1)",
    ],
)
def test_calls_as_people_write_them(call: str) -> None:
    text = f"{HEAD}    y = {call}\n    return x\n"
    assert disagreement(text, random.Random(1), is_read=True) is None


@pytest.mark.parametrize(
    "body",
    [
        "t = (x, c)\n    a, b = t\n    return a",
        "if c: y = R.exp(x)\n    else: y = R.sin(x); y = R.exp(y)\n    return y",
        "y: T.int32 = 3\n    z: T.float32 = 3.5\n    w: T.bool = True\n    return (y, z, w)",
        "y: R.Tensor(ndim=2) = R.exp(x); z: R.Any = y\n    return z",
        "n, m = T.int64(), T.int64()\n    y = R.match_cast(x, R.Tensor((n, m)))\n    return y",
        "@R.function\n    def f(z: R.Tensor((4, 8))):\n        return R.exp(z)\n    y = f(x)\n    return y",
        "R.func_attr({'a': 1, 'b': [1, 2.5, 'x'], 'c': {1: True}, 'e': None})\n    return x",
        "R.print(x, x, format='')\n    _ = R.print(x, format='a{}')\n    return x",
    ],
)
def test_functions_as_people_write_them(body: str) -> None:
    text = f"{HEAD}    {body}\n"
    assert disagreement(text, random.Random(1), is_read=True) is None


@pytest.mark.parametrize("seed", range(MANY or 3))
def test_generated_programs(seed: int) -> None:
    rng = random.Random(seed)
    text = print_module(random_module(rng, Options(6)), "0.27")
    assert disagreement(text, rng) is None


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.rlx")), ids=lambda path: path.stem)
def test_examples(path: Any) -> None:
    assert disagreement(path.read_text("utf-8"), random.Random(0)) is None


def test_a_difference_is_seen() -> None:
    text = f"{HEAD}    y = R.exp(x)\n    return x\n"
    assert disagreement(text, random.Random(0)) is None
    assert "something else" in str(_difference(read(text), text.replace("R.exp", "R.sin")))
    assert "refuses" in str(_difference(read(text), text.replace("R.exp", "R.unheard_of")))


def test_what_the_parser_has_no_words_for_is_written_otherwise_or_refused() -> None:
    let = "T.Let(w + w, where={w: A[0]})"
    kernel = f'@T.prim_func\ndef f(A: T.Buffer((4,), "int64")):\n    A[1] = {let} + {let}\n'
    with pytest.raises(tvm.error.DiagnosticError):
        read(kernel)
    written = format_text(kernel, version="0.27").text
    assert written is not None
    assert "T.Let(" in read(written).script()
    for call in (
        "R.inspect.tensor_ndim(x)",
        'R.device("llvm", 0)',
        'R.hint_on_device(x, "llvm:0")',
    ):
        text = f'@R.function\ndef f(x: R.Tensor((4,), "float32")):\n    y = {call}\n    return x\n'
        with pytest.raises(tvm.error.DiagnosticError):
            read(text)
        assert format_text(text, version="0.27").text is None
        assert [each.code for each in check_text(text, target="0.27").errors] == [
            "VERSION-operator"
        ]
        assert format_text(text.replace("llvm", "cpu"), version="0.25").text is not None


@pytest.mark.parametrize(
    "value",
    [
        *("x + 0", "T.Add(x, 0)", "T.Add(0, x) * 1", "T.Mul(x, 0)", "T.Mul(T.Add(x, 0), 1)"),
        *("T.Div(x, 1)", "T.truncdiv(x, 2)", "T.FloorDiv(0, x)", "x // 1", "T.FloorMod(x, 1) + x"),
        *(
            "T.Sub(2, 3)",
            "T.Cast('int32', T.LT(2, 3))",
            "T.Cast('int32', T.EQ(x, 3))",
            "T.min(x, 0)",
        ),
        "T.Cast('int32', T.Mul(T.Cast('float32', x), T.float32(0)))",
        "T.Cast('int32', T.Div(T.Cast('float32', x), T.float32(1)) / T.float32(2))",
    ],
)
def test_operators_on_literals_that_tvm_computes_or_keeps(value: str) -> None:
    """TVM makes `x` of `x + 0`, and keeps `T.Add(x, 0)`."""
    text = f'@T.prim_func\ndef main(x: T.int32, b: T.Buffer((4,), "int32")):\n    b[0] = {value}\n'
    assert disagreement(text, random.Random(1), is_read=True) is None


KERNEL = """\
offset = TypeVar("offset")
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(p: T.Buffer(("pages", 4), "float32", elem_offset=offset), c: T.Buffer(("batch + 1",), "int32", offset_factor=1), q: T.Buffer(("pages", 4), "float32"), batch: T.int32):
        pages = T.int32()
        for i in range(batch):
            with T.sblock("q"):
                v = T.axis.spatial(batch, i)
                angle = T.float32()
                q[v, 0] = T.Let(T.cos(angle) * p[v, 0], where={angle: T.Cast("float32", c[v])})
            with T.sblock("r"):
                v = T.axis.spatial(batch, i)
                angle = T.float32()
                q[v, 1] = T.Let(T.sin(angle) * p[v, 1], where={angle: T.Cast("float32", c[v + 1])})
"""


def test_a_kernel_with_sizes_of_32_bits_an_offset_and_two_variables_of_one_name() -> None:
    assert disagreement(KERNEL, random.Random(1), is_read=True) is None
