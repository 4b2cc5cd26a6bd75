"""Python contradicts no answer to the questions of pass authors."""

from __future__ import annotations

import pytest

from tests.solver.arith.pass_questions import PassQuestion, questions, wrong


@pytest.mark.parametrize("question", questions()[::5], ids=lambda question: question.goal)
def test_no_answer_is_wrong(question: PassQuestion) -> None:
    for int64 in (False, True):
        verdict, false = wrong(question, int64)
        assert not false, verdict
