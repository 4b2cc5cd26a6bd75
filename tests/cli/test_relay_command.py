"""`rlx relay`: what each action prints, and its exit status."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from rlx import check
from rlx.commands.relay import main

GOOD = "def @main(%x: Tensor[(2,), float32]) { %1 = log(%x); add(%1, %1) }\n"
WRONG = "def @main(%x: Tensor[(2,), float32], %y: Tensor[(3,), float32]) { add(%x, %y) }\n"
COLUMN = WRONG.index("add") + 1


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    def run(text: str, action: str, *options: str) -> tuple[int, str, str]:
        given = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", given)
        status = main([action, "-", *options])
        return status, *capsys.readouterr()

    return run


def test_check(call) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = call(GOOD, "check")
    assert status == 0
    assert out.startswith("@main: fn (Tensor[(2,), float32]) -> Tensor[(2,), float32]\n\n1 file")
    status, out, _ = call(WRONG, "check")
    assert status == 1
    assert "error[OBL-broadcast-dims]" in out and f" --> <stdin>:1:{COLUMN}\n" in out
    status, out, _ = call(WRONG, "check", "--format", "json")
    (found,) = json.loads(out)["files"][0]["diagnostics"]
    assert (status, found["code"], found["column"]) == (1, "OBL-broadcast-dims", COLUMN)


def test_conversions(call) -> None:  # type: ignore[no-untyped-def]
    assert call(GOOD, "to-anf")[1].count("let") == 2
    assert "%0 = log(%x);\n  add(%0, %0)" in call(GOOD, "to-graph")[1]
    assert "R.add(v1, v1)" in call(GOOD, "to-relax")[1]
    status, out, err = call(GOOD.replace("log", "my.log"), "to-relax")
    assert status == 0 and 'R.call_pure_packed("my.log", x' in out
    assert "note[RL-operator-known]: my.log is not a known operator" in err


@pytest.mark.parametrize("action", ["to-anf", "to-graph", "to-relax", "run"])
def test_a_text_with_errors_is_refused(call, action: str) -> None:  # type: ignore[no-untyped-def]
    status, out, err = call(GOOD.replace("%1)", "%9)"), action)
    assert (status, out) == (1, "")
    assert "error[RL-name-bound]: %9 is not bound" in err


@pytest.mark.parametrize("action", ["to-relax", "run"])
def test_a_call_without_a_translation_is_refused(call, action: str) -> None:  # type: ignore[no-untyped-def]
    status, out, err = call(GOOD.replace("log(%x)", "log(%x, %x)"), action)
    assert (status, out) == (1, "")
    assert "error[RL-operator-operands]: log: expected 1 operand, found 2" in err


def test_run(call) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = call(GOOD, "run", "--input", "x=[1, 1]")
    assert (status, out) == (0, "main returned\nfloat32(2)\n  [0. 0.]\n")
    assert call(GOOD, "run", "--seed", "1")[1] != call(GOOD, "run", "--seed", "2")[1]
    status, out, _ = call(GOOD, "run", "--fuel", "1")
    assert status == 3
    assert out.startswith("out of fuel[RL-run-fuel]: ")
    status, out, _ = call("def @f(%x: int32) { floor_divide(%x, 0) }", "run", "--entry", "f")
    assert status == 1
    assert out.endswith(" --> <stdin>:1:21\n") and out.startswith("fault[E-divide-zero]: ")


def test_a_run_as_json(call) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = call(GOOD, "run", "--input", "x=[1, 1]", "--format", "json")
    said = json.loads(out)
    assert (status, said["entry"], said["outcome"]) == (0, "main", "returned")
    assert said["value"] == {"shape": [2], "dtype": "float32", "data": [0.0, 0.0]}
    divides = "def @f(%x: int32) { floor_divide(%x, 0) }"
    status, out, _ = call(divides, "run", "--entry", "f", "--format", "json")
    said = json.loads(out)
    assert (status, said["code"], said["line"], said["column"]) == (1, "E-divide-zero", 1, 21)
    with pytest.raises(SystemExit):
        call(GOOD, "to-anf", "--format", "json")


def test_wrong_usage(call) -> None:  # type: ignore[no-untyped-def]
    assert call(GOOD, "run", "--entry", "other")[::2] == (
        2,
        "rlx relay: no function 'other'; the module has: main\n",
    )
    assert call(GOOD, "run", "--input", "y=1")[0] == 2
    assert call(GOOD, "run", "--input", "x")[0] == 2
    with pytest.raises(SystemExit):
        main(["to-anv", "-"])
    assert main(["check", "/nowhere/x.relay"]) == 2
    assert call(GOOD, "run", "--entry", "mian")[2].endswith("; did you mean 'main'?\n")


def test_several_files_and_directories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    for name, text in (("b.relay", GOOD), ("in/a.relay", WRONG), ("in/c.txt", "")):
        (tmp_path / name).write_text(text, "utf-8")
    assert main(["check", str(tmp_path), str(tmp_path / "in" / "a.relay")]) == 1
    out = capsys.readouterr().out
    assert out.startswith("@main: ") and "2 files checked: 1 error" in out
    gone = str(tmp_path / "gone.relay")
    assert main(["check", gone, str(tmp_path / "b.relay"), "--format", "json"]) == 2
    first, second = json.loads(capsys.readouterr().out)["files"]
    assert first["diagnostics"][0]["message"] == "cannot read this file: No such file or directory"
    assert second["diagnostics"] == []
    (tmp_path / "none").mkdir()
    assert main(["check", str(tmp_path / "none")]) == 2
    assert "no file in this directory is called *.relay" in capsys.readouterr().out
    for action in ("to-anf", "run"):
        with pytest.raises(SystemExit) as stopped:
            main([action, gone, gone])
        assert stopped.value.code == 2
        assert f"{action} takes one file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "import numpy\nprint(1)\n",
        '# a note\n@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n',
        "from tvm.script import ir as I\n\n@I.ir_module\nclass Module:\n    pass\n",
    ],
)
def test_a_program_of_python_is_sent_to_its_command(call, text: str) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = call(text, "check")
    assert status == 1
    assert out.count("error[") == 1 and "expected a program of Relay, found Python" in out
    assert "check a program of Relax by `rlx check`" in out


@pytest.mark.parametrize("text", [GOOD, "fn (%x: int32) { %x }", '#[version = "0.0.5"]\n// a\n'])
def test_a_text_of_relay_is_sent_to_its_command(text: str) -> None:
    (found,) = check(text).diagnostics
    assert found.help is not None and "`rlx relay check`" in found.help
