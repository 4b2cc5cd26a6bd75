"""Messages about texts that cannot be read, and their places: the examples of `messages.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.grammar.read.parser import parse
from tests.listed import listed
from tests.markdown import Example, assert_example, examples

MESSAGES = Path(__file__).with_name("messages.md")


@pytest.mark.parametrize("example", examples(MESSAGES), ids=lambda example: example.name)
def test_it_says_what_is_wrong(example: Example) -> None:
    (text,) = example.given
    assert_example(MESSAGES, example.name, listed(text, parse(text).diagnostics))
