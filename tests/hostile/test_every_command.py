"""Files that are damaged in every way: every command answers as its help says."""

import random
import sys
from pathlib import Path

import pytest

from . import sources
from .breakage import KINDS
from .command_lines import GOALS
from .damage import damaged, tokens
from .every_command import Answer, Attempt, asked, complaint, watch_the_interpreter
from .originals import Original, originals

COUNT = 10
"""`python -m tests.hostile.every_command COUNT SEED` tries more."""


@pytest.fixture(scope="module")
def files() -> list[Original]:
    return originals(tvm=False)


@pytest.mark.parametrize("seed", range(2))
def test_damaged_files_are_answered(seed: int, files: list[Original], tmp_path: Path) -> None:
    watch_the_interpreter()
    for number in range(COUNT):
        attempt = Attempt(files, number, seed)
        assert attempt.wrong(tmp_path / "trial") == [], (number, attempt.kind, attempt.data)


def test_damaged_conditions_are_answered() -> None:
    rng = random.Random(0)
    for goal in GOALS * 3:
        words = ["prove", "--", damaged(goal, tokens(goal), rng)]
        assert complaint(words, asked(words)) is None, words


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "metadata"])
def test_every_kind_of_damage_does_some(kind: str) -> None:
    texts = [text for _, text in sources.of_examples()]
    rng = random.Random(kind)
    changed = [KINDS[kind](text, rng.choice(texts), rng) != text for text in texts * 2]
    assert sum(changed) > len(changed) // 5


WORDS = ["run", "a.rlx"]


@pytest.mark.parametrize(
    ("answer", "words", "expected"),
    [
        (Answer(0, "fine", ""), WORDS, None),
        (Answer(101, "", "x"), WORDS, "a bug: x"),
        (Answer(1, "Traceback (most recent call last)", ""), WORDS, "a bug: Traceback"),
        (Answer(4, "", "x"), WORDS, "status 4 is not documented: x"),
        (Answer(1, "", ""), WORDS, "status 1 without a word"),
        (Answer(2, "x", ""), WORDS, "status 2 without a message on stderr"),
        (Answer(0, "x", "a.py:3: RuntimeWarning: y"), WORDS, "Python warned: "),
        (Answer(0, '{"a": NaN}', ""), [*WORDS, "--format", "json"], "not JSON: NaN is no JSON"),
    ],
)
def test_the_judge_knows_a_bad_answer(
    answer: Answer, words: list[str], expected: str | None
) -> None:
    found = complaint(words, answer)
    assert (found or "").startswith(expected or "") and bool(found) == bool(expected)


def test_the_judge_sees_a_process() -> None:
    watch_the_interpreter()
    asked(["explain", "WF01"])
    assert complaint(["explain"], Answer(0, "x", "")) is None
    import subprocess

    subprocess.run([sys.executable, "-c", ""], check=True)
    assert "started: subprocess.Popen" in str(complaint(["explain"], Answer(0, "x", "")))
