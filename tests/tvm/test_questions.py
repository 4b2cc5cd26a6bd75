"""The questions recorded from real models: settled, rightly, and beside TVM's answers."""

from __future__ import annotations

import pytest

from benchmarks.prover.record_questions import QuestionRecorder
from benchmarks.prover.recorded_questions import Tvm, ask_all, case, questions, recorded, sides
from rlx.checker.check import check_text
from rlx.solver import Prover

from . import models

COUNTED = recorded()
ONCE = [(1, text) for _, text in COUNTED]


def test_the_record_is_of_moderate_size() -> None:
    assert len(COUNTED) >= 100
    assert sum(count for count, _ in COUNTED) >= 40_000
    assert len({text for _, text in COUNTED}) == len(COUNTED)


def test_all_are_settled_as_evaluation_says() -> None:
    asked, _ = questions(ONCE)
    verdicts = ask_all(Prover(), [sides(goal) for _, goal in asked])
    for (text, _), verdict in zip(asked, verdicts, strict=True):
        assert verdict.status == ("proved" if case(text).truth else "refuted"), text


def test_tvm_proves_nothing_that_is_refuted_here() -> None:
    asked, names = questions(ONCE)
    proved = Tvm(asked, names).run()
    for (text, _), found in zip(asked, proved, strict=True):
        assert not found or case(text).truth, text
    assert sum(proved) < len(asked), "TVM proves as much as the prover: say so in the README"


def test_recording_a_model_gives_recorded_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    text = str(models.MODELS["experts"]().script())
    check_text(text)
    recorder = QuestionRecorder()
    for owner, attribute, value in recorder.patches():
        monkeypatch.setattr(owner, attribute, value)
    check_text(text)
    assert recorder.counts.total() > 30
    assert set(recorder.counts) <= {text for _, text in COUNTED}
