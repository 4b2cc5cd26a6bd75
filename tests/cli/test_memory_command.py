"""`rlx memory`: the formulas, numbers for sizes, and what is said of sizes that do not exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.commands.memory import main

MLP = str(Path(__file__).parents[2] / "examples" / "mlp.rlx")


def test_numbers_and_formulas_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([MLP, "--at", "n=10", "--chart", "n=1:3", "--format", "json"]) == 0
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert function["alive"] == {"formula": "n * 1024", "bytes": 10240}
    assert [value["name"] for value in function["peaks"][0]["values"]] == ["gv", "gv1"]
    assert [row["bytes"]["alive at once"] for row in function["chart"]] == [1024, 2048, 3072]
    assert [plan["by"] for plan in function["plans"]] == ["rlx"]


def test_declared_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "bounded.rlx"
    program.write_text(
        """\
@R.function
def main(x: R.Tensor(("n",), "float32")):
    R.func_attr({"tir_var_upper_bound": {"n": 50}})
    y = R.exp(x)
    return y
"""
    )
    assert main([str(program)]) == 0
    assert "n <= 50; alive at once there: 200 bytes" in capsys.readouterr().out


def test_a_size_that_cancels_in_a_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The values have `k` and `6 - k` elements: together a number, each alone a formula."""
    program = tmp_path / "split.rlx"
    program.write_text(
        """\
@R.function
def main(x: R.Tensor((6,), "float32"), s: R.Shape(["k"])):
    k = T.int64()
    a = R.zeros(R.shape([k]), "float32")
    b = R.zeros(R.shape([6 - k]), "float32")
    return (a, b)
"""
    )
    assert main([str(program)]) == 0
    said = capsys.readouterr().out
    assert "together, 24 bytes" in said
    assert "a  k * 4 bytes" in said and "b  24 - k * 4 bytes" in said
    assert main([str(program), "--at", "k=2"]) == 0
    said = capsys.readouterr().out
    assert "a  k * 4 = 8 bytes" in said and "b  24 - k * 4 = 16 bytes" in said


def test_a_page_that_loads_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main([MLP, "--chart", "n=0:64", "--html", str(page)]) == 0
    text = page.read_text("utf-8")
    assert "<polyline" in text and "<script" not in text and "http" not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "n"], "expected sizes such as n=128,m=1, found 'n'"),
        (["--at", "n=-1"], "expected sizes such as n=128,m=1, found 'n=-1'"),
        (["--at", "m=3"], "the answer does not depend on 'm'; did you mean 'n'?"),
        (["--at", f"n={2**63}"], "a size is at most 2**63 - 1"),
        (["--chart", "n=3:1"], "the first value, 3, is larger than the last, 1"),
        (["--entry", "mian"], "no Relax function 'mian'; did you mean 'main'?"),
    ],
)
def test_what_cannot_be_asked(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([MLP, *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--at", "m=4"], ["--chart", "m=2:5"]])
def test_sizes_for_which_a_formula_has_no_value(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "divided.rlx"
    program.write_text(
        """\
@R.function
def main(s: R.Shape(["m"])):
    m = T.int64()
    return R.zeros(R.shape([12 // (m - 4)]), "float32")
"""
    )
    for form in ("human", "json"):
        assert main([str(program), *words, "--format", form]) == 2
        said = capsys.readouterr()
        assert "is not defined at m=4: division by zero" in said.err and not said.out
    assert main([str(program), "--at", "m=6"]) == 0
    assert "24 bytes" in capsys.readouterr().out
