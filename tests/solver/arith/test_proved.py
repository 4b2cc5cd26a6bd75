"""Questions that people ask are settled: the examples of `proved.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.solver import prove
from tests.markdown import Example, assert_example, examples

PROVED = Path(__file__).with_name("proved.md")


@pytest.mark.parametrize("example", examples(PROVED), ids=lambda example: example.name)
def test_the_answer_names_its_means(example: Example) -> None:
    goal, *facts = example.given[0].splitlines()
    verdict = prove(goal, [fact.removeprefix("assuming ") for fact in facts])
    assert_example(PROVED, example.name, str(verdict))
