"""`rlx lower`, `rlx build`, `rlx disasm`, and `rlx run` of what they make."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx.commands import build, disasm, lower, run
from rlx.grammar.nodes import ast
from rlx.grammar.print.weights import print_with_weights

EXAMPLES = Path(__file__).parents[2] / "examples"
CALL_TIR = str(EXAMPLES / "call_tir.rlx")


def test_lower_prints_each_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert lower.main(["--to", "CallTIRRewrite", CALL_TIR]) == 0
    assert "R.builtin.alloc_tensor" in capsys.readouterr().out
    assert lower.main(["--to", "vmmemorylower", CALL_TIR]) == 0
    assert "R.vm.alloc_storage" in capsys.readouterr().out
    assert lower.main([CALL_TIR]) == 0
    assert "vm.builtin.match_shape" in capsys.readouterr().out


def test_lower_keeps_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed program runs as the original does, and is read again with its data."""
    text = """
@R.function
def main(x: R.Tensor(("n", 40), "float32"), w: R.Tensor((40, 40), "float32")):
    return R.matmul(x, w)
"""
    [(var, function)] = rlx.parse(text).relax_functions.items()
    weights = np.arange(1600, dtype="float32").reshape(40, 40)
    module = ast.IRModule({var: function.bind_params({"w": weights})})
    path = tmp_path / "model.rlx"
    path.write_text(print_with_weights(module))
    assert lower.main(["--legalize", str(path)]) == 0
    made = rlx.run(capsys.readouterr().out, inputs=[np.eye(40, dtype="float32")])
    assert made.numpy().tolist() == weights.tolist()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--to", "VMShapLower", CALL_TIR], 2, "did you mean VMShapeLower?"),
        ([str(EXAMPLES / "nothing.rlx")], 2, "nothing.rlx"),
        ([str(EXAMPLES / "broken" / "shapes.rlx")], 1, "error"),
    ],
)
def test_lower_refuses(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if not Path(arguments[-1]).exists() and status == 1:
        arguments = [str(next((EXAMPLES / "broken").glob("*.rlx")))]
    assert lower.main(arguments) == status
    assert said in capsys.readouterr().err


def test_build_run_disasm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "model.rlxexe")
    assert build.main([CALL_TIR, "-o", out]) == 0
    assert "1 function," in capsys.readouterr().err
    given = ["--input", "n=2", "--input", "m=3", "--format", "json"]
    assert run.main([CALL_TIR, *given]) == 0
    by_steps = json.loads(capsys.readouterr().out)["value"]
    assert run.main([out, *given]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == by_steps
    assert run.main([CALL_TIR, "--backend", "vm", "--profile", *given]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["value"] == by_steps
    assert "the machine itself" in shown.err
    assert disasm.main([out]) == 0
    assert "call  matmul" in capsys.readouterr().out
    assert disasm.main([out, "--stats"]) == 0
    assert "Globals (#1): [main]" in capsys.readouterr().out
    assert disasm.main([out, "--python"]) == 0
    assert "ib = rlx.vm.ExecBuilder()" in capsys.readouterr().out


def test_what_goes_wrong_has_a_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "model.rlxexe"
    assert build.main([CALL_TIR, "-o", str(out)]) == 0
    assert run.main([str(out), "--input", "a=3"]) == 1
    assert "check failed[E-builtin-check-rank]: main: parameter 0, a" in capsys.readouterr().out
    assert run.main([str(out), "--entry", "mian"]) == 2
    assert "no function 'mian'; functions that can be called: main" in capsys.readouterr().err
    out.write_bytes(out.read_bytes()[:-9])
    assert run.main([str(out)]) == 2
    assert "damaged" in capsys.readouterr().err
    assert disasm.main([CALL_TIR]) == 2
    assert "expected an executable of rlx" in capsys.readouterr().err
    assert run.main([CALL_TIR, "--profile"]) == 2
    assert "--profile needs --backend vm" in capsys.readouterr().err
    for command in (lower.main([str(out)]), build.main([str(out), "-o", str(tmp_path / "x")])):
        assert command == 2
    assert capsys.readouterr().err.count(f"{out} is an executable, compiled already: `rlx run") == 2
    out.write_bytes(b"@R.function\n\xff")
    assert lower.main([str(out)]) == 2
    assert capsys.readouterr().err == f"rlx lower: {out}: not UTF-8 (byte 12)\n"
    assert build.main([CALL_TIR, "-o", str(tmp_path / "no" / "such.rlxexe")]) == 2


OUTER = """from tvm.script import ir as I, relax as R, tirx as T
k = compute()

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def f(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] + k

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.f, (x,), R.Tensor((4,), "float32"))
        return y
"""


@pytest.mark.parametrize(
    "line", ["lower --legalize", "build -o out.rlxexe", "build --legalize -o out.rlxexe"]
)
def test_a_value_of_python_around_a_module_is_shown_where_it_is_used(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check of the file leaves it to Python; what compiles the module alone has no value for it."""
    from tests.hostile.every_command import asked

    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(OUTER)
    assert asked(["check", "model.py"]).status == 0
    answer = asked([*line.split(), "model.py"])
    assert answer.status == 1
    assert "error[TIR01-undefined]: 'k'" in answer.err
    shown = answer.err.splitlines()
    at = next(k for k, text in enumerate(shown) if "^" in text)
    assert shown[at - 1][shown[at].index("^")] == "k"
