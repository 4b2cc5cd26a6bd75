"""Killed, ended or out of disk at any call: the old file or the new one is there, whole, and the reason is a sentence.

Nothing else is left in the folder, except by a process that was killed, and the next run removes that.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from rlx.cli import COMMANDS, guarded
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.state import CampaignState, ChunkResult

from .faults import Ending, disk_full, ended, killed, run

PROGRAM = """\
@R.function
def main(x: R.Tensor((2,),  "float32")):
    return x
"""
WRONG = """\
@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.nn.rleu(x)
    return y
"""
OLD = b"what was there before\n"


def command(line: str) -> Callable[[], int]:
    """A command of `rlx`, loaded already, so that all calls are those of its work."""
    name, *words = line.split()
    main = import_module(COMMANDS[name][0]).main
    return lambda: guarded(main, words, f"rlx {name}")


def save_state() -> int:
    """A campaign that takes in a chunk and saves what it has done."""
    state = CampaignState(Path("out/state.json"))
    made = ChunkResult(5)
    made.programs = 5
    made.findings = [
        Finding("crash", "run", "build", "signal SIGSEGV", "It ends.", "", "x" * 5000, 5)
    ]
    state.merge(made)

    def work(argv: object, prog: str) -> int:
        state.save()
        return 0

    return guarded(work, [], "rlx fuzz")


def write_finding() -> int:
    """`rlx fuzz` with a finding of a campaign."""
    from rlx.generate.campaign.draft import draft
    from rlx.generate.campaign.finding_file import write_entry
    from rlx.generate.campaign.index import write_page

    entry = draft(Finding("crash", "run", "build", "signal SIGSEGV", "It ends.", "", PROGRAM, 5))
    Path("out").mkdir(exist_ok=True)

    def work(argv: object, prog: str) -> int:
        write_entry(entry, Path("out"))
        write_page(Path("out"))
        return 0

    return guarded(work, [], "rlx fuzz")


WORKS: dict[str, tuple[Callable[[], int], tuple[str, ...]]] = {
    "fmt": (command("fmt ugly.rlx"), ("ugly.rlx",)),
    "fmt of a folder": (command("fmt folder"), ("folder/a.rlx", "folder/b.rlx")),
    "check --fix": (command("check --fix wrong.rlx"), ("wrong.rlx",)),
    "build -o": (command("build ugly.rlx -o out.exe"), ("out.exe",)),
    "build -o, new": (command("build ugly.rlx -o new.exe"), ("new.exe",)),
    "step --html": (command("step ugly.rlx --html out.html"), ("out.html",)),
    "reduce -o": (command("reduce ugly.rlx --test true -o out.rlx"), ("out.rlx",)),
    "generate -o": (command("generate -n 2 --size 3 -o out"), ("out/program0.rlx", "out/program1.rlx")),
    "run --out": (command("run ugly.rlx --input x=[1,2] --backend steps --out out"), ("out/result.npy",)),
    "memory --html": (command("memory ugly.rlx --html out.html"), ("out.html",)),
    "prove --certificate": (command("prove n>=0 --certificate out.json"), ("out.json",)),
    "graph -o": (command("graph ugly.rlx -o out.html"), ("out.html",)),
    "compare --out": (command("compare sum.rlx product.rlx --out out"), ("out/y.rlx", "out/y.npz")),
    "check --output-file": (command("check ugly.rlx --output-file out.json"), ("out.json",)),
    "check --add-ignores": (command("check wrong.rlx --add-ignores"), ("wrong.rlx",)),
    "finding": (write_finding, ("out/crash/build-signal-SIGSEGV.rlx", "out/README.md")),
    "state": (save_state, ("out/state.json",)),
}  # fmt: skip


def prepare(folder: Path) -> None:
    """A folder as it is before the work."""
    shutil.rmtree(folder, ignore_errors=True)
    for below in (folder, folder / "folder", folder / "out", folder / "out" / "crash"):
        below.mkdir()
    (folder / "ugly.rlx").write_text(PROGRAM)
    (folder / "wrong.rlx").write_text(WRONG)
    for name, operator in (("sum", "add"), ("product", "multiply")):
        (folder / f"{name}.rlx").write_text(
            PROGRAM.replace("return x", f"y = R.{operator}(x, x)\n    return y")
        )
    for name in ("a", "b"):
        (folder / "folder" / f"{name}.rlx").write_text(PROGRAM)
    for name in ("out.exe", "out.html", "out.rlx", "out.json", "out/program0.rlx", "out/y.npz", "out/result.npy", "out/README.md"):  # fmt: skip
        (folder / name).write_bytes(OLD)


def content(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


class Bench:
    """A work, what it leaves behind, and the folder in which it is done again and again."""

    def __init__(self, name: str, top: Path) -> None:
        self.work, self.targets = WORKS[name]
        self.top, self.folder = top, top / "there"
        elsewhere = top / "elsewhere"  # a process looks once for what others have left in a folder
        prepare(elsewhere)
        os.chdir(elsewhere)
        self.work()  # loads what it needs, which each process would do again
        prepare(self.folder)
        self.old = content(self.folder)
        done = self.faulty(0, disk_full)
        assert done.status in (0, 1), done.said
        self.status, self.calls, self.new = done.status, done.calls, content(self.folder)
        changed = {n for n, data in self.new.items() if self.old.get(n) != data}
        assert changed == set(self.targets) and len(self.new) == len({*self.old, *self.targets})

    def faulty(self, at: int, fault: Callable[[], None]) -> Ending:
        """Do the work with a fault; the folder was as before."""
        os.chdir(self.top)
        prepare(self.folder)
        os.chdir(self.folder)
        return run(self.work, self.top, at, fault)

    def whole(self) -> dict[str, bytes]:
        """The files that are there; each target is the old or the new one."""
        found = content(self.folder)
        for name in self.targets:
            assert found.get(name) in (self.old.get(name), self.new[name]), name
        return found

    def places(self) -> range:
        """The calls at which a fault is tried: all of them with RLX_ALL_FAULTS, else some two."""
        step = 1 if os.environ.get("RLX_ALL_FAULTS") else max(1, self.calls // 2)
        return range(1 + self.calls % step, self.calls + 1, step)

    def left(self) -> set[str]:
        """Files that do not belong there."""
        return content(self.folder).keys() - {*self.old, *self.targets}


@pytest.fixture(autouse=True)
def here() -> Iterator[None]:
    """The folder of the other tests, wherever these go."""
    before = Path.cwd()
    yield
    os.chdir(before)


@pytest.fixture(params=sorted(WORKS))
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(request.param, tmp_path)


def test_out_of_disk(bench: Bench) -> None:
    for at in bench.places():
        end = bench.faulty(at, disk_full)
        found = bench.whole()
        assert not bench.left(), at
        if any(found.get(name) != bench.new[name] for name in bench.targets):
            assert "No space left on device" in end.said, (at, end.said)
            assert "Errno" not in end.said and "bug in rlx" not in end.said, end.said
            assert end.status == 2, (at, end.said)


def test_killed(bench: Bench) -> None:
    for at in bench.places():
        assert bench.faulty(at, killed).status == -signal.SIGKILL
        bench.whole()
        assert len(bench.left()) <= 1
        again = run(bench.work, bench.top)
        assert again.status in (0, bench.status), again.said
        assert bench.whole() == {**bench.old, **bench.new}
        assert not [path for path in bench.folder.rglob(".rlx-*")]


def test_ended(bench: Bench) -> None:
    for at in bench.places():
        assert bench.faulty(at, ended).status == -signal.SIGTERM
        bench.whole()
        assert not bench.left()


def test_other_files_go_on(tmp_path: Path) -> None:
    bench = Bench("fmt of a folder", tmp_path)
    one_file_only = 0
    for at in range(1, bench.calls + 1):
        end = bench.faulty(at, disk_full)
        found = content(bench.folder)
        changed = [name for name in bench.targets if found[name] == bench.new[name]]
        if end.status == 2:
            one_file_only += len(changed) == 1
            assert len(changed) >= 1, (at, end.said)
    assert one_file_only > 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB; without the right to mount one, the limit of file sizes stands in."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "rlx-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting takes root; `test_out_of_disk` holds the same law everywhere")
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full(small_disk: Path, tmp_path: Path) -> None:
    Path("ugly.rlx").write_text(PROGRAM)
    Path("wrong.rlx").write_text(WRONG)
    Path("out.exe").write_bytes(OLD)
    before = content(small_disk)
    with Path("filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 512)
    lines = ("fmt ugly.rlx", "check --fix wrong.rlx", "build ugly.rlx -o out.exe", "build ugly.rlx -o new",
             "step ugly.rlx --html new", "prove n>=0 --certificate new", "generate -o new", "run ugly.rlx --out new")  # fmt: skip
    for line in lines:
        end = run(command(line), tmp_path)
        assert end.status == 2 and "No space left on device" in end.said, (line, end.said)
        assert "Errno" not in end.said
        assert {n: data for n, data in content(small_disk).items() if n != "filler"} == before, line
