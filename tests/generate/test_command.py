"""`rlx generate`: programs that are legal, in every dialect, and the same for the same seed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

import rlx
from rlx.commands.generate import main
from rlx.generate.programs import FEATURES
from rlx.grammar.dialects import DIALECTS
from rlx.grammar.nodes.ast import Function, Op
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.parser import parse


def made(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 0
    return capsys.readouterr().out


def relax_functions(text: str) -> list[Function]:
    """The functions of all modules, without PrimFuncs."""
    return [f for module in parse(text).modules for f in module.relax_functions.values()]


def test_programs_are_legal_in_every_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    for dialect in DIALECTS:
        text = made(capsys, "-n", "5", "--seed", "17", "--size", "6", "--dialect", dialect)
        assert rlx.check(text).diagnostics == ()
        assert [m.name for m in parse(text).modules] == [f"Program{s}" for s in range(17, 22)]


def test_a_seed_is_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    three = made(capsys, "-n", "3", "--seed", "4")
    assert three == "\n".join(made(capsys, "--seed", str(seed)) for seed in (4, 5, 6))


def test_each_program_is_printed_when_it_is_made() -> None:
    """A reader has the first of a billion, and ends the command by going away."""
    words = ["generate", "-n", "1000000000", "--size", "2"]
    command = [sys.executable, "-P", "-m", "rlx", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        timer = Timer(60, process.kill)
        timer.start()
        assert process.stdout is not None and process.stderr is not None
        assert b"Program" in process.stdout.read(4096)
        process.stdout.close()
        assert process.wait() == 0 and process.stderr.read() == b""
        timer.cancel()


def test_what_may_occur(capsys: pytest.CaptureFixture[str]) -> None:
    plain = made(capsys, "-n", "20", "--features", "", "--operators", "R.exp,add")
    assert rlx.check(plain).diagnostics == ()
    called = {
        node.op_name.removeprefix("relax.")
        for function in relax_functions(plain)
        for node in expressions(function)
        if isinstance(node, Op)
    }
    assert {"exp", "add"} <= called <= {"exp", "add", "ones", "zeros"}
    without = made(capsys, "-n", "20", "--without", "symbolic,if")
    assert "  if p" not in without and not any(f.shape_vars for f in relax_functions(without))


@pytest.mark.parametrize("code", ["WF02-undefined", "OBL-matmul-reduction", "D14-arity"])
def test_one_mistake(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = made(capsys, "-n", "3", "--near", code)
    assert [d.code for d in rlx.check(text).diagnostics if d.severity != "note"] == [code] * 3


def test_one_file_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = made(capsys, "-n", "2", "--seed", "9", "-o", str(tmp_path / "new"))
    files = [tmp_path / "new" / name for name in ("program9.rlx", "program10.rlx")]
    assert listed.splitlines() == [str(file) for file in files]
    assert all(rlx.check(file).ok for file in files)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-n", "0"], "expected a positive integer, found '0'"),
        (["--size", "ten"], "expected a positive integer, found 'ten'"),
        (["--features", "symbolc"], "found 'symbolc'; did you mean 'symbolic'?"),
        (["--features", "xxx"], ", ".join(sorted(FEATURES)[:3])),
        (["--operators", "R.nn.rleu"], "unknown operator 'nn.rleu'; did you mean 'nn.relu'?"),
        (["--near", "WF02-undefind"], "did you mean 'WF02-undefined'?"),
        (["--dialect", "0.1"], "invalid choice: '0.1'"),
    ],
)
def test_usage(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
