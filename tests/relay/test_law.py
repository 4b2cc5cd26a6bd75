"""Laws over generated programs and damaged texts (`tests/relay/law.py` has the long run)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from rlx import relay
from rlx.relay.lexer import lex
from rlx.relay.parser import read
from tests.long_run import tried
from tests.relay import damage, documents
from tests.relay.generator import program
from tests.relay.law import broken
from tests.relay.test_parser import FULL

TEXTS = (*documents.ALL, FULL)


@pytest.mark.parametrize("seed", range(40))
def test_the_forms_agree(seed: int) -> None:
    assert not broken(seed, Counter())


def damaged(text: str, random: Random) -> str:
    """The text with a token replaced by another one of it, dropped, or doubled."""
    tokens = lex(text).tokens[:-1]
    token, other = random.choice(tokens), random.choice(tokens)
    new = random.choice((other.text, "", f"{token.text} {token.text}", "%9", "}", "=", "fn"))
    return text[: token.start] + new + text[token.end :]


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_text_is_read_or_reported(seed: int) -> None:
    random = Random(seed)
    text = random.choice(TEXTS) if seed % 3 else str(program(seed))
    for _ in range(random.randint(1, 3)):
        text = damaged(text, random)
    found = read(text)
    assert (found.module is None) == bool(found.diagnostics)
    for each in found.diagnostics:
        assert each.span is not None and 0 <= each.span[0] <= each.span[1] <= len(text) + 1
        assert each.message and each.source is not None
    if found.module is not None:
        assert relay.structural_equal(relay.parse(str(found.module)), found.module)
        relay.check(text)


@pytest.mark.parametrize("seed", range(20))
def test_a_text_that_is_cut_off_is_reported(seed: int) -> None:
    random = Random(seed)
    text = random.choice(TEXTS)
    found = read(text[: random.randint(1, len(text.rstrip()) - 1)])
    assert found.diagnostics or found.module is not None


def test_mistakes_are_reported_or_mean_the_same_in_all_forms() -> None:
    assert tried(damage.wrong, 60, 0) == 0
