"""`rlx run`: inputs, what is printed, exit statuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rlx.commands.run import main
from rlx.commands.step import main as step_main

EXAMPLES = Path(__file__).parents[3] / "examples"

PROGRAM = """
n = TypeVar("n")

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 2), "float32"), p: R.Prim("int64"), s: R.Shape([n])) -> R.Tensor(ndim=2):
        y = R.add(x, x)
        return y

    @R.function
    def first(x: R.Tensor((4,), "float32"), at: R.Tensor((1,), "int64")) -> R.Tensor((1,), "float32"):
        y = R.take(x, at, axis=0)
        return y

    @R.function
    def cast(x: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor((3,), "float32"):
        y = R.match_cast(x, R.Tensor((3,), "float32"))
        return y

    @R.function(pure=False)
    def outside(x: R.Tensor((2,), "float32")) -> R.Object:
        y = R.call_packed("somebody.else", x, sinfo_args=R.Object)
        return y

    @R.function
    def forever(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        y: R.Tensor((2,), "float32") = cls.forever(x)
        return y

    @R.function
    def two(t: R.Tuple(R.Tensor((2,), "int8"), R.Tensor((), "bool"))) -> R.Tuple(R.Tensor((2,), "int8"), R.Tensor((), "bool")):
        return t
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.rlx"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    status = main(list(argv))
    out, err = capsys.readouterr()
    return status, out, err


def test_what_is_not_given_is_made_up_and_said(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, program, "--input", "n=3", "--input", "x=iota")
    assert status == 0
    assert out.startswith("generated: random p, s\nx = float32(3, 2) [0 1 2 3 4 5]\n")
    assert "s = shape(3,)" in out
    assert out.endswith("main returned\nfloat32(3, 2)\n  [[ 0.  2.]\n   [ 4.  6.]\n   [ 8. 10.]]\n")


def test_sizes_are_learnt_from_files(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "x.npy"
    np.save(given, np.ones((5, 2), np.float32))
    status, out, err = run(
        capsys, program, "--input", f"x={given}", "--input", "p=7", "--out", str(tmp_path / "out")
    )
    assert status == 0 and "s = shape(5,)" in out
    assert np.array_equal(np.load(tmp_path / "out" / "result.npy"), np.full((5, 2), 2, np.float32))
    assert "result.npy" in err


def test_tuples(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tmp_path / "t.npz"
    np.savez(given, a=np.array([1, 2], np.int8), b=np.array(True))
    out = tmp_path / "out"
    status, text, _ = run(
        capsys, program, "--entry", "two", "--input", f"t={given}", "--out", str(out)
    )
    assert status == 0 and "tuple of 2" in text
    assert sorted(p.name for p in out.iterdir()) == ["result.0.npy", "result.1.npy"]


def test_a_fault_says_where_and_with_what(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, program, "--entry", "first", "--input", "at=[9]")
    assert status == 1
    assert (
        "fault[E-index-range]: " in out
        and "the index 9 is out of bounds for an axis of length 4" in out
    )
    assert f"--> {program}:13:13" in out
    assert "= operand 1: int64(1) [9]" in out
    assert "by rule E-evaluate; `rlx explain E-index-range` explains it" in out


def test_a_failed_check(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, program, "--entry", "cast", "--input", "x=[1.0, 2.0]")
    assert status == 1
    assert "check failed[E-cast-dimension]" in out and "expected 3, found 2" in out


def test_fuel(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, program, "--entry", "forever", "--fuel", "1000")
    assert status == 3 and "out of fuel" in out


def test_external_functions_are_not_looked_up(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, program, "--entry", "outside")
    assert status in (1, 3) and "somebody.else" in out


def test_without_a_compiler_the_reference_runs_and_it_is_said_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("RLX_CACHE", str(tmp_path))
    status, out, err = run(capsys, str(EXAMPLES / "call_tir.rlx"))
    assert status == 0 and "main returned" in out
    assert len(err.splitlines()) == 1 and "compiler" in err


def test_json(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(
        capsys,
        program,
        "--entry",
        "first",
        "--format",
        "json",
        "--input",
        "at=[1]",
        "--input",
        "x=iota",
    )
    record = json.loads(out)
    assert status == 0 and record["version"] == 1 and record["outcome"] == "returned"
    assert record["value"] == {"shape": [1], "dtype": "float32", "data": [1.0]}
    status, out, _ = run(
        capsys, program, "--entry", "first", "--format", "json", "--input", "at=[-1]"
    )
    record = json.loads(out)
    assert status == 1 and record["code"] == "E-index-range" and record["line"] == 13


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("q=1", "there is no parameter or shape variable 'q'; there are: x, p, s, n"),
        ("n=many", "n: expected an integer, found 'many'"),
        ("x", "expected NAME=VALUE"),
        ("=5", "expected NAME=VALUE"),
        ("x=nowhere.npy", "nowhere.npy cannot be read"),
        ("x=__import__('os')", "expected a .npy file, a number, a list"),
        ("x=[[1, 2], [3]]", "the lists differ"),
        ("p=[1]", "expected Prim"),
        ("n=-1", "its shape would be (-1, 2)"),
        ("n=100000000000", "too large to generate"),
        pytest.param("n=" + "9" * 5000, "n: a number has 4300 digits or more", id="long size"),
        pytest.param("x=[[1, " + "9" * 5000 + "]]", "x: a number has 4300 digits", id="long item"),
        pytest.param(
            "x=[[0x1" + "0" * 4000 + "]]",
            "x: expected Tensor((n, 2), float32); a number of 16001 bits does not fit",
            id="hexadecimal",
        ),
    ],
)
def test_inputs_that_make_no_sense(
    program: str, given: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, program, "--input", given)
    assert status == 2 and message in err and out == ""


def test_a_pickle_is_not_opened(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.array([object()]), allow_pickle=True)
    status, _, err = run(capsys, program, "--input", f"x={path}")
    assert status == 2 and "cannot be read" in err


def test_what_the_checker_refuses_does_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.rlx"
    path.write_text("@R.function\ndef main(x: R.Tensor):\n    return y\n", encoding="utf-8")
    status, out, err = run(capsys, str(path))
    assert status == 1 and out == "" and "WF02-undefined" in err


def test_files_and_entries_that_are_not_there(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "nowhere.rlx")[0] == 2
    status, _, err = run(capsys, program, "--entry", "other")
    assert status == 2 and "functions that can be called: main, first" in err


KERNELS = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def product(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 4), "float32")
        B = T.match_buffer(b, (4, 3), "float32")
        C = T.match_buffer(c, (n, 3), "float32")
        for i, j, k in T.grid(n, 3, 4):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] += A[vi, vk] * B[vk, vj]

    @T.prim_func(private=True)
    def hidden(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(0)
"""


@pytest.mark.parametrize("backend", ["native", "steps"])
def test_a_prim_func_returns_what_it_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: str
) -> None:
    path = tmp_path / "kernels.rlx"
    path.write_text(KERNELS, encoding="utf-8")
    given = {"A": np.arange(8.0).reshape(2, 4), "B": np.arange(12.0).reshape(4, 3)}
    texts = [each for name, x in given.items() for each in ("--input", f"{name}={x.tolist()}")]
    for entry in ([], ["--entry", "product"]):
        command = [str(path), *texts, *entry, "--format", "json", "--backend", backend]
        status, out, _ = run(capsys, *command)
        assert status == 0
        assert json.loads(out)["value"]["data"] == (given["A"] @ given["B"]).ravel().tolist()
    status, _, err = run(capsys, str(path), "--entry", "hidden")
    assert status == 2 and "by itself only if it is not private" in err
    assert "functions that can be called: product" in err


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.rlx")), ids=lambda p: p.stem)
def test_both_backends_agree_on_the_examples(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from rlx.grammar.nodes import ast
    from rlx.grammar.read.parser import parse

    functions = [
        name.name_hint
        for name, f in parse(path.read_text("utf-8")).modules[0].functions.items()
        if isinstance(f, ast.Function) and "global_symbol" in f.attrs
    ]
    for name in functions:
        found = [
            run(capsys, str(path), "--entry", name, "--backend", b, "--format", "json")
            for b in ("steps", "native")
        ]
        if "cannot generate a value for Object" in found[0][2]:
            assert path.stem == "in_place"
            continue
        assert found[0][0] == found[1][0] == 0, found
        values = [json.loads(out)["value"] for _, out, _ in found]
        assert _close(values[0], values[1])


def _close(a: object, b: object) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_close, a, b))
    if isinstance(a, dict) and isinstance(b, dict) and "data" in a:
        return a["shape"] == b["shape"] and bool(np.allclose(a["data"], b["data"], 1e-4, 1e-4))
    return a == b


LARGE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def big(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32")):
        c = T.alloc_buffer((1099511627776,), "int8")
        for i in range(4):
            c[i] = T.int8(1)
            b[i] = a[i]

    @R.function
    def main(x: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        y = R.call_tir(cls.big, (x,), out_sinfo=R.Tensor((4,), "int32"))
        return y
"""


@pytest.mark.parametrize("backend", ["native", "steps"])
def test_a_terabyte_is_a_fault(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.rlx"
    path.write_text(LARGE, encoding="utf-8")
    status, out, _ = run(capsys, str(path), "--backend", backend)
    assert status == 1 and "fault[E-tir-allocate]" in out


ENDLESS = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def f(x: T.Buffer((2,), "int32"), y: T.Buffer((2,), "int32")):
        y[0] = 1
        y[1] = 1
        while y[0] > 0:
            y[0] = y[0] * x[0] % 7 + 1

    @R.function
    def main(x: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
        cls = Module
        y = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((2,), "int32"))
        return y
"""


@pytest.fixture
def endless(tmp_path: Path) -> str:
    path = tmp_path / "endless.rlx"
    path.write_text(ENDLESS, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("backend", ["native", "steps"])
@pytest.mark.parametrize("options", [["--fuel", "10000"], ["--iterations", "0"]])
def test_an_endless_loop_is_out_of_fuel(
    endless: str, backend: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [endless, "--input", "x=[3, 3]", "--backend", backend, *options]
    status, out, _ = run(capsys, *argv)
    assert (
        status == 3
        and "out of fuel[E-tir-fuel]" in out
        and "raise the limit with --iterations N" in out
    )


def test_an_endless_loop_ends_in_seconds_by_default(
    endless: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, endless, "--input", "x=[3, 3]", "--backend", "steps")[0] == 3


def test_more_fuel_than_a_counter_holds(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--fuel", "1" + "0" * 30, "--iterations", "1" + "0" * 30]
    assert run(capsys, str(EXAMPLES / "call_tir.rlx"), *argv)[0] == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [("--fuel", "-1"), ("--iterations", "-5"), ("--seed", "-1"), ("--fuel", "1_0")],
)
def test_numbers_below_zero_are_no_counts(
    program: str, option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run(capsys, program, f"{option}={value}")
    assert end.value.code == 2
    assert f"argument {option}: expected an integer from 0, found '{value}'" in (
        capsys.readouterr().err
    )


def test_ctrl_c_ends_machine_code(endless: str) -> None:
    argv = ["run", endless, "--input", "x=[3, 3]", "--iterations", "1" + "0" * 18]
    compiled = ["run", endless, "--input", "x=[3, 3]", "--iterations", "10"]
    python = [sys.executable, "-m", "rlx"]
    assert subprocess.run([*python, *compiled], capture_output=True, check=False).returncode == 3
    running = subprocess.Popen([*python, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        time.sleep(1.5)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=5)
    finally:
        running.kill()
    assert running.returncode in (-signal.SIGINT, 130)


OVERWRITES = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def f(x: T.Buffer((2,), "int32"), y: T.Buffer((2,), "int32")):
        for i in range(2):
            x[i] = 7
            y[i] = x[i]

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
        cls = Module
        y = R.call_tir_inplace(cls.f, (x, x), inplace_indices=[1], out_sinfo=R.Tensor((2,), "int32"))
        _ = R.print(y, format="y is {}")
        return y
"""


def test_inputs_are_told_as_they_were_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "overwrites.rlx"
    path.write_text(OVERWRITES, encoding="utf-8")
    _, out, _ = run(capsys, str(path), "--input", "x=[1, 2]")
    assert out.startswith("x = int32(2) [1 2]\n")
    assert "7 7" in out


PRINTS = """
@R.function(pure=False)
def main(x: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
    _ = R.print(x, format="x is {}")
    return x
"""


def test_what_a_program_prints_is_part_of_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "prints.rlx"
    path.write_text(PRINTS, encoding="utf-8")
    status, out, _ = run(capsys, str(path), "--input", "x=[1, 2]", "--format", "json")
    assert status == 0 and json.loads(out)["printed"] == ["x is [1 2]"]
    _, out, _ = run(capsys, str(path), "--input", "x=[1, 2]")
    assert out.splitlines()[:3] == ["x = int32(2) [1 2]", "", "x is [1 2]"]
    assert step_main([str(path), "--input", "x=[1, 2]", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["entry"] == "main" and err == "x is [1 2]\n"


def test_json_has_no_numbers_that_json_has_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.rlx"
    text = '@R.function\ndef main(k: R.Prim("float32"), x: R.Tensor((2,), "int4")):\n    t = (k, x)\n    return t\n'
    path.write_text(text, encoding="utf-8")
    argv = [str(path), "--format", "json", "--input", "k=-inf", "--input", "x=[-8, 7]"]
    status, out, _ = run(capsys, *argv)
    number, tensor = json.loads(out, parse_constant=pytest.fail)["value"]
    assert status == 0 and number == {"number": "-inf", "dtype": "float32"}
    assert tensor["data"] == [-8, 7] and all(type(x) is int for x in tensor["data"])


WITH_A_NUMBER = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def f(x: T.Buffer((4,), "int32"), k: T.int32, y: T.Buffer((4,), "int32")):
        t = T.alloc_buffer((1,), "int32")
        t[0] = k
        for i in range(2):
            y[2 * i] = x[i] + t[0]
            y[2 * i + 1] = x[i]

    @R.function
    def main(x: R.Tensor((4,), "int32"), k: R.Prim("int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        y = R.call_tir(cls.f, (x, k), out_sinfo=R.Tensor((4,), "int32"))
        return y
"""


@pytest.mark.parametrize("backend", ["native", "steps"])
def test_prim_funcs_with_numbers_and_memory_of_their_own(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "number.rlx"
    path.write_text(WITH_A_NUMBER, encoding="utf-8")
    argv = [str(path), "--input", "x=[1, 2, 3, 4]", "--input", "k=7", "--backend", backend]
    status, out, _ = run(capsys, *argv)
    assert status == 0 and out.endswith("int32(4)\n  [8 1 9 2]\n")
