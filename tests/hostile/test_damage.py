"""Files of another system, another encoding, or of nothing; `every_command.py` has what is cut off, flipped or odd."""

from pathlib import Path

import pytest

from .corpus import CLEAN, FOUND, check, complaint, examples

PROGRAM = b"""\
@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    with R.dataflow():
        y = R.nn.relu(x)
        R.output(y)
    return y
"""


def said(data: bytes, folder: Path) -> tuple[int, str]:
    answer = check(data, folder)
    assert complaint(answer) is None
    return answer.status, answer.out


@pytest.mark.parametrize("path", examples()[::4], ids=lambda path: path.stem)
def test_line_ends_and_a_byte_order_mark_change_nothing(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    expected = said(data, tmp_path)
    assert said(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"), tmp_path) == expected
    assert said(data.replace(b"\n", b"\r"), tmp_path) == expected


def test_tabs_indent(tmp_path: Path) -> None:
    tabbed = PROGRAM.replace(b"    ", b"\t")
    assert check(tabbed, tmp_path).status == CLEAN
    assert check(PROGRAM.replace(b"R.output", b"\tR.output"), tmp_path).status == FOUND
    assert check(PROGRAM.replace(b"= R.nn", b"\t=\tR.nn"), tmp_path).status == CLEAN


@pytest.mark.parametrize(
    "bad",
    [b"\0", b"\0\0\0\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80"],
    ids=repr,
)
@pytest.mark.parametrize("where", [0, 1, 40, 150, len(PROGRAM)])
def test_what_is_no_text_is_one_error(bad: bytes, where: int, tmp_path: Path) -> None:
    answer = check(PROGRAM[:where] + bad + PROGRAM[where:], tmp_path)
    assert complaint(answer) is None
    assert answer.status == FOUND
    assert answer.out.count("error[") == 1


@pytest.mark.parametrize("letters", ["utf-16", "utf-16-le", "utf-32"])
def test_another_encoding_is_an_error(letters: str, tmp_path: Path) -> None:
    answer = check(PROGRAM.decode().encode(letters), tmp_path)
    assert complaint(answer) is None
    assert answer.status == FOUND


@pytest.mark.parametrize("data", [b"", b"\n", b"   ", b"\t\n\t", b"# only words\n", b"\\", b"\\\n"])
def test_empty_files_are_answered(data: bytes, tmp_path: Path) -> None:
    assert complaint(check(data, tmp_path)) is None
