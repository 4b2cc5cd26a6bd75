"""The reducer: what it leaves is interesting, small, and cannot be made smaller by one step."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.commands import reduce as command
from rlx.commands.reduce import main
from rlx.generate.reduce import reduce, reduce_text
from rlx.grammar.nodes.visit import bindings
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

LONG = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]

    @R.function
    def helper(x: R.Tensor((4,), "float32"), unused: R.Tensor) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return y

    @R.function
    def main(x: R.Tensor((4, 6), "float32"), c: R.Prim("bool")) -> R.Tensor:
        with R.dataflow():
            a = R.exp(x)
            b = R.sin(a)
            d = R.add(a, b)
            R.output(d)
        if c:
            e = R.nn.relu(d)
            f = R.reshape(e, R.shape([5, 5]))
        else:
            f = R.tanh(d)
        g = R.cos(f)
        return g
"""


def _codes(text: str) -> set[str]:
    return {found.code for found in check_text(text).diagnostics}


def test_a_wrong_reshape_is_all_that_is_left() -> None:
    module = parse(LONG).modules[0]
    made = reduce(module, lambda m: "OBL-reshape-count" in _codes(print_module(m)))
    text = print_module(made)
    assert "OBL-reshape-count" in _codes(text)
    (function,) = made.functions.values()
    assert len(list(bindings(function))) == 1, text
    assert "sin" not in text


WORDS = ["exp", "sin", "tanh", "cos", "relu", "add", "call_tir"]


@settings(max_examples=12, deadline=None)
@given(st.sets(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_the_result_is_interesting_and_reducing_it_again_changes_nothing(words: set[str]) -> None:
    def interesting(text: str) -> bool:
        return all(word in text for word in words)

    made = reduce(parse(LONG).modules[0], lambda m: interesting(print_module(m)))
    assert interesting(print_module(made))
    again = reduce(made, lambda m: interesting(print_module(m)))
    assert print_module(again) == print_module(made)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.data())
def test_lines(numbers: list[int], data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.sampled_from(numbers), min_size=1))
    text = "".join(f"{number}\n" for number in numbers)
    made = reduce_text(text, lambda t: needed <= {int(line) for line in t.split()})
    assert sorted(map(int, made.split())) == sorted(needed)


SEARCH = "import sys; sys.exit('R.tanh' not in open(sys.argv[1]).read())"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.rlx"
    path.write_text(LONG, encoding="utf-8")
    assert main([str(path), "--test", f'"{sys.executable}" -c "{SEARCH}" {{}}']) == 0
    out, err = capsys.readouterr()
    assert "R.tanh" in out and "relu" not in out
    assert len(list(bindings(next(iter(parse(out).modules[0].functions.values()))))) == 1
    assert "runs" in err


def test_what_is_not_interesting_is_said_to_be_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.rlx"
    path.write_text("@R.function\ndef main(x: R.Tensor):\n    return x\n", encoding="utf-8")
    assert main([str(path), "--test", f'"{sys.executable}" -c "{SEARCH}" {{}}']) == 1
    assert "fails" in capsys.readouterr().err


def test_what_does_not_parse_is_reduced_by_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.rlx"
    path.write_text("one (\nR.tanh [\nthree {\n", encoding="utf-8")
    assert main([str(path), "--test", f'"{sys.executable}" -c "{SEARCH}" {{}}']) == 0
    assert capsys.readouterr().out == "R.tanh [\n"


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere.rlx", "--test", "true"]) == 2
    assert "nowhere.rlx" in capsys.readouterr().err


def test_the_command_is_one_of_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a name; with 'quotes'.rlx"
    path.write_text(LONG, encoding="utf-8")
    assert main([str(path), "--test", "grep -q tanh {} && grep -q helper {}"]) == 0
    assert {"tanh", "helper"} <= set(
        capsys.readouterr().out.replace(".", " ").replace("(", " ").split()
    )
    assert main([str(path), "--test", "grep -q tanh {} && grep -q nowhere {}"]) == 1
    assert main([str(path), "--test", "grep 'open"]) == 1
    with pytest.raises(SystemExit) as wrong:
        main([str(path), "--test", " "])
    assert wrong.value.code == 2


def test_what_is_smallest_when_it_is_interrupted_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(text: str, trial: Callable[[str], bool]) -> str:
        assert trial("R.tanh\n")
        assert not trial("nothing\n")
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "reduced", interrupted)
    path = tmp_path / "program.rlx"
    path.write_text(LONG, encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        main([str(path), "--test", "grep -q R.tanh"])
    assert capsys.readouterr().out == "R.tanh\n"
    assert main([str(path), "--test", "grep -q R.tanh", "-o", str(tmp_path)]) == 2
    assert "directory" in capsys.readouterr().err  # before anything is tried
