"""``rlx diff``: differences in the text up to names and order, then in the meaning."""

from __future__ import annotations

import cProfile
import json
from pathlib import Path

import pytest

from rlx.commands.diff import main
from rlx.grammar.read.parser import parse
from rlx.refine.differences import differences

FIRST = """
@I.ir_module
class First:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        a = R.nn.relu(x)
        b = R.exp(y)
        c = R.permute_dims(R.add(a, b), [1, 0])
        return R.permute_dims(c, [1, 0])

    @R.function
    def other(x: R.Tensor(("n",), "float32")):
        return R.add(x, x)
"""
SECOND = """
@I.ir_module
class Second:
    @R.function
    def main(x: R.Tensor(("k", "l"), "float32"), y: R.Tensor(("k", "l"), "float32")):
        k, l = T.int64(), T.int64()
        q = R.exp(y)
        p = R.nn.relu(x)
        s = R.add(p, q)
        return s

    @R.function
    def other(z: R.Tensor(("q",), "float32")):
        return R.add(z, z)
"""
CALLER = """
@I.ir_module
class Caller:
    @R.function(private=True)
    def inner(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        return R.{op}(x)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        return Caller.inner(x)
"""


class Diff:
    """Calls of the command on texts."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def __call__(self, one: str, other: str, *options: str) -> tuple[int, str]:
        paths = [self.folder / "a.rlx", self.folder / "b.rlx"]
        for path, text in zip(paths, (one, other), strict=True):
            path.write_text(text)
        status = main([*map(str, paths), *options])
        written = self.capsys.readouterr()
        return status, written.out + written.err


@pytest.fixture
def diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Diff:
    """The command, for texts."""
    return Diff(tmp_path, capsys)


def test_names_and_order_are_no_difference(diff: Diff) -> None:
    """The addition, the activation and the exponential are in both; the two transpositions are
    only in one, and the meaning is the same.
    """
    status, text = diff(FIRST, SECOND)
    assert status == 0
    assert "- gv1 = R.permute_dims(c" in text and "- return gv1" in text and "+ return s" in text
    assert "relu" not in text and "exp" not in text
    assert "B means the same as A" in text and "other: the same" in text


def test_another_meaning(diff: Diff) -> None:
    """A run shows it, and other programs read it."""
    status, text = diff(FIRST, SECOND.replace("add(z, z)", "multiply(z, z)"), "--format", "json")
    assert status == 1
    record = json.loads(text)
    main, other = record["functions"]
    assert record["status"] == "refuted" and main["answer"]["status"] == "proved"
    assert other["answer"]["counterexample"]["before"] != []


def test_what_a_function_calls(diff: Diff) -> None:
    """A function whose text is the same is compared if one changed that it calls."""
    one = CALLER.format(op="exp")
    status, text = diff(one, CALLER.format(op="abs"))
    assert status == 1 and "main: the same, but functions that it calls changed" in text
    status, text = diff(one, one.replace("inner", "outer"))
    assert status == 0 and "outer: only in B" in text


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (SECOND.replace("def other", "def another"), "only in B"),
        (
            SECOND.replace('z: R.Tensor(("q",), "float32")', "").replace(
                "add(z, z)", "zeros((1,), 'float32')"
            ),
            "1 parameter in A and 0 in B",
        ),
    ],
)
def test_another_interface(diff: Diff, other: str, words: str) -> None:
    """Unlike things are not compared, and it is said why."""
    status, text = diff(FIRST, other)
    assert status == 1 and words in text


def test_what_cannot_be_compared(diff: Diff, tmp_path: Path, capsys: Capture) -> None:
    """A clear error for each."""
    status, text = diff(FIRST, FIRST.replace("R.add(x, x)", "R.add(x, v)"))
    assert status == 2 and "only programs without errors are compared" in text
    status, text = diff(FIRST, "")
    assert status == 2 and "no Relax program" in text
    status, text = diff(FIRST, SECOND + SECOND.replace("Second", "Third"))
    assert status == 2 and "holds 2 modules" in text
    assert main([str(tmp_path / "a.rlx"), str(tmp_path / "none.rlx")]) == 2
    assert "none.rlx" in capsys.readouterr().err


Capture = pytest.CaptureFixture[str]


def test_chains_cost_what_lies_between() -> None:
    def calls(count: int) -> int:
        lines = [
            f"    v{k + 1} = R.{'add' if k % 3 else 'multiply'}(v{k}, v0)" for k in range(count)
        ]
        head = '@R.function\ndef main(v0: R.Tensor((4,), "float32")):\n'
        text = head + "\n".join(lines) + f"\n    return R.{{}}(v{count})\n"
        one, other = (parse(text.format(last)).modules[0] for last in ("exp", "sin"))
        profile = cProfile.Profile()
        profile.runcall(differences, one, other)
        return sum(each.callcount for each in profile.getstats())

    calls(5)  # loads what is loaded once
    assert calls(200) < 2.8 * calls(100)
