"""`rlx refines REVISION:FILE` reads from a stranger's repository: nothing that it configures is started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rlx.commands.refines import main

PROGRAM = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n'


class Repository:
    """A repository with one file, and a program that leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.mark = folder / "there", folder / "mark"
        self.folder.mkdir()
        self.evil = self.folder / "git"
        self.evil.write_text(f"#!/bin/sh\necho $0 >> {self.mark}\nexit 1\n")
        self.evil.chmod(0o755)
        (self.folder / "a.rlx").write_text(PROGRAM)
        self.git("init", "-q")
        self.git("add", "a.rlx")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")

    def git(self, *words: str, check: bool = True) -> str:
        """The output of git."""
        done = subprocess.run(["/usr/bin/env", "git", *words], cwd=self.folder, capture_output=True, text=True, check=check)  # fmt: skip
        return done.stdout.strip()

    def marked(self) -> bool:
        """Whether something has left a mark since the last question."""
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path)
    monkeypatch.chdir(made.folder)
    return made


Said = Callable[[str], tuple[int, str]]


@pytest.fixture
def refines(capsys: pytest.CaptureFixture[str]) -> Said:
    """The status of a comparison with `a.rlx`, and its errors."""

    def answer(before: str) -> tuple[int, str]:
        try:
            status: object = main([before, "a.rlx"])
        except SystemExit as ended:  # argparse
            status = ended.code
        return int(str(status)), capsys.readouterr().err

    return answer


def test_a_git_in_the_folder_is_not_run(
    there: Repository, refines: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    assert refines("HEAD:a.rlx") == (0, "")
    assert not there.marked()


def test_the_environment_of_a_hook_is_not_in_the_way(
    there: Repository, refines: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "nowhere")
    monkeypatch.setenv("GIT_EXEC_PATH", ".")
    assert refines("HEAD:a.rlx") == (0, "")


@pytest.mark.parametrize("kind", ["ext", "ssh", "path"])
def test_an_object_that_is_missing_is_not_fetched(
    kind: str, there: Repository, refines: Said
) -> None:
    """In a partial clone, git would start the program that the repository names for fetching."""
    evil = str(there.evil)
    urls = {"ext": f"ext::{evil}", "ssh": "ssh://host/x", "path": evil}
    name = there.git("rev-parse", "HEAD:a.rlx")
    (there.folder / ".git" / "objects" / name[:2] / name[2:]).unlink()
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": urls[kind],
        "remote.origin.uploadpack": evil,
        "core.sshCommand": evil,
        "core.fsmonitor": evil,
        "pager.cat-file": evil,
        "protocol.allow": "always",
    }.items():
        there.git("config", key, value)
    there.git("cat-file", "blob", "HEAD:a.rlx", check=False)
    assert there.marked(), "the trap does not work"
    status, said = refines("HEAD:a.rlx")
    assert status == 2 and "a.rlx" in said
    assert not there.marked()


@pytest.mark.parametrize(
    "before", ["-x:a.rlx", "--batch:a.rlx", "HEAD:-x", "HEAD:none/a.rlx", "no\x1bne:a.rlx", ":a.rlx", "HEAD:"]
)  # fmt: skip
def test_what_is_no_file_of_a_revision(before: str, there: Repository, refines: Said) -> None:
    status, said = refines(before)
    assert status == 2 and said.startswith(("rlx refines: ", "usage: "))
    assert "\x1b" not in said
