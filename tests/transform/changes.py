"""Texts in which one literal is another of its kind, so that most of them stay legal."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.hostile.damage import damaged, tokens

NUMBERS = ("0", "1", "1", "2", "3", "4", "5", "-1", "-2", "-3", "7", "16", "0.5", "1.5", "-0.25")
WORDS = ("True", "False", "None")
LAYOUTS = (
    *('"NCHW"', '"NHWC"', '"NCW"', '"NWC"', '"NCDHW"', '"NDHWC"', '"OIHW"', '"HWIO"', '"OIW"'),
    *('"NCHW4c"', '"IOHW"', '"WIO"', '"fast"', '"raise"', '"wrap"', '"clip"', '"none"', '"tanh"'),
    *('"sum"', '"mean"', '"add"', '"mul"', '"min"', '"max"', '"update"', '"constant"', '"edge"'),
    *('"reflect"', '"symmetric"', '"circular"', '"left"', '"right"', '"linear"', '"cubic"'),
    *('"nearest_neighbor"', '"half_pixel"', '"align_corners"', '"asymmetric"', '"round"'),
    *('"floor"', '"ceil"', '"round_prefer_ceil"', '"SYMMETRIC"', '"border"', '"zeros"', '"llvm"'),
)


def changed(text: str, random: Random, types: Sequence[str]) -> str:
    """The text with one literal changed: a number for a number, a type for a type, a word for a word."""
    places = tokens(text)
    literals = [(start, end) for start, end in places if _is_literal(text[start:end])]
    if not literals or random.random() < 0.15:
        return damaged(text, places or [(0, len(text))], random)
    start, end = random.choice(literals)
    token = text[start:end]
    kinds: Sequence[str] = NUMBERS
    if token[0] == '"':
        kinds = [f'"{kind}"' for kind in types] if token[1:-1] in types else LAYOUTS
    elif token in WORDS or random.random() < 0.1:
        kinds = (*WORDS, *NUMBERS)
    letters = _letters(text)
    if letters and token[0].isdigit() and random.random() < 0.15:
        kinds = letters
    return text[:start] + random.choice(kinds) + text[end:]


def _letters(text: str) -> list[str]:
    """The shape variables that are declared at the head of a text."""
    heads = [line.partition(" = TypeVar(") for line in text.splitlines()]
    return [name for name, found, _ in heads if found]


def _is_literal(token: str) -> bool:
    return token[0].isdigit() or token in WORDS or (len(token) > 2 and token[0] == '"')
