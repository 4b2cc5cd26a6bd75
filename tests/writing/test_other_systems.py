"""Files are written where the system opens no folders, locks no files, and moves no file that is open, as Windows does.

The process below loses what only POSIX has before it imports anything, and the rest behaves as on Windows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rlx.grammar.print.formatting import format_text

from .test_law import OLD, PROGRAM, WORKS, WRONG, content, prepare

LINES = [
    "fmt ugly.rlx", "fmt folder", "check --fix wrong.rlx", "build ugly.rlx -o out.exe", "build ugly.rlx -o new.exe",
    "step ugly.rlx --html out.html", "prove n>=0 --certificate out.json", "generate -n 2 --size 3 -o out",
    "run ugly.rlx --input x=[1,2] --out out",
    "memory ugly.rlx --html out.html", "graph ugly.rlx -o out.html", "check ugly.rlx --output-file out.json",
    "compare sum.rlx product.rlx --out out",
]  # fmt: skip

POORER = """
import os, signal, sys
FLAGS = "O_RDONLY O_WRONLY O_RDWR O_APPEND O_CREAT O_TRUNC O_EXCL".split()
CALLS = "fork fchmod fchown chown geteuid getuid killpg getpgrp setsid listxattr getxattr setxattr mkfifo".split()
SIGNALS = "SIGHUP SIGQUIT SIGXCPU SIGKILL SIGIO SIGALRM SIGPIPE".split()
for name in [name for name in dir(os) if name.startswith("O_") and name not in FLAGS] + CALLS:
    delattr(os, name)
for name in SIGNALS:
    delattr(signal, name)
os.supports_dir_fd, os.supports_effective_ids, os.supports_fd = set(), set(), set()
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None

open_file, replace, unlink = os.open, os.replace, os.unlink

def on_windows(path):
    paths = (os.path.join("/proc/self/fd", number) for number in os.listdir("/proc/self/fd"))
    if any(os.path.exists(each) and os.path.samefile(each, path) for each in paths):
        raise PermissionError(13, "the file is used by a process", path)

def opened(path, flags, mode=0o777, *, dir_fd=None):
    if dir_fd is not None or os.path.isdir(path):
        raise PermissionError(13, "this is a folder", path)
    return open_file(path, flags, mode)

def replaced(path, new, *, src_dir_fd=None, dst_dir_fd=None):
    assert src_dir_fd is dst_dir_fd is None
    on_windows(path)
    replace(path, new)

def removed(path, *, dir_fd=None):
    assert dir_fd is None
    on_windows(path)
    unlink(path)

os.open, os.replace, os.unlink, os.remove = opened, replaced, removed, removed

def full(file, data):
    if file > 2 and not os.path.isdir(f"/proc/self/fd/{file}") and os.path.isfile(f"/proc/self/fd/{file}"):
        raise OSError(28, "No space left on device")
    return write(file, data)

write = os.write
if sys.argv[1] == "full":
    os.write = full
from rlx.cli import main
for line in sys.argv[2:]:
    sys.argv = ["rlx", *line.split()]
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code
    print(status, line, file=sys.stderr, flush=True)
"""


def done(folder: Path, disk: str) -> tuple[dict[str, int], str]:
    """The exit statuses of all lines in one such process, and what it said."""
    command = [sys.executable, "-P", "-c", POORER, disk, *LINES]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = {line[2:]: int(line[0]) for line in ran.stderr.splitlines() if line[2:] in LINES}
    assert list(found) == LINES, ran.stderr
    return found, ran.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare(tmp_path / "there")
    return tmp_path / "there"


def test_all_is_written(folder: Path) -> None:
    before = content(folder)
    statuses, said = done(folder, "free")
    assert set(statuses.values()) <= {0, 1}, said  # 1 where two programs differ
    after = content(folder)
    others = ("finding", "state", "reduce -o")
    written = {name for work in WORKS if work not in others for name in WORKS[work][1]}
    assert {name for name in after if after[name] != before.get(name)} == written
    assert after["ugly.rlx"].decode() == format_text(PROGRAM).text
    assert after["wrong.rlx"].decode() == WRONG.replace("rleu", "relu")


def test_a_full_disk_leaves_what_was_there(folder: Path) -> None:
    before = content(folder)
    statuses, said = done(folder, "full")
    assert set(statuses.values()) == {2}, said
    assert said.count("No space left on device") >= len(LINES)
    assert content(folder) == before and OLD in before.values()
