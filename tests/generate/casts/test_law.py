"""Eliminated checks change no run, and what is said of casts is true; ``RLX_CASTS=100000`` for the long run."""

from __future__ import annotations

import os
from random import Random

import pytest

from rlx.checker.dynamic_checks.comparisons import PartJudge
from rlx.generate.casts import __main__ as command
from rlx.generate.casts import examine, program
from rlx.generate.casts.__main__ import main
from rlx.generate.casts.law import CastVerdict

LEGAL = int(os.environ.get("RLX_CASTS", "60"))


def test_the_law_holds() -> None:
    choose = Random(20)
    legal = casts = removed = 0
    while legal < LEGAL:
        text = program(choose)
        verdict = examine(text, choose)
        assert not verdict.broken, f"{verdict.broken}\n{text}"
        legal += verdict.legal
        casts, removed = casts + verdict.casts, removed + verdict.removed
    assert casts > LEGAL
    assert removed > LEGAL // 2


def test_the_command_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--programs", "5", "--seed", "4"]) == 0
    assert ", 5 legal, " in capsys.readouterr().out


def test_the_command_shows_what_breaks_the_law(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of five legal programs two are broken, behind one that is not legal."""
    verdicts = iter(CastVerdict(legal, broken=said) for legal, said in ENDS)
    monkeypatch.setattr(command, "examine", lambda *_: next(verdicts))
    assert main(["--programs", "5"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("6 programs, 5 legal, ") and said.out.endswith(": 2 unsound\n")
    assert said.err.count("@R.function") >= 2
    assert [line for line in said.err.splitlines() if line in ("here", "there")] == [
        "here",
        "there",
    ]


ENDS = [(False, ""), (True, ""), (True, "here"), (True, ""), (True, "there"), (True, "")]


CASTS = {
    "a dimension": ("R.Tensor(ndim=1)", "R.Tensor((3,))"),
    "a rank": ("R.Tensor", "R.Tensor(ndim=1)"),
    "a shape that a variable holds": ("R.Shape, main1: R.Tensor(ndim=1)", "R.Tensor(main0)"),
    "a scalar": ("R.Object", "T.int64"),
}


@pytest.mark.parametrize("name", CASTS)
def test_the_law_can_be_broken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judgement that calls every comparison proved is found out."""
    params, target = CASTS[name]
    value = "main1" if "main1" in params else "main0"
    text = (
        f"@I.ir_module\nclass M:\n    @R.function\n    def main(main0: {params}) -> R.Object:\n"
        f"        y = R.match_cast({value}, {target})\n        return y\n"
    )
    assert not examine(text, Random(1), 40).broken
    add = PartJudge._add

    def all_proved(self: PartJudge, path: object, premise: str, status: str, *rest: object) -> None:
        add(self, path, premise, "proved" if status == "needed" else status, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PartJudge, "_add", all_proved)
    assert examine(text, Random(1), 40).broken
