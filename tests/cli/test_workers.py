"""Many files at once: nothing that happens to one of them reaches the others."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rlx.checker.driver import check_files
from rlx.checker.driver.check_files import check_all, crashed
from rlx.checker.render.files import FileReport


def paths_in(folder: Path, *names: str) -> list[str]:
    """Files of that name, big enough that processes pay."""
    for name in names:
        (folder / name).write_bytes(b"#" * check_files.PAYS_FROM)
    return [str(folder / name) for name in names]


def die(path: str) -> FileReport:
    if path.endswith("bad"):
        os.kill(os.getpid(), signal.SIGKILL)
    return FileReport(path, None)


def leave(path: str) -> FileReport:
    if path.endswith("bad"):
        os._exit(3)
    return FileReport(path, None)


def hang(path: str) -> FileReport:
    if path.endswith("bad"):
        time.sleep(600)
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
    ("check", "reason"),
    [
        (die, "its process ended with signal 9"),
        (leave, "its process ended with exit status 3"),
        (hang, "no answer within 1 s"),
        (answer_with_a_lock, "TypeError: cannot pickle"),
    ],
)
def test_one_bad_file(
    check: Callable[[str], FileReport],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(check_files.PATIENCE, "1")
    paths = paths_in(tmp_path, "a", "b.bad", "c", "d.bad", "e")
    reports = {report.path: report for report in check_all(paths, check)}
    assert sorted(reports) == paths
    for path, report in reports.items():
        assert report.outcome == ("crashed" if path.endswith("bad") else "checked")
        if path.endswith("bad"):
            (found,) = report.diagnostics
            assert found.code == "INTERNAL"
            assert reason in found.message


def test_files_go_to_several_processes(tmp_path: Path) -> None:
    paths = paths_in(tmp_path, *"abcdef")
    used = {report.outcome for report in check_all(paths, process_id)}
    assert str(os.getpid()) not in used
    assert len(used) == min(check_files._cores(), len(paths))


def test_little_work_starts_no_process(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("#")
    (tmp_path / "b").write_text("#")
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert {r.outcome for r in check_all(paths, process_id)} == {str(os.getpid())}
    (big,) = paths_in(tmp_path, "c")
    assert {r.outcome for r in check_all([big], process_id)} == {str(os.getpid())}


def test_workers_end_with_the_iteration(tmp_path: Path) -> None:
    reports = check_all(paths_in(tmp_path, *"abcdef"), process_id)
    worker = int(next(iter(reports)).outcome)
    reports.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_a_crash_says_what_to_report() -> None:
    (found,) = crashed("a.rlx", "ValueError: no\nsecond line", "/tmp/trace.txt").diagnostics
    assert found.message == "the checker crashed on this file: ValueError: no"
    assert found.help == "please report it with the file and the traceback in /tmp/trace.txt"
