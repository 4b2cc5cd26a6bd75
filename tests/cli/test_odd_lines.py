"""Command lines as newcomers write them: each gets one clear line, and the exit status that the help lists."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rlx.cli import main
from tests.hostile.command_lines import ALWAYS, LINES, Given, arguments_of
from tests.hostile.every_command import asked, complaint

PROGRAM = """@R.function
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    return x
"""
RELAY = "def @main(%x: int32) { %x }\n"

LINES_AND_ANSWERS = [
    ("chek p.rlx", "no command 'chek'; did you mean 'check'?"),
    ("check", "give at least one PATH"),
    ("check nothing", "no Relax program under nothing"),
    ("check gone.rlx", "cannot read this file: No such file or directory"),
    ("check --diff gone.rlx", "gone.rlx: No such file or directory"),
    ("check --diff p.rlx picture", "picture: the byte 0x89 is not UTF-8"),
    ("check --fix gone.rlx", "cannot read this file: No such file or directory"),
    ("fmt nothing", "no .rlx file under nothing"),
    ("fmt picture", "picture: not UTF-8 (byte 0)"),
    ("run nothing", "nothing: Is a directory"),
    ("run picture", "not UTF-8"),
    ("run p.rlx q.rlx", "unrecognized arguments: q.rlx"),
    ("run p.rlx --fuel -1", "expected an integer from 0, found '-1'"),
    ("run p.rlx --fuel nan", "expected an integer from 0, found 'nan'"),
    ("run p.rlx --input n=nan", "--input n: expected an integer, found 'nan'"),
    ("run p.rlx --input n=99999999999", "is too large to generate"),
    ("run p.rlx --input y=1", "there is no parameter or shape variable 'y'"),
    ("run p.rlx --out p.rlx", "--out p.rlx: File exists"),
    ("step p.rlx --html p.rlx", "--html p.rlx: this would overwrite the program"),
    ("check . --output-file p.rlx", "--output-file p.rlx: this would overwrite the program"),
    ("step p.rlx --html nothing", "--html nothing: Is a directory"),
    ("step p.rlx --limit nan", "argument --limit: expected an integer, found 'nan'"),
    ("build p.rlx -o p.rlx", "--out p.rlx: this would overwrite the program"),
    ("build p.rlx -o gone/p.rlxexe", "--out gone/p.rlxexe: there is no directory gone"),
    ("lower p.rlx --to lambdalyft", "no pass 'lambdalyft'; did you mean LambdaLift?"),
    ("disasm p.rlx", "expected an executable of rlx, found another file"),
    ("relay p.relay check", "invalid choice: 'p.relay'"),
    ("relay run nothing", "nothing: Is a directory"),
    ("relay to-anf p.relay --format json", "--format json is for check and run"),
    ("prove", "the following arguments are required: goal"),
    ("prove n>", "expected a number, a name or an opening parenthesis, found the end"),
    ("prove n>=0 --lower n=nan", "--lower n: expected an integer or none, found 'nan'"),
    ("generate --size 99999999", "argument --size: expected at most 100000, found 99999999"),
    ("generate --seed 1.5", "argument --seed: expected an integer, found '1.5'"),
    ("generate -n 0", "expected a positive integer, found '0'"),
    ("generate --out p.rlx", "p.rlx: File exists"),
    (
        "fuzz --time -1s",
        "--time: expected one argument; a value that begins with - is written --time=-1s",
    ),
    ("fuzz --time nan", "expected a duration (90s, 10m, 2h), found 'nan'"),
    ("fuzz --seed nan", "argument --seed: expected an integer, found 'nan'"),
    ("fuzz --known gone", "--known gone: no such directory"),
    ("fuzz --known p.rlx", "--known p.rlx: no such directory"),
    ("reduce p.rlx", "the following arguments are required: --test"),
    ("reduce p.rlx --test true -o p.rlx", "--output p.rlx: this would overwrite the program"),
    ("reduce p.rlx --test true -o gone/p", "--output gone/p: there is no directory gone"),
    ("refines - -", "only one of the programs can be standard input"),
    ("diff - -", "only one of the programs can be standard input"),
    ("compare - -", "only one of the programs can be standard input"),
    ("why p.rlx", "expected FILE:LINE or FILE:LINE:COLUMN, found 'p.rlx'"),
    ("why p.rlx:99", "there is no line 99"),
    ("why p.rlx:2 --depth -1", "argument --depth: expected an integer from 0, found '-1'"),
    ("bisect p.rlx --patience 0", "expected a number of seconds above 0, found '0'"),
    ("bisect p.rlx --seconds nan", "expected a number of seconds above 0, found 'nan'"),
    ("bisect p.rlx --seed -1", "expected an integer from 0, found '-1'"),
    ("bisect p.rlx --sizes 1,,2", "expected an integer from 0, found ''"),
    ("bisect p.rlx -o p.rlx", "--output p.rlx: this would overwrite the program"),
    ("explain R.cancat", "did you mean R.concat"),
    ("completion ksh", "invalid choice: 'ksh'"),
    ("lsp p.rlx", "unrecognized arguments: p.rlx"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.rlx").write_text(PROGRAM)
    (tmp_path / "p.relay").write_text(RELAY)
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "nothing").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("line", "words"), LINES_AND_ANSWERS)
def test_wrong_usage_is_told(line: str, words: str, here: Path) -> None:
    answer = asked(line.split())
    assert words in answer.out + answer.err
    assert answer.status == (1 if line == "fmt picture" else 2)
    assert (here / "p.rlx").read_text() == PROGRAM
    if line != "chek p.rlx":
        assert complaint(line.split(), answer) is None


def test_standard_input_that_is_no_text_is_not_fixed() -> None:
    answer = asked(["check", "--fix", "-"], b"\x89PNG")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == "rlx check: <stdin>: the byte 0x89 is not UTF-8\n"


VALUES = (
    "-1",
    "0",
    "nan",
    "1e309",
    "99999999999999999999",
    "9" * 5000,
    "",
    " ",
    "é",
    "--",
    "-x",
    "a=b",
)
UNLIMITED = ("--watch", "--operators", "--count")
"""Options whose values are another program, or that take as long as one asks for."""

QUICK = [name for name in LINES if name not in ("fuzz", "bisect", "lsp")]


@pytest.mark.parametrize("command", QUICK)
def test_no_value_of_an_option_is_a_bug(command: str, here: Path) -> None:
    """Each option with each odd value; those that the option takes are used."""
    given = Given(here / "p.rlx", PROGRAM, here, random.Random(0))
    kinds = arguments_of(command)
    always = {
        name: [str(here / "out") if name == "--out" else word for word in words]
        for name, words in ALWAYS.get(command, {}).items()
    }
    for name, kind in kinds.items():
        if kind == "positional" or name in UNLIMITED:
            continue
        for value in VALUES:
            others = [word for n, words in always.items() if n != name for word in (n, *words)]
            places = [
                w for n, k in kinds.items() if k == "positional" for w in LINES[command][n](given)
            ]
            words = [command, *places, *others, f"{name}={value}"]
            (here / "p.rlx").write_text(PROGRAM)
            answer = asked(words, PROGRAM.encode())
            assert complaint(words, answer) is None, (words, answer)


def test_the_list_of_commands_is_no_answer_to_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for argv, status in ((["rlx"], 2), (["rlx", "--help"], 0)):
        monkeypatch.setattr("sys.argv", argv)
        assert main() == status
        said = capsys.readouterr()
        assert "rlx COMMAND" in (said.err if status else said.out)


def test_operators_that_cannot_be_imported_are_told_each_time(tmp_path: Path) -> None:
    path = tmp_path / "p.rlx"
    path.write_text(PROGRAM)
    words = ["check", "--operators", str(tmp_path / "missing.py"), str(path)]
    first, second = asked(words), asked(words)
    assert first == second
    assert first.status == 2 and "cannot import" in first.err
