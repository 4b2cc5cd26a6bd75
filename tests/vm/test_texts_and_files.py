"""An executable survives its text, its Python and its file; what is damaged is refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rlx.vm import Executable, LoadError
from rlx.vm.saving import from_bytes, to_bytes

from .damage import damaged
from .programs import by_hand, compiled

EXECUTABLES = {"compiled": compiled(), "by hand": by_hand()}


@pytest.fixture(params=EXECUTABLES)
def executable(request: pytest.FixtureRequest) -> Executable:
    return EXECUTABLES[request.param]


def test_text_is_read_back(executable: Executable) -> None:
    text = executable.as_text()
    again = Executable.from_text(text)
    assert again.as_text() == text
    assert to_bytes(again) == to_bytes(executable)


def test_python_builds_it_again(executable: Executable) -> None:
    scope: dict[str, object] = {}
    exec(executable.as_python(), scope)  # noqa: S102 - what it writes is code
    again = scope["ib"].get(formalize=False)  # type: ignore[attr-defined]
    assert to_bytes(again) == to_bytes(executable)


def test_a_file_is_read_back(executable: Executable, tmp_path: Path) -> None:
    executable.save(tmp_path / "a.rlxexe")
    again = Executable.load(tmp_path / "a.rlxexe")
    assert to_bytes(again) == to_bytes(executable)


def test_every_truncation_is_refused(executable: Executable) -> None:
    content = to_bytes(executable)
    for end in range(len(content)):
        with pytest.raises(LoadError):
            from_bytes(content[:end])


def test_every_flip_is_refused() -> None:
    content = to_bytes(by_hand())
    for at in range(len(content)):
        flipped = bytearray(content)
        flipped[at] ^= 1 << at % 8
        with pytest.raises(LoadError):
            from_bytes(bytes(flipped))


@pytest.mark.parametrize("seed", range(60))
def test_damage_with_a_right_checksum(seed: int) -> None:
    """Any file is refused, or is an executable that could be written again."""
    content = damaged(to_bytes(EXECUTABLES["by hand"]), random.Random(seed))
    try:
        found = Executable.of(from_bytes(content))
    except LoadError:
        return
    assert Executable.of(from_bytes(to_bytes(found))).as_text() == found.as_text()


def test_texts_that_are_none() -> None:
    for text, said in [
        ("what is this", "line 1: expected the head of a function"),
        ("@main:  # 1 inputs, 1 registers\n  jump %0", "line 2: expected an instruction"),
        ("  ret   ret %0", "line 1: expected the head of a function before"),
        ("@main:  # 0 inputs, 1 registers\n  ret   ret %0", "may be read before it is written"),
        ("@main:  # 1 inputs, 0 registers\n  ret   ret %0", "1 inputs and 0 registers"),
        ("constants:\n  c[1]  {}  # x", r"line 2: expected constant c\[0\]"),
        ('constants:\n  c[0]  {"a": 1}  # x', "expected a constant, found"),
    ]:
        with pytest.raises(LoadError, match=said):
            Executable.from_text(text)


HEAD = "@main:  # 1 inputs, 2 registers\n"


@pytest.mark.parametrize("number", ["y", "", "1" * 20, "1" * 5_000, "-1", "0x1", "1.5", "²"])
@pytest.mark.parametrize(
    "line",
    [
        "@main:  # {} inputs, 2 registers\n  ret   ret %0",
        "@main:  # 1 inputs, {} registers\n  ret   ret %0",
        HEAD + "  ret   ret %{}",
        HEAD + "  goto  {}\n  ret   ret %0",
        HEAD + "  if    %{}, 1\n  ret   ret %0",
        HEAD + "  if    %0, {}\n  ret   ret %0",
        HEAD + "  call  main in: %{} dst: %1\n  ret   ret %0",
        HEAD + "  call  main in: i{} dst: %{}\n  ret   ret %0",
        HEAD + "  call  main in: c[{}] dst: %1\n  ret   ret %0",
        HEAD + "  ret   ret %0\n\nconstants:\n  c[{}]  {{}}  # x",
    ],
)
def test_numbers_that_are_none(line: str, number: str) -> None:
    with pytest.raises(LoadError, match=r"expected|registers|instruction|constant|word|bits"):
        Executable.from_text(line.format(number, number))
