"""The memory of all tensors that are alive is limited, on every way to run a program."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.semantics.live_memory import LiveMemory, TooMuchMemory, available, limited, parse
from rlx.semantics.outcome import Ended

MEGABYTE = 1_000_000
"""The bytes of each tensor here."""

CHAIN = """\
@R.function
def main(x: R.Tensor((250000,), "float32")):
    a = R.add(x, x)
    b = R.add(a, x)
    c = R.add(b, a)
    return c
"""

LOOPS = """\
@I.ir_module
class Module:
    @T.prim_func
    def inc(x: T.Buffer((250000,), "float32"), y: T.Buffer((250000,), "float32")):
        for i in range(250000):
            y[i] = x[i] + T.float32(1)

    @R.function
    def main(x: R.Tensor((250000,), "float32")):
        cls = Module
        a = R.call_tir(cls.inc, (x,), out_sinfo=R.Tensor((250000,), "float32"))
        b = R.call_tir(cls.inc, (a,), out_sinfo=R.Tensor((250000,), "float32"))
        return R.add(a, b)
"""

CALL = "R.call_tir(cls.first, (x,), out_sinfo=R.Tensor((40000, 40000), 'float32'))"
LARGE = """\
@I.ir_module
class Module:
    @T.prim_func
    def first(x: T.Buffer((2,), "float32"), y: T.Buffer((40000, 40000), "float32")):
        y[0, 0] = x[0]

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        y = MADE
        return y
"""


@pytest.mark.parametrize("backend", ["steps", "native"])
def test_a_run_within_the_limit_and_one_beyond(backend: str) -> None:
    """The input and three results are alive together."""
    assert rlx.run(CHAIN, memory=4 * MEGABYTE, backend=backend).ok
    ended = rlx.run(CHAIN, memory=4 * MEGABYTE - 1, backend=backend)
    assert isinstance(ended, Ended)
    assert ended.code == "E-result-memory-there"
    assert "976.6 KiB" in ended.message and "2.861 MiB are in use" in ended.message
    assert ended.span is not None
    assert CHAIN[slice(*ended.span)] == "R.add(b, a)"


def test_results_of_prim_funcs_count() -> None:
    assert rlx.run(LOOPS, memory=4 * MEGABYTE).ok
    ended = rlx.run(LOOPS, memory=2 * MEGABYTE)
    assert isinstance(ended, Ended)
    assert ended.code == "E-alloc-size"
    assert "the limit is" in ended.message


@pytest.mark.parametrize("backend", ["steps", "native", "vm"])
@pytest.mark.parametrize("command", ["run", "step"])
def test_the_option_of_commands(command: str, backend: str, tmp_path: Path) -> None:
    (tmp_path / "p.rlx").write_text(CHAIN)
    if command == "step" and backend == "native":
        backend = "steps"

    def told(size: str) -> tuple[int, str]:
        words = [sys.executable, "-m", "rlx", command, "p.rlx", "--memory", size]
        done = subprocess.run(
            [*words, "--backend", backend],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    assert told("64M")[0] == 0
    status, text = told("2M")
    assert status == 1, text
    assert "in use, and the limit is 2 MiB" in text
    assert "Traceback" not in text


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
@pytest.mark.parametrize("made", ["R.zeros((40000, 40000), 'float32')", CALL])
def test_the_system_has_less_than_the_option_says(made: str, tmp_path: Path) -> None:
    import resource

    path = tmp_path / "large.rlx"
    path.write_text(LARGE.replace("MADE", made))
    words = [sys.executable, "-m", "rlx", "run", str(path), "--seed", "0", "--memory", "60GiB"]
    limit = 3 << 30
    ran = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    code = "E-alloc-size" if made == CALL else "E-result-memory-there"
    assert ran.returncode == 1 and ran.stdout.startswith("generated"), ran.stderr
    assert f"fault[{code}]: " in ran.stdout and "Unable to allocate 5.96 GiB" in ran.stdout
    assert "= raise the limit with --memory SIZE, if the system has more\n" in ran.stdout


def test_a_place_is_told_as_json(tmp_path: Path) -> None:
    (tmp_path / "p.rlx").write_text(CHAIN)
    words = [sys.executable, "-m", "rlx", "run", "p.rlx", "--memory", "3M", "--format", "json"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["outcome"], found["line"]) == ("fault", 5)


@pytest.mark.parametrize("way", ["rand", "zeros", "ones", "iota"])
def test_generated_inputs_count_before_they_are_made(way: str) -> None:
    program = CHAIN.replace("250000", "250000000")  # 1 GB
    with pytest.raises(ValueError, match=r"x: a tensor of shape .* needs 953.7 MiB"):
        rlx.run(program, inputs={"x": way}, memory=100 * MEGABYTE)


def test_given_inputs_count() -> None:
    with pytest.raises(ValueError, match="x: the given tensor needs"):
        rlx.run(CHAIN, inputs={"x": np.zeros(250000, np.float32)}, memory=MEGABYTE // 2)


def test_large_random_inputs_have_the_numbers_of_the_generator() -> None:
    """They are made in parts, which must not show."""
    size = 3_000_000
    program = CHAIN.replace("250000", str(size)).split("    a =")[0] + "    return x\n"
    for kind, expected in (
        ("float32", np.random.default_rng(5).standard_normal(size).astype(np.float32)),
        ("int32", np.random.default_rng(5).integers(0, 10, size).astype(np.int32)),
        ("bool", np.random.default_rng(5).integers(0, 2, size).astype(np.bool_)),
    ):
        outcome = rlx.run(program.replace("float32", kind), seed=5)
        assert (outcome.numpy() == expected).all()


def test_memory_is_given_back_and_views_count_once() -> None:
    memory = LiveMemory(10_000)
    array = np.zeros(1000, np.uint8)
    memory.hold(array)
    memory.hold(array[10:])
    memory.hold(array.reshape(10, 100))
    assert memory.live == 1000
    view = array[1:2]
    del array
    gc.collect()
    assert memory.live == 1000  # the view holds it
    del view
    gc.collect()
    assert memory.live == 0
    with pytest.raises(TooMuchMemory, match=r"needs 9\.766 KiB, 0 bytes are in use"):
        LiveMemory(9_999).require(10_000)


def test_runs_do_not_count_each_other() -> None:
    with limited(2000) as outer:
        outer.hold(kept := np.zeros(1000, np.uint8))
        with limited(None) as inner:
            assert inner.live == 0 and 0 < inner.limit <= available() * 2
        assert outer.live == kept.nbytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("1k", 1024),
        ("512M", 512 << 20),
        ("1.5GiB", 3 << 29),
        ("2TB", 2 << 40),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse(text) == size


@pytest.mark.parametrize("text", ["", "M", "-1", "nan", "inf", "1X", "1 2", "KM"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)
