"""The versions that read a text: a program printed for a version is read by that version."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.grammar.dialects import VERSIONS
from rlx.grammar.print.formatting import format_text

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.rlx"))
BOUNDARIES = ("0.16", "0.23", "0.24", "0.25", "0.26", "0.27")


def of_versions(text: str, target: str | None) -> list[str]:
    """The codes about versions that a text gets."""
    found = check_text(text, target=target).diagnostics
    return [d.code for d in found if d.code.startswith("VERSION")]


@pytest.mark.parametrize("path", EXAMPLES[::2], ids=lambda path: path.stem)
def test_a_version_reads_what_is_printed_for_it(path: Path) -> None:
    for version in BOUNDARIES:
        printed = format_text(path.read_text(encoding="utf-8"), version=version).text
        if printed is not None:
            assert of_versions(printed, version) == []
            assert of_versions(printed, None) == []


@pytest.mark.parametrize("target", VERSIONS)
def test_a_kernel_of_another_version_is_an_error(target: str) -> None:
    kernel = '@T.prim_func\ndef f(a: T.Buffer((4,), "float32")):\n    with T.{}("b"):\n        a[0] = 1.0\n'
    older = VERSIONS.index(target) < VERSIONS.index("0.24")
    assert of_versions(kernel.format("block"), target) == ([] if older else ["VERSION-spelling"])
    assert of_versions(kernel.format("sblock"), target) == (["VERSION-spelling"] if older else [])


def test_an_operator_that_came_later_is_an_error() -> None:
    text = (
        '@R.function\ndef f(x: R.Tensor((4, 2), "float32"), n: R.Tensor((2,), "int64")):\n'
        "    y = R.reverse_sequence(x, n, seq_axis=0, batch_axis=1)\n    return y\n"
    )
    assert of_versions(text, "0.25") == ["VERSION-operator"]
    assert of_versions(text, "0.26") == []


@pytest.mark.parametrize("index", [0, 1])
def test_a_mesh_that_the_module_does_not_declare_is_an_error(index: int) -> None:
    text = (
        "@I.ir_module\nclass M:\n"
        '    I.module_global_infos({"mesh": [R.device_mesh((2,), I.Range(0, 2))]})\n'
        '    @R.function\n    def f(x: R.Tensor((4,), "float32")):\n'
        f'        y = R.dist.annotate_sharding(x, "mesh[{index}]", "S[0]")\n        return y\n'
    )
    assert of_versions(text, "0.27") == ["VERSION-operator"] * index


@pytest.mark.parametrize("value", ["A[0:4]", "A[A[0] : A[0] + 4]", "A[A[A[0]]:4]"])
def test_a_slice_that_is_a_value_is_told(value: str) -> None:
    text = (
        '@T.prim_func\ndef f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):\n'
        f"    B[0:4] = {value}\n"
    )
    found = check_text(text, target="0.27").errors
    assert [text[d.span[0] : d.span[1]] for d in found if d.span] == [value]


def test_the_edit_writes_the_word_of_the_target() -> None:
    text = '@R.func\ndef f(x: R.Tensor((4,), "float32")):\n    return x\n'
    (found,) = check_text(text, target="0.27").errors
    assert found.edit is not None
    assert (text[slice(*found.edit.span)], found.edit.text) == ("R.func", "R.function")


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(ValueError, match=r"9\.9"):
        check_text("", target="9.9")


@pytest.mark.parametrize(
    ("annotation", "wrong"),
    [
        ('R.Tensor((4,), "float32")', []),
        ('R.Tensor(("n",), "float32")', []),
        ('R.Tensor((k,), "float32")', []),
        ("R.Tensor((4,), kind)", []),
        ("R.Tensor((4,), float32)", ["float32"]),
        ('R.Tensor((n,), "float32")', ["n"]),
    ],
)
def test_python_must_know_a_name_without_quotes(annotation: str, wrong: list[str]) -> None:
    text = (
        f'from tvm.script import relax as R\nk, kind = 4, "float32"\n@R.function\n'
        f"def f(x: {annotation}):\n    return x\n"
    )
    found = check_text(text, "a.py").errors
    assert [text[slice(*d.span)] for d in found if d.span is not None] == wrong
    assert {d.code for d in found} <= {"PYTHON-name"}


@pytest.mark.parametrize(("annotation", "codes"), [("Tensor", []), ("R.Tensor", ["PYTHON-name"])])
def test_texts_of_2022_name_functions_of_their_class(annotation: str, codes: list[str]) -> None:
    text = f"""
import tvm
from tvm.script import relax as R, tir as T

@tvm.script.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer[(4,), "float32"], Y: T.Buffer[(4,), "float32"]):
        for i in T.grid(4):
            Y[i] = X[i] * T.float32(2)

    @R.function
    def main(x: {annotation}((4,), "float32")):
        with R.dataflow():
            y = R.call_tir(double, (x,), (4,), dtype="float32")
            R.output(y)
        return y
"""
    assert [d.code for d in check_text(text, "a.py").errors] == codes
