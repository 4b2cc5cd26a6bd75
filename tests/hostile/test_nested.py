"""Programs that are nested deeply, though not beyond the limits, through every command with its options."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .command_lines import LINES, Given, drawn
from .every_command import asked, complaint
from .test_size import function, nested, nested_ifs

DEPTH = 350
COMMANDS = [
    name for name in LINES if name in {"check", "fmt", "why", "run", "step", "lower", "build"}
]
DIMS = 'x: R.Tensor(("n",), "float32")'


def in_prim_func(body: str) -> str:
    return (
        "@I.ir_module\nclass M:\n    @T.prim_func\n"
        f'    def f(a: T.Buffer((4,), "int64"), n: T.int64):\n{body}'
    )


def loops(depth: int) -> str:
    heads = "".join(f"{' ' * (k + 8)}for i{k} in range(1):\n" for k in range(depth))
    return in_prim_func(f"{heads}{' ' * (depth + 8)}a[0] = T.int64(1)\n")


def functions(depth: int) -> str:
    heads = "".join(
        f"{' ' * (k + 4)}@R.function\n{' ' * (k + 4)}def f{k}(x: R.Object):\n" for k in range(depth)
    )
    ends = "".join(f"{' ' * (k + 4)}return f{k}(x)\n" for k in reversed(range(depth)))
    return f"@R.function\ndef main(x: R.Object):\n{heads}{' ' * (depth + 4)}return x\n{ends}"


TEXTS: dict[str, Callable[[], str]] = {
    "calls": lambda: nested("R.add(", ", x)", DEPTH),
    "calls of one operand": lambda: nested("R.exp(", ")", DEPTH),
    "tuples": lambda: nested("(", ",)", DEPTH),
    "parentheses": lambda: nested("(", ")", DEPTH),
    "fields": lambda: function(f"    y = {'(' * DEPTH}x{',)' * DEPTH}{'[0]' * DEPTH}\n"),
    "annotations": lambda: function(
        f"    y: {'R.Tuple(' * DEPTH}R.Object{')' * DEPTH} = {'(' * DEPTH}x{',)' * DEPTH}\n"
    ),
    "types of functions": lambda: function(
        "    y = x\n", f"x: {'R.Callable((' * 90}R.Object{',), R.Object)' * 90}"
    ),
    "sums": lambda: function(f"    y = R.shape([{'(1 + ' * DEPTH}n{')' * DEPTH}])\n", DIMS),
    "quotients": lambda: function(f"    y = R.shape([{'(' * 90}n{' // 2)' * 90}])\n", DIMS),
    "ifs": lambda: nested_ifs(90),
    "functions": lambda: functions(60),
    "loops": lambda: loops(90),
    "terms of a PrimFunc": lambda: in_prim_func(
        f"        a[0] = {'(T.int64(1) - ' * DEPTH}n{')' * DEPTH}\n"
    ),
    "elements of a PrimFunc": lambda: in_prim_func(
        f"        a[0] = {'a[' * DEPTH}n{']' * DEPTH}\n"
    ),
    "list of shapes": lambda: nested("[", "]", DEPTH),
    "conditions": lambda: nested("(x if ", " else x)", 90),
    "unary": lambda: nested("-", "", DEPTH),
    "strings": lambda: nested('R.call_packed("', '")', 50),
}


PAIRS = [
    (command, name)
    for at, command in enumerate(COMMANDS)
    for number, name in enumerate(TEXTS)
    if (at + number) % 3 == 0
]
"""Every command and every text, not each with each."""


@pytest.mark.parametrize(("command", "name"), PAIRS)
def test_nested_programs_are_answered(command: str, name: str, tmp_path: Path) -> None:
    text = TEXTS[name]()
    path = tmp_path / "input.rlx"
    rng = random.Random(f"{name} {command}")
    path.write_text(text, "utf-8")
    words = ["--watch"]
    while "--watch" in words:  # that ends when somebody ends it
        words = [command, *drawn(command, Given(path, text, tmp_path, rng))]
    assert complaint(words, asked(words, text.encode())) is None, words


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("to", ["2022", "0.16"])
def test_nested_programs_are_translated(name: str, to: str, tmp_path: Path) -> None:
    path = tmp_path / "input.rlx"
    path.write_text(TEXTS[name](), "utf-8")
    words = ["fmt", "--to", to, "--diff", str(path)]
    assert complaint(words, asked(words)) is None


@pytest.mark.parametrize(
    "options", [["--check"], ["--dialect", "0.18", "--diff"], ["--to", "2022", "--check"]]
)
def test_a_sum_that_no_text_can_nest_is_not_formatted(options: list[str], tmp_path: Path) -> None:
    """As `x + x + …` it is a legal text; as calls of operators it would be nested 20,000 deep."""
    path = tmp_path / "sum.rlx"
    path.write_text(function(f"    y = {' + '.join(['x'] * 20_000)}\n"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "rlx", "fmt", str(path), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    wanted = f"{path}: not formatted: expressions are nested too deeply to be written as text\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", wanted)


def test_a_sum_that_no_text_can_nest_is_reduced_as_text(tmp_path: Path) -> None:
    path = tmp_path / "sum.rlx"
    path.write_text(function(f"    y = {' + '.join(['x'] * 20_000)}\n"), "utf-8")
    words = [sys.executable, "-m", "rlx", "reduce", str(path), "--test", "true"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
