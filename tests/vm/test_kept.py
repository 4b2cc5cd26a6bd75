"""Results of a build are kept in the cache, so that a later process need not make them again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, numpy as np, rlx
from rlx import vm
from rlx.semantics.values import Tensor
scale, layers = float(sys.argv[1]), 60
rows = "\\n".join(
    f"        v{k + 1} = R.multiply(v{k}, R.const({scale + k / 100}, 'float32'))" for k in range(layers)
)
module = rlx.parse(f'''
@I.ir_module
class Module:
    @R.function
    def main(v0: R.Tensor(("n", {len(sys.argv[1])}), "float32")):
{rows}
        return v{layers}
''')
machine = vm.VirtualMachine(vm.build(module, legalize=True))
x = np.full((2, len(sys.argv[1])), 0.01, "float32")
found = np.asarray(machine["main"](x))
wanted = x
for k in range(layers):
    wanted = wanted * np.float32(scale + k / 100)
np.testing.assert_allclose(found, wanted, rtol=1e-4)
"""


def run(folder: Path, scale: str = "0.5") -> set[str]:
    """Build and run in a process of its own; return the files of the cache behind it."""
    environment = {**os.environ, "RLX_CACHE": str(folder)}
    subprocess.run([sys.executable, "-c", PROGRAM, scale], env=environment, check=True)
    return {path.name for path in folder.iterdir() if path.suffix == ".made"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "cache"
    made.mkdir(mode=0o700)
    return made


def test_the_second_process_makes_nothing(folder: Path) -> None:
    first = run(folder)
    assert first
    assert run(folder) == first
    assert run(folder, "0.25") > first


def test_a_damaged_file_is_made_again(folder: Path) -> None:
    for name in run(folder):
        file = folder / name
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] + b"x" + whole[len(whole) // 2 + 1 :])
    damaged = {path.name: path.read_bytes() for path in folder.glob("*.made")}
    assert run(folder) == damaged.keys()
    assert all((folder / name).read_bytes() != text for name, text in damaged.items())


def test_what_others_could_have_written_is_not_read(folder: Path) -> None:
    names = run(folder)
    for name in names:
        (folder / name).chmod(0o722)
    assert run(folder) == names
