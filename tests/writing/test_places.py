"""Targets of paths: links, devices, pipes, folders, modes, owners, long and strange names."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rlx import writing
from rlx.cli import main

UGLY = '@R.function\ndef main(x: R.Tensor((2,),  "float32")):\n    return x\n'
WRONG = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.nn.rleu(x)\n    return y\n'
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `tree` to work in, and files outside of it."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "ugly.rlx").write_text(UGLY)
    (tmp_path / "wrong.rlx").write_text(WRONG)
    monkeypatch.chdir(tmp_path / "tree")
    return tmp_path / "tree"


def said(
    line: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """The status of a command, and its errors."""
    monkeypatch.setattr(sys, "argv", ["rlx", *line.split()])
    try:
        status = main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, capfd.readouterr().err


# ---------------------------------------------------------------- links


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="the folders above cannot be held open")
def test_a_folder_that_becomes_a_link_while_its_file_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may change the folder between the look at a path and the write."""
    (here.parent / "outside").mkdir()
    for folder in (Path("sub"), here.parent / "outside"):
        folder.mkdir(exist_ok=True)
        (folder / "a.rlx").write_text("before")
    look = os.path.realpath

    def looked(path: str) -> str:
        found = look(path)
        if not Path("sub").is_symlink():
            Path("sub").rename("moved")
            Path("sub").symlink_to(here.parent / "outside")
        return found

    monkeypatch.setattr(os.path, "realpath", looked)
    with pytest.raises(OSError, match="Not a directory"):
        writing.write("sub/a.rlx", "after", within=["."])
    assert (here.parent / "outside" / "a.rlx").read_text() == "before"


@pytest.mark.parametrize(("line", "name"), [("fmt .", "ugly"), ("check --fix .", "wrong")])
def test_a_link_out_of_the_folder_that_is_searched(
    line: str,
    name: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It is not written, and another file is; a link that the user names is written."""
    outside = here.parent / f"{name}.rlx"
    text = outside.read_text()
    Path("a.rlx").symlink_to(outside)
    Path("b.rlx").write_text(text)
    Path("c.rlx").symlink_to("b.rlx")
    status, err = said(line, monkeypatch, capfd)
    assert status == 2
    assert f"a.rlx: a link leads out of ., to {outside}" in err
    assert outside.read_text() == text != Path("b.rlx").read_text()
    assert Path("a.rlx").is_symlink() and Path("c.rlx").is_symlink()
    said(line.replace(" .", " a.rlx"), monkeypatch, capfd)
    assert outside.read_text() == Path("b.rlx").read_text()
    assert Path("a.rlx").is_symlink()


@pytest.mark.parametrize("suffix", [".rlx-fix", ".part", ".tmp", "~", ".new", ".bak"])
def test_a_link_beside_a_file_is_not_written_through(
    suffix: str, here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = here.parent / "secret"
    secret.write_text("secret")
    Path("a.rlx").write_text(WRONG)
    Path(f"a.rlx{suffix}").symlink_to(secret)
    assert said("check --fix .", monkeypatch, capfd)[0] == 0
    assert secret.read_text() == "secret" and Path(f"a.rlx{suffix}").is_symlink()
    assert "relu" in Path("a.rlx").read_text()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("generate -o out", "program0.rlx"),
        ("run ../ugly.rlx --input x=[1,2] --out out", "result.npy"),
        ("run ../ugly.rlx --input x=[1,2] --backend vm --out out", "result.npy"),
    ],
)
def test_a_link_in_a_folder_of_results(
    line: str,
    name: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    secret = here.parent / "secret"
    secret.write_text("secret")
    Path("out").mkdir()
    Path("out", name).symlink_to(secret)
    status, err = said(line, monkeypatch, capfd)
    assert (status, secret.read_text()) == (2, "secret")
    assert f"out/{name}: a link leads out of out, to {secret}" in err
    Path("out", name).unlink()
    assert said(line, monkeypatch, capfd)[0] == 0
    assert Path("out", name).stat().st_size > 0


def test_of_a_value_with_too_many_tensors_none_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Tuples that double have many, though they take no memory."""
    doubled = "".join("    x = (x, x)\n" for _ in range(14))
    Path("many.rlx").write_text(UGLY.replace("    return", f"{doubled}    return"))
    status, err = said("run many.rlx --input x=[1,2] --out out", monkeypatch, capfd)
    assert status == 2 and "--out writes at most 10000 tensors" in err
    assert not Path("out").exists()


@pytest.mark.parametrize("link", [".rlx", ".rlx/fuzz", ".rlx/fuzz/crash"])
def test_the_folder_of_findings_is_no_link(
    link: str, here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from rlx.generate.campaign.finding import Finding

    outside = here.parent / "outside"
    outside.mkdir()
    Path(link).parent.mkdir(parents=True, exist_ok=True)
    Path(link).symlink_to(outside)
    found = Finding("crash", "check", "a stage", "signal SIGSEGV", "It ended.", "", "x", 1)
    monkeypatch.setattr(
        "rlx.commands.fuzz.campaign", lambda state, *_: [found] if state.add(found) else []
    )
    status, err = said("fuzz --jobs 1 --no-reduce", monkeypatch, capfd)
    assert status == 2 and "a link leads out of" in err
    assert not list(outside.iterdir())


def test_a_link_that_the_user_names_is_kept(here: Path) -> None:
    Path("link").symlink_to("there")
    for text in ("new", "newer"):
        writing.write("link", text)
        assert Path("link").is_symlink() and Path("there").read_text() == text
    Path("loop").symlink_to("loop")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        writing.write("loop", "text")


def test_other_names_of_a_file_keep_the_old_text(here: Path) -> None:
    Path("one").write_text("old")
    os.link("one", "other")
    writing.write("one", "new")
    assert (Path("one").read_text(), Path("other").read_text()) == ("new", "old")


# ---------------------------------------------------------------- what is no file


def rlx(line: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "rlx", *shlex.split(line)]
    return subprocess.run(command, check=False, timeout=120, **options)  # type: ignore[call-overload, no-any-return]


def test_standard_output_as_a_file(here: Path) -> None:
    """As the shell has opened it: a pipe, a file that is written, a file that is continued."""
    line = "reduce ../ugly.rlx --test 'grep -q main' -o /dev/stdout"
    piped = rlx(line, stdout=subprocess.PIPE).stdout
    assert b"main" in piped
    with Path("out").open("wb") as file:
        file.write(b"before\n")
        file.flush()
        assert rlx(line, stdout=file).returncode == 0
        file.write(b"after\n")
    assert Path("out").read_bytes() == b"before\n" + piped + b"after\n"
    with Path("out").open("ab") as file:
        assert rlx(line.replace("/dev/stdout", "/proc/self/fd/1"), stdout=file).returncode == 0
    assert Path("out").read_bytes() == b"before\n" + piped + b"after\n" + piped
    assert rlx(line.replace("/dev/stdout", "/dev/null")).returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    full = rlx(line.replace("/dev/stdout", "/dev/full"), stderr=subprocess.PIPE)
    assert full.returncode == 2 and b"/dev/full: No space left on device" in full.stderr


def test_a_pipe_with_a_name(here: Path) -> None:
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    writing.write("pipe", b"x" * 200_000)
    reader.join(60)
    assert got == [b"x" * 200_000]
    with pytest.raises(OSError, match="not a regular file"):
        writing.rewrite("pipe", b"text")
    with pytest.raises(OSError, match="not a regular file"):
        writing.write("pipe", b"text", within=["."])


@pytest.mark.parametrize(
    "line",
    [
        "check ../wrong.rlx --output-file pipe",
        "step ../ugly.rlx --html pipe",
        "reduce ../ugly.rlx --test true -o pipe",
        "build ../ugly.rlx -o pipe",
    ],
)
def test_a_pipe_that_nobody_reads(
    line: str, here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(writing, "READER", 0.1)
    os.mkfifo("pipe")
    status, words = said(line, monkeypatch, capfd)
    assert status == 2 and "no process reads this named pipe" in words, words


def test_a_file_that_is_read_from_standard_input_is_not_formatted_in_place(here: Path) -> None:
    with (here.parent / "ugly.rlx").open("r+b") as file:
        done = rlx("fmt /dev/stdin", stdin=file, stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"cannot be changed in place" in done.stderr
    assert (here.parent / "ugly.rlx").read_text() == UGLY


@pytest.mark.parametrize(
    "path", ["", ".", "..", "folder", "folder/", "none/", "none/file", "f/x", "n" * 256]
)
def test_what_cannot_be_written(path: str, here: Path) -> None:
    Path("folder").mkdir()
    Path("f").write_text("")
    before = sorted(here.rglob("*")), sorted(here.parent.iterdir())
    with pytest.raises(OSError) as caught:
        writing.write(path, "text")
    assert caught.value.filename == path
    assert (sorted(here.rglob("*")), sorted(here.parent.iterdir())) == before


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("name", [b"n" * 255, b"\xff\xfe\x80", b"a\nb", b"-o", b"\xc3\xa9" * 127])
def test_names(name: bytes, here: Path) -> None:
    path = os.fsdecode(name)
    for text in ("old", "new"):
        writing.write(path, text)
        assert os.listdir(os.fsencode(here)) == [name]
        assert Path(path).read_text() == text


# ---------------------------------------------------------------- modes and owners


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755, 0o666, 0o640])
def test_the_mode_is_kept(mode: int, here: Path) -> None:
    Path("file").write_text("old")
    Path("file").chmod(mode)
    os.setxattr("file", "user.note", b"kept")
    writing.write("file", "new")
    assert stat.S_IMODE(Path("file").stat().st_mode) == mode
    assert os.getxattr("file", "user.note") == b"kept"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_is_usual(mask: int, here: Path) -> None:
    before = os.umask(mask)
    try:
        writing.write("new", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("new").stat().st_mode) == 0o666 & ~mask


OTHER_USER = """
import fcntl, os, sys, threading, errno
from rlx import writing
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    print(eval(sys.argv[1]), end="")
except OSError as error:
    print(error.strerror, end="")
"""


def as_another_user(here: Path, work: str) -> str:
    """The value or the failure of an expression for a user without rights, if this process may become one."""
    command = [sys.executable, "-c", OTHER_USER, work]
    done = subprocess.run(command, cwd=here, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def opened(here: Path) -> None:
    """Let other users come to the folder."""
    for folder in (here, *here.parents):
        if folder == Path("/tmp") or folder.stat().st_uid != os.geteuid():
            break
        folder.chmod(folder.stat().st_mode | 0o011)


def test_the_owner_is_kept(here: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root writes the files of others")
    Path("file").write_text("old")
    os.chown("file", 1234, 4321)
    Path("file").chmod(0o4750)
    writing.write("file", "new")
    found = Path("file").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o4750)


def test_rights_are_not_given_to_others(here: Path) -> None:
    """If the owner and the group cannot be kept, the permissions that only they had are dropped."""
    if os.geteuid() != 0:
        pytest.skip("only root makes files of others")
    opened(here)
    here.chmod(0o777)
    Path("file").write_text("old")
    os.chown("file", 1234, 4321)
    Path("file").chmod(0o6772)
    assert as_another_user(here, "writing.write('file', 'new')") == "None"
    found = Path("file").stat()
    assert Path("file").read_text() == "new"
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (65534, 0o722)


def test_a_file_that_must_not_be_written(here: Path) -> None:
    opened(here)
    here.chmod(0o777)
    Path("file").write_text("old")
    Path("file").chmod(0o444)
    assert as_another_user(here, "writing.write('file', 'new')") == "Permission denied"
    assert as_another_user(here, "writing.hindrance('file')") == "Permission denied"
    assert Path("file").read_text() == "old"


def test_a_folder_that_must_not_be_written(here: Path) -> None:
    """A file in it cannot be exchanged in one step, so it stays as it is; a command says so before its work."""
    opened(here)
    Path("file").write_text("old")
    Path("file").chmod(0o666)
    here.chmod(0o555)
    assert as_another_user(here, "writing.write('file', 'new')") == "Permission denied"
    said = as_another_user(here, "writing.hindrance('file')")
    assert said == f"a new version cannot be put into {here}: Permission denied"
    assert Path("file").read_text() == "old"
    here.chmod(0o755)


# ---------------------------------------------------------------- what others left


def test_what_others_left_is_removed_and_what_they_use_is_not(here: Path) -> None:
    import fcntl

    left, used, alike = (Path(f".rlx-{n}.part") for n in ("0" * 16, "1" * 16, "nothing"))
    for path in (left, used, alike):
        path.write_text("half")
    link = Path(f".rlx-{'2' * 16}.part")
    link.symlink_to(here.parent / "ugly.rlx")
    with used.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writing.write("file", "text")
    assert sorted(map(str, here.iterdir())) == sorted(
        str(here / path) for path in (used, alike, link, "file")
    )
    assert (here.parent / "ugly.rlx").exists()


def test_many_writers_at_once(here: Path) -> None:
    """Two writers of one file leave one of the texts, whole, and nothing else in the folder."""
    code = "import sys\nfrom rlx import writing\nfor k in range(50):\n    writing.write('file', sys.argv[1] * 9999)"
    running = [subprocess.Popen([sys.executable, "-c", code, str(n)], cwd=here) for n in range(6)]
    assert [process.wait(120) for process in running] == [0] * 6
    text = Path("file").read_text()
    assert len(text) == 9999 and len(set(text)) == 1
    assert os.listdir(here) == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks")
def test_a_file_that_another_process_takes_for_a_left_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its creation and its lock, another process that cleans up has locked it, and removes it."""
    import fcntl

    lock, write, taken = fcntl.flock, os.write, dict[Path, int]()

    def flock(file: int, how: int) -> None:
        if not taken:
            (left,) = here.glob(".rlx-*.part")
            taken[left] = os.open(left, os.O_RDONLY)
            lock(taken[left], how)
        lock(file, how)

    def removed_first(file: int, data: bytes) -> int:
        for left in taken:
            left.unlink(missing_ok=True)
        return write(file, data)

    monkeypatch.setattr(os, "write", removed_first)
    monkeypatch.setattr(fcntl, "flock", flock)
    writing.write("file", "text")
    os.close(*taken.values())
    assert Path("file").read_text() == "text" and os.listdir(here) == ["file"]


def test_an_interrupt_leaves_nothing(here: Path) -> None:
    import signal

    with pytest.raises(KeyboardInterrupt), writing.output("file") as file:
        file.write(b"half")
        signal.raise_signal(signal.SIGINT)
        file.write(b"the rest")
    assert not list(here.iterdir())
    with pytest.raises(ZeroDivisionError), writing.output("file") as file:
        file.write(b"half")
        1 / 0  # noqa: B018
    assert not list(here.iterdir())
