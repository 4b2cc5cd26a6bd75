"""Files in processes of their own: nothing that happens to one of them reaches the others."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rlx.checker.driver import check_files
from rlx.checker.driver.check_files import check_all, crashed
from rlx.checker.driver.time_limit import TimeLimitError, seconds
from rlx.checker.render.files import FileReport
from rlx.commands import check, fmt

GOOD = """\
@R.function
def main(x: R.Tensor((2,), "float32")):
    return R.add(x, x)
"""


def paths_in(folder: Path, *names: str) -> list[str]:
    """Files of that name, big enough that several processes pay."""
    for name in names:
        (folder / name).write_bytes(b"#" * check_files.PAYS_FROM)
    return [str(folder / name) for name in names]


def die(path: str) -> FileReport:
    if path.endswith("bad"):
        os.kill(os.getpid(), signal.SIGKILL)
    return FileReport(path, None)


def crash(path: str) -> FileReport:
    if path.endswith("bad"):
        os.kill(os.getpid(), signal.SIGSEGV)
    return FileReport(path, None)


def leave(path: str) -> FileReport:
    if path.endswith("bad"):
        os._exit(3)
    return FileReport(path, None)


def sleep(path: str) -> FileReport:
    if path.endswith("bad"):
        time.sleep(600)
    return FileReport(path, None)


def stay_in_c(path: str) -> FileReport:
    """Work in C code that no signal handler of Python interrupts."""
    if path.endswith("bad"):
        int("9" * 4000) ** 40_000_000
    return FileReport(path, None)


def answer_with_a_lock(path: str) -> FileReport:
    """A report that cannot be sent through a pipe."""
    if path.endswith("bad"):
        import threading

        return FileReport(path, threading.Lock())  # type: ignore[arg-type]
    return FileReport(path, None)


def process_id(path: str) -> FileReport:
    time.sleep(0.05)
    return FileReport(path, None, outcome=str(os.getpid()))


@pytest.mark.parametrize(
    ("check", "code", "outcome", "reason"),
    [
        (die, "KILLED", "killed", "its process was killed from outside (SIGKILL)"),
        (crash, "INTERNAL", "crashed", f"its process ended with signal {signal.SIGSEGV}"),
        (leave, "INTERNAL", "crashed", "its process ended with exit status 3"),
        (sleep, "TIME", "late", "this file was given up after 1 s"),
        (stay_in_c, "TIME", "late", "this file was given up after 1 s"),
        (answer_with_a_lock, "INTERNAL", "crashed", "TypeError: cannot pickle"),
    ],
)
@pytest.mark.parametrize("bytes", [1, check_files.PAYS_FROM], ids=["small", "big"])
def test_one_bad_file(
    check: Callable[[str], FileReport],
    code: str,
    outcome: str,
    reason: str,
    bytes: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RLX_FILE_TIMEOUT", "1")
    paths = [str(tmp_path / name) for name in ("a", "b.bad", "c")]
    for path in paths:
        Path(path).write_bytes(b"#" * bytes)
    reports = {report.path: report for report in check_all(paths, check)}
    assert sorted(reports) == paths
    for path, report in reports.items():
        assert report.outcome == (outcome if path.endswith("bad") else "checked")
        if path.endswith("bad"):
            (found,) = report.diagnostics
            assert found.code == code
            assert reason in found.message


def test_the_limit_holds_for_a_single_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLX_FILE_TIMEOUT", "0.2")
    (report,) = check_all([str(tmp_path / "a.bad")], sleep)
    assert report.outcome == "late"
    assert "RLX_FILE_TIMEOUT" in (report.diagnostics[0].help or "")


def test_big_files_go_to_several_processes(tmp_path: Path) -> None:
    paths = paths_in(tmp_path, *"abcdef")
    used = {report.outcome for report in check_all(paths, process_id)}
    assert str(os.getpid()) not in used
    assert len(used) == min(len(os.sched_getaffinity(0)), len(paths))


def test_small_files_share_one_process(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("#")
    (tmp_path / "b").write_text("#")
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert len({r.outcome for r in check_all(paths, process_id)}) == 1


def test_workers_end_with_the_iteration(tmp_path: Path) -> None:
    reports = check_all(paths_in(tmp_path, *"abcdef"), process_id)
    worker = int(next(iter(reports)).outcome)
    del reports
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def ends(how: str) -> Callable[..., object]:
    """A stand-in for what a command does with a program."""

    def work(*_: object, **__: object) -> object:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "left":
            raise SystemExit(0)
        raise ValueError("odd\n::error::x")

    return work


ENDINGS = {
    "raises": "this is a bug in rlx: ValueError: odd\\n::error::x; report it with the file and the traceback in ",
    "killed": "its process was killed from outside (SIGKILL)",
    "left": "this is a bug in rlx: its process ended with exit status 101",
}


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize(
    ("called", "main", "option"),
    [
        ("rlx.commands.fmt.format_text", fmt.main, "--check"),
        ("rlx.old.two_views.views", check.main, "--types"),
        ("rlx.checker.fixing.mended", check.main, "--diff"),
    ],
)
def test_a_command_says_how_a_process_ended(
    how: str,
    called: str,
    main: Callable[[list[str], str], int],
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each file has a line, and the status is that of a bug, unless something else has ended the
    process.
    """
    paths = [str(tmp_path / name) for name in ("a.rlx", "b.rlx")]
    for path in paths:
        Path(path).write_text(GOOD)
    monkeypatch.setattr(called, ends(how))
    assert main([option, *paths], "rlx") == (2 if how == "killed" else 101)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    for line, path in zip(lines, paths, strict=True):
        assert line.startswith(f"rlx: {path}: {ENDINGS[how]}")


@pytest.mark.parametrize("given", ["x", "0", "-1", "nan", "1 s"])
def test_what_is_not_a_number_of_seconds_is_refused(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLX_FILE_TIMEOUT", given)
    with pytest.raises(TimeLimitError, match="expected a positive number of seconds"):
        seconds()


@pytest.mark.parametrize(
    "command",
    [
        ["check", "FIFO", "GOOD"],
        ["check", "--diff", "FIFO", "GOOD"],
        ["check", "--fix", "FIFO", "GOOD"],
        ["check", "--types", "FIFO", "GOOD"],
        ["fmt", "--diff", "FIFO", "GOOD"],
        ["why", "FIFO:1"],
        ["lower", "FIFO"],
        ["run", "FIFO"],
        ["relay", "check", "FIFO"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_every_command_gives_up_a_file_without_end(command: list[str], tmp_path: Path) -> None:
    """A pipe that nobody writes to is the file that takes longest."""
    os.mkfifo(tmp_path / "f.rlx")
    (tmp_path / "good.rlx").write_text(GOOD)
    words = [
        w.replace("FIFO", str(tmp_path / "f.rlx")).replace("GOOD", str(tmp_path / "good.rlx"))
        for w in command
    ]
    done = subprocess.run(
        [sys.executable, "-m", "rlx", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "RLX_FILE_TIMEOUT": "1"},
        timeout=120,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    assert "given up after 1 s" in said
    assert "RLX_FILE_TIMEOUT" in said
    assert "Traceback" not in said


def test_a_killed_command_leaves_no_process(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.rlx")
    for command in (["check"], ["lower"]):
        process = subprocess.Popen([sys.executable, "-m", "rlx", *command, str(tmp_path / "f.rlx")])
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        found: list[str] = []
        while not found:
            found = children.read_text().split()
            time.sleep(0.01)
        time.sleep(0.3)
        process.kill()
        process.wait()
        for _ in range(1000):
            if not any(Path(f"/proc/{child}").exists() for child in found):
                break
            time.sleep(0.01)
        else:
            pytest.fail(f"{command}: processes {found} are left")


def test_a_crash_says_what_to_report() -> None:
    (found,) = crashed("a.rlx", "ValueError: no\nsecond line", "/tmp/trace.txt").diagnostics
    assert found.message == "the checker crashed on this file: ValueError: no"
    assert found.help == "please report it with the file and the traceback in /tmp/trace.txt"
