"""`relax-check --spec 2022`: its formats, its exit status, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.commands.check import main

WRONG = """@R.function
def main(x: R.Tensor[(n,), "float32"]):
    y: R.Tensor[(4,), "float32"] = R.exp(x)
    return y
"""
RIGHT = WRONG.replace("(4,)", "(n,)")
MIXED = """@R.function
def main(x: R.Tensor((n,), dtype="float32", vdevice="cuda:0"), k: R.Prim("int64"), f: R.Callable):
    s: R.Shape([n]) = R.shape([n])
    y = R.hint_on_device(x, R.cpu(0))
    z = R.prim_value(n)
    return y
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.rlx"
    path.write_text(WRONG)
    return path


def test_errors_are_reported_and_exit_with_1(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--spec", "2022", str(program)]) == 1
    said = capsys.readouterr().out
    assert "error[OS-bind-proved]: the shape is annotated (4,), but is (n,)" in said
    assert "program.rlx:3:36" in said and "1 file checked: 1 error" in said


def test_json_has_the_same_form(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--spec", "2022", "--format", "json", str(program)]) == 1
    found = json.loads(capsys.readouterr().out)
    (diagnostic,) = found["files"][0]["diagnostics"]
    assert (diagnostic["code"], diagnostic["rule"]) == ("OS-bind-proved", "OS-bind")
    assert (diagnostic["line"], diagnostic["column"]) == (3, 36)
    assert found["summary"]["errors"] == 1


def test_a_program_without_errors(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(RIGHT)
    assert main(["--spec", "2022", str(program)]) == 0
    assert "no problems" in capsys.readouterr().out


def test_other_formats_and_options(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for format in ("sarif", "github"):
        assert main(["--spec", "2022", "--format", format, str(program)]) == 1
        assert "OS-bind-proved" in capsys.readouterr().out
    assert main(["--spec", "2022", "--ignore", "OS-bind", str(program)]) == 0
    assert main(["--explain", "OS-bind-proved"]) == 0


def test_one_text_may_not_use_both_systems(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(MIXED)
    assert main(["--spec", "2022", str(program)]) == 1
    said = capsys.readouterr().out
    for words in (
        "the specification of 2022 has no virtual devices",
        "the specification of 2022 has no scalars beside tensors: use a tensor of rank 0",
        "the specification of 2022 has no types of functions without parameters' types",
        "the specification of 2022 has no types of shapes with given dimensions",
        "the specification of 2022 has no `R.hint_on_device`",
        "a scalar is not a value in the specification of 2022",
    ):
        assert words in said, words
    assert said.count("error[") == 6


@pytest.mark.parametrize(
    "option", ["--dynamic-checks", "--fix", "--diff", "--statistics", "--derivations"]
)
def test_options_of_today(program: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--spec", "2022", "--format", "json", option, str(program)])
    assert stop.value.code == 2
    assert f"{option} and --spec 2022 cannot be combined" in capsys.readouterr().err


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert main(["--spec", "2022", str(tmp_path / "none.rlx")]) == 2
    with pytest.raises(SystemExit) as stop:
        main(["--spec", "1999", str(tmp_path)])
    assert stop.value.code == 2


def test_a_comment_silences_its_line_and_those_for_todays_rules_are_left_alone(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(WRONG.replace("= R.exp(x)", "= R.exp(x)  # rlx: ignore[OS-bind-proved]"))
    assert main(["--spec", "2022", "--strict", str(program)]) == 0
    program.write_text(RIGHT.replace("= R.exp(x)", "= R.exp(x)  # rlx: ignore[D11-annotation]"))
    assert main(["--spec", "2022", "--strict", str(program)]) == 0
    assert "IGNORE" not in capsys.readouterr().out


def test_a_misspelt_word_has_an_edit(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(RIGHT.replace("@R.function", "@R.functoin"))
    assert main(["--spec", "2022", "--format", "sarif", str(program)]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert change["insertedContent"]["text"] == "R.function"


def test_a_scalar_as_a_dimension_is_one_mistake(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(
        '@R.function\ndef main(k: R.Prim("int64"), x: R.Tensor(("k",), "float32")):\n    return x\n'
    )
    assert main(["--spec", "2022", "--format", "json", str(program)]) == 1
    found = json.loads(capsys.readouterr().out)["files"][0]["diagnostics"]
    assert {each["code"] for each in found} == {"OMIX-annotation-word", "OMIX-value-kind"}
