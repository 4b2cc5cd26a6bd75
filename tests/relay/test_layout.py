"""Law: what stands between the tokens of a text, or in front of all, moves places and says nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest

from rlx import relay
from rlx.relay.lexer import lex
from rlx.relay.parser import read
from tests.relay.damage import WHOLE, with_another_token
from tests.relay.test_parser import FULL, errors

TEXTS = (*WHOLE, FULL)


def spread(text: str) -> str:
    """The text with more between two tokens of a line that have a blank between them."""
    tokens = lex(text).tokens
    made = list(text)
    for before, after in pairwise(tokens):
        gap = text[before.end : after.start]
        if gap.isspace() and "\n" not in gap:
            made[before.end] = " /* of nobody */ " + gap[0]
    return "".join(made)


FORMS: dict[str, Callable[[str], str]] = {
    "a byte-order mark": lambda text: "\ufeff" + text,
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "empty lines": lambda text: text.replace("\n", "\n \n\t\n"),
    "comments": spread,
}


def said(text: str) -> list[tuple[str, str, str | None, str]]:
    """Each mistake: code, words, help, and the first line of the text at the place."""
    return [
        (d.code, d.message, d.help, text[slice(*d.span)].split()[0] if d.span else "")
        for d in read(text).diagnostics
    ]


@pytest.mark.parametrize("form", FORMS)
def test_texts_mean_the_same(form: str) -> None:
    for at, text in enumerate(TEXTS):
        module, made = relay.parse(text), FORMS[form](text)
        again = relay.parse(made)
        assert relay.structural_equal(again, module)
        for gv, function in module.functions.items():
            other = again[gv.name]
            assert words(made, other.span) == words(text, function.span)
        for seed in range(4):
            wrong = with_another_token(text, Random(f"{at} {seed}"))
            assert said(FORMS[form](wrong)) == said(wrong)


def words(text: str, span: tuple[int, int] | None) -> list[str]:
    """The tokens at a place."""
    assert span is not None
    return [token.text for token in lex(text[slice(*span)]).tokens]


@pytest.mark.parametrize("binding", ["%0 = 1", "let %a = 1"])
@pytest.mark.parametrize("end", ["", ";", "\n"])
def test_behind_the_last_binding_the_value_is_missing(binding: str, end: str) -> None:
    """Whether or not the binding itself has ended."""
    (said,) = errors(f"def @main() {{ {binding}{end} }}")
    assert said.endswith("PARSE: expected an expression: the value of the block, found '}'")
