"""A compiler that hangs, starts other programs, prints without end or writes nothing is ended, and
the program runs without it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlx.semantics.native.limited_process import TooSlow, run

PROGRAM = """\
@I.ir_module
class Module:
    @T.prim_func
    def inc(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        return R.call_tir(cls.inc, (x,), out_sinfo=R.Tensor((4,), "float32"))
"""

COMPILERS = {
    "hangs": ("exec sleep 1000", "and was ended; set RLX_COMPILER_TIMEOUT"),
    "forks": ("sleep 1000 & sleep 1000", "and was ended; set RLX_COMPILER_TIMEOUT"),
    "prints": ("exec yes error >&2", "and was ended; set RLX_COMPILER_TIMEOUT"),
    "writes nothing": ("exit 0", "wrote no library"),
    "leaves a process": ("sleep 1000 & exit 0", "wrote no library"),
    "has a wrong limit": (
        "exec /usr/bin/cc",
        "expected a positive number of seconds, found 'soon'",
    ),
    "fails": ("echo no >&2; exit 1", "no C compiler on PATH works"),
}


@pytest.mark.parametrize("case", COMPILERS)
def test_a_bad_compiler(case: str, tmp_path: Path) -> None:
    script, reason = COMPILERS[case]
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "cc").write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    (folder / "cc").chmod(0o755)
    (tmp_path / "p.rlx").write_text(PROGRAM)
    environment = {
        **{name: value for name, value in os.environ.items() if name != "CC"},
        "PATH": str(folder),
        "RLX_CACHE": str(tmp_path / "cache"),
        "RLX_COMPILER_TIMEOUT": "soon" if case == "has a wrong limit" else "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "rlx", "run", "p.rlx", "--input", "x=[1, 2, 3, 4]"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "[2. 3. 4. 5.]" in done.stdout
    assert "the reference evaluator runs PrimFuncs" in done.stderr
    assert reason in done.stderr
    assert case == "has a wrong limit" or str(folder / "cc") in done.stderr


def test_the_whole_process_group_is_ended(tmp_path: Path) -> None:
    script = f"echo $$ > {tmp_path}/first; sh -c 'echo $$ > {tmp_path}/second; sleep 1000'"
    with pytest.raises(TooSlow, match="RLX_COMPILER_TIMEOUT"):
        run(["/bin/sh", "-c", script], 2, tmp_path, reads="stderr")
    for name in ("first", "second"):
        status = Path(f"/proc/{(tmp_path / name).read_text().strip()}/stat")
        for _ in range(500):
            if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
                break
            time.sleep(0.01)
        else:
            pytest.fail(f"the {name} process is left")


def test_the_end_of_what_a_program_prints_is_kept() -> None:
    done = run(["/bin/sh", "-c", "yes | head -c 1000000; echo end; exit 3"], 60, reads="stdout")
    assert done.status == 3
    assert done.said.endswith("y\nend\n")
    assert len(done.said) <= 1 << 16
