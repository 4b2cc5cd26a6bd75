"""`rlx relay`: what each action prints, and its exit status."""

from __future__ import annotations

import io
import json
import sys

import pytest

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
    assert "note[RL-operator-known]: my.log is not in the table" in err


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


def test_wrong_usage(call) -> None:  # type: ignore[no-untyped-def]
    assert call(GOOD, "run", "--entry", "other")[::2] == (
        2,
        "rlx relay: there is no function 'other'; there are: main\n",
    )
    assert call(GOOD, "run", "--input", "y=1")[0] == 2
    assert call(GOOD, "run", "--input", "x")[0] == 2
    with pytest.raises(SystemExit):
        main(["to-anv", "-"])
    assert main(["check", "/nowhere/x.relay"]) == 2
