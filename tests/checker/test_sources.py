"""The part of a file that is read: texts of any bytes, and sizes of what may not be there."""

from __future__ import annotations

import io
import os
import tokenize
from pathlib import Path
from random import Random

import pytest

from rlx.checker.driver.sources import STDIN, decode, find, size, source_of, text_of, why_no_text

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
    """A pipe that the user names is read: the shell makes pipes for `<(…)`."""
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


NAMES = ["latin-1", "cp1252", "koi8-r", "shift_jis", "utf-8", "utf-8-sig", "ascii"]
ODD = ["rot13", "hex", "zlib", "undefined", "nonsense", "unicode_escape"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["é", "д", "ソ", "plain"])
def test_a_python_file_is_read_in_the_encoding_that_it_declares(name: str, text: str) -> None:
    """Python's own reader of source files is the oracle."""
    program = f"# -*- coding: {name} -*-\n# {text}\nx = 1\r\n"
    data = program.encode(name, errors="replace")
    assert text_of(data, "a.py") == tokenize_open(data)
    source, problem = decode(data, "a.py")
    assert problem is None and source.text == tokenize_open(data)


@pytest.mark.parametrize("name", ODD)
def test_an_encoding_that_no_program_has(name: str) -> None:
    data = f"# coding: {name}\n# é\nx = 1\n".encode()
    source, problem = decode(data, "a.py")
    assert problem is None and source.text.endswith("x = 1\n")


def test_other_files_are_utf_8_whatever_they_say() -> None:
    data = "# coding: latin-1\n# é\n".encode("latin-1")
    with pytest.raises(UnicodeDecodeError) as raised:
        text_of(data, "a.rlx")
    assert why_no_text("a.rlx", raised.value) == "a.rlx: not UTF-8 (byte 20)"
    data = b"# coding: ascii\n# \xe9\n"
    with pytest.raises(UnicodeDecodeError) as raised:
        text_of(data, "a.py")
    assert why_no_text("a.py", raised.value) == "a.py: not ascii (byte 18)"


PIECE = 1 << 20
"""The bytes that are read at once."""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        "# ä\r\nx = 1\r".encode(),
        b"\xef\xbb\xbf# with a mark\n",
        "# UTF-16\n".encode("utf-16"),
        "# coding: latin-1\n# é\n".encode("latin-1"),
        "ä".encode() * (PIECE // 2 + 9),
        b"x" + "ä".encode() * (PIECE // 2 + 9),
        b"x" * PIECE + b"\0" + b"y" * PIECE,
        b"x" * PIECE + b"\xff" + b"y" * PIECE,
        b"x" * (PIECE - 1) + b"\xc3",
        b"x" * (PIECE - 1) + b"\xc3y",
    ],
    ids=lambda data: repr(data[-6:]),
)
@pytest.mark.parametrize("name", ["a.py", "a.rlx"])
def test_a_text_is_decoded_in_pieces_as_in_one(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    (source, problem), (whole, same) = source_of(str(path), name), decode(data, name)
    assert source.text == whole.text
    assert (str(problem), problem and problem.span) == (str(same), same and same.span)


def tokenize_open(data: bytes) -> str:
    file = io.BytesIO(data)
    name, _ = tokenize.detect_encoding(file.readline)
    file.seek(0)
    return io.TextIOWrapper(file, name, newline=None).read()
