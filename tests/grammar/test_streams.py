"""Printed text cannot command a terminal: Unicode's own tables tell which characters are escaped
and which lines broken.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import rlx
from rlx.grammar.streams import (
    HarmlessStream,
    complain,
    complain_line,
    escaped,
    harmless,
    json_text,
    own,
    say,
    say_line,
    visible,
    without_own,
    write_data,
    write_program,
)

ROOT = Path(rlx.__file__).resolve().parent.parent
HIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
COMMANDS = [
    "::error file=a::injected",
    "  ::set-output name=a::b",
    "\t::stop-commands::x",
    "\u3000::error::the runner skips white space of every kind",
    "##[error]y",
    "a ##vso[task.setvariable variable=a]b",
    "###vso[task.complete]",
    "##teamcity[buildStatus status='SUCCESS']",
]


def is_command(line: str) -> bool:
    """Whether a service obeys the line: GitHub, Azure Pipelines, TeamCity."""
    return line.lstrip().startswith("::") or any(
        f"##{word}[" in line for word in ("", "vso", "teamcity")
    )


def test_hidden_characters_are_escaped() -> None:
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        if unicodedata.category(letter) in HIDDEN_CATEGORIES and letter not in "\t\n":
            assert harmless(letter) == visible(letter) == escaped(letter), hex(code)
        elif unicodedata.category(letter)[0] in "NPS" or letter in " \t":
            assert harmless(letter) == visible(letter) == letter, hex(code)


@pytest.mark.parametrize(
    "letter", ["\u034f", "\u115f", "\u3164", "\uffa0", "\U000e0101"], ids=ascii
)
def test_invisible_letters_are_escaped(letter: str) -> None:
    """Unicode calls them ignorable, though they are letters and marks."""
    assert visible(f"a{letter}b") == f"a{escaped(letter)}b"


@pytest.mark.parametrize(
    "letter", ["\0", "\x1b", "\x9b", "\u202e", "\ud800", "\U000e0041", "\r", "\n"]
)
def test_an_escape_is_python(letter: str) -> None:
    assert ast.literal_eval(f'"{escaped(letter)}"') == letter
    assert escaped(letter).isascii() and escaped(letter).isprintable()


@pytest.mark.parametrize(
    "text", ["", "a", "é", "字", "👩", "❤️", "a\tb", "# x", "a::b", "C++ ## x [1]"]
)
def test_ordinary_text_stays(text: str) -> None:
    assert harmless(text) == visible(text) == text


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_no_line_is_a_command(command: str) -> None:
    assert is_command(command)
    for text in (command, f"first\n{command}", f"first\r{command}", f"first\u2028{command}"):
        for line in harmless(text).split("\n"):
            assert not is_command(line)
        assert not is_command(visible(text)) or visible(text).lstrip().startswith("::")


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_what_is_harmless_stays(command: str) -> None:
    text = f"a\n{command}\x1b\u202e\n"
    assert harmless(harmless(text)) == harmless(text)


def test_only_our_own_colours_colour() -> None:
    theirs = "\x1b[31mred\x1b[0m"
    text = f"{own('1m')}{theirs}{own('0m')}"
    assert harmless(text) == "\x1b[1m\\x1b[31mred\\x1b[0m\x1b[0m"
    assert without_own(text) == theirs


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_json_keeps_data(command: str) -> None:
    text = f"{command}\n{command}\x7f\x1b\u2028\ud800 \udcff\U0001f600"
    for record in (text, [text], {text: {"a": text}}):
        for indent in (None, 2):
            written = json_text(record, indent)
            assert written.isascii() and "\x7f" not in written
            assert json.loads(written.encode().decode("utf-8")) == record
            assert not any(map(is_command, written.split("\n")))


class Terminal(io.StringIO):
    """A stream that people read."""

    def isatty(self) -> bool:
        return True


def test_each_writer() -> None:
    bad = "a\x1b\n::error::b"
    for put, expected in (
        (say, "a\\x1b\n:\\x3aerror::b"),
        (say_line, "a\\x1b\\n::error::b\n"),
        (write_data, bad),
        (write_program, bad),
    ):
        out = io.StringIO()
        with redirect_stdout(out):
            put(bad)
        assert out.getvalue() == expected
    for put, expected in (
        (complain, "a\\x1b\n:\\x3aerror::b"),
        (complain_line, "a\\x1b\\n::error::b\n"),
    ):
        for wrap in (lambda stream: stream, HarmlessStream):
            err = io.StringIO()
            with redirect_stderr(wrap(err)):
                put(bad)
            assert err.getvalue() == expected


def test_a_program_at_a_terminal_is_shown_escaped() -> None:
    out = Terminal()
    with redirect_stdout(out):
        write_program("# \x1b]0;title\x07\n")
    assert out.getvalue() == "# \\x1b]0;title\\x07\n"


def test_what_others_print_on_standard_error_is_harmless() -> None:
    err = io.StringIO()
    with redirect_stderr(HarmlessStream(err)):
        print("warning: \x1b[2J", file=sys.stderr)
        sys.stderr.writelines(["::error::x\n"])
    assert err.getvalue() == "warning: \\x1b[2J\n:\\x3aerror::x\n"


ROOMS = [
    *("checker", "generate", "grammar", "old", "operators", "relay", "rlx", "semantics"),
    *("solver", "te", "transform", "vm"),
]
MAY_PRINT = {
    "grammar/streams.py",  # this is the place
    "solver/proofs/checker.py",  # stands alone: it imports nothing of rlx
}
"""`spec/` prints the specification itself, and imports nothing of rlx."""


def printing(tree: ast.AST) -> list[int]:
    """The lines that print past the writers."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name("print"):
                found.append(node.lineno)
            case ast.Attribute(value, "write" | "writelines") if ast.unparse(value).endswith(
                (
                    "sys.stdout",
                    "sys.stderr",
                    "stdout.buffer",
                    "stderr.buffer",
                    "__stdout__",
                    "__stderr__",
                )
            ):
                found.append(node.lineno)
            case ast.Attribute(ast.Name("os"), "write") if ast.unparse(node.args[0]) in ("1", "2"):
                found.append(node.lineno)
    return found


def test_nothing_else_prints() -> None:
    places = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            text = path.read_text(encoding="utf-8")
            if (
                name not in MAY_PRINT
                and not path.is_symlink()
                and ("print(" in text or "write" in text)
            ):
                places += [f"{name}:{line}" for line in printing(ast.parse(text))]
    assert places == []


@pytest.mark.parametrize(
    "text", ["print(1)", "sys.stdout.write(a)", "(sys.stderr).writelines(a)", "os.write(2, b'')"]
)
def test_the_scan_sees(text: str) -> None:
    assert printing(ast.parse(text)) == [1]
