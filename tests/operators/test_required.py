"""Messages about unmet requirements of operators: the examples of `required.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.checker.check import check_text
from tests.listed import listed
from tests.markdown import Example, assert_example, examples

REQUIRED = Path(__file__).with_name("required.md")


@pytest.mark.parametrize("example", examples(REQUIRED), ids=lambda example: example.name)
def test_it_says_what_is_required(example: Example) -> None:
    (text,) = example.given
    assert_example(REQUIRED, example.name, listed(text, check_text(text).diagnostics))
