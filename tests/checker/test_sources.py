"""What is read of a file: texts of any bytes, and sizes of what may not be there."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from rlx.checker.driver.sources import STDIN, decode, find, size

LINES = ["# ä\n", "x = 1\r\n", "# 𝄞\r", "\n", "y\n"]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\0"])
def test_a_bad_byte_is_pointed_at(seed: int, bad: bytes) -> None:
    random = Random(seed)
    before, behind = ("".join(random.choices(LINES, k=random.randrange(4))) for _ in range(2))
    mark = b"\xef\xbb\xbf" if random.random() < 0.5 else b""
    source, found = decode(mark + before.encode() + bad + behind.encode(), "p")
    text = before.replace("\r\n", "\n").replace("\r", "\n")
    assert found is not None and found.span == (len(text), len(text) + 1)
    assert source.text[: len(text)] == text
    assert source.text[slice(*found.span)] == ("\0" if bad == b"\0" else "�")


def test_the_size_of_what_is_there_and_of_what_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.rlx"
    assert size(str(path)) == 0
    path.write_bytes(b"ab\r\n")
    assert size(str(path)) == 4
    assert size(str(path / "inside")) == size(STDIN) == 0


def test_a_search_does_not_read_what_has_no_end(tmp_path: Path) -> None:
    """What the user names is read all the same: the shell makes pipes for `<(…)`."""
    pipe, device = tmp_path / "pipe.rlx", tmp_path / "device.rlx"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    (tmp_path / "a.rlx").write_text("")
    (tmp_path / "broken.rlx").symlink_to(tmp_path / "nowhere")
    found, refused, _ = find([str(tmp_path)])
    assert found == [str(tmp_path / "a.rlx"), str(tmp_path / "broken.rlx")]
    assert {report.path for report in refused} == {str(pipe), str(device)}
    for report in refused:
        assert report.outcome == "unreadable"
        assert "a pipe, a device or a socket" in report.diagnostics[0].message
    assert find([str(pipe)]) == ([str(pipe)], [], frozenset())
