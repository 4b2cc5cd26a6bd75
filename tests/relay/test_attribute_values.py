"""Values of attributes, in all their spellings, mean what Python makes of the same parts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from rlx import ParseError, relay
from rlx.grammar.nodes.dtype import SCALAR_NAMES
from rlx.relay.attributes import AttributeObject, MetadataReference, print_attribute
from rlx.relay.nodes import RelayCall

Spelt = tuple[str, object]
"""A text, and the value that it must have."""


def _number(random: Random) -> Spelt:
    value = random.choice([0, 1, -1, 7, -(1 << 31), (1 << 31) - 1])
    return f"{value}", value


def _long(random: Random) -> Spelt:
    value = random.choice([1 << 31, -(1 << 63), (1 << 63) - 1])
    return f"{value}i64", value


def _float(random: Random) -> Spelt:
    value = random.choice([0.0, 0.25, -1.5, 1e-5, float("inf"), float("-inf")])
    return f"{value!r}f{random.choice(['', '32', '64'])}", value


def _truth(random: Random) -> Spelt:
    value = random.random() < 0.5
    return str(value), value


def _nothing(random: Random) -> Spelt:
    return random.choice(["None", "nullptr"]), None


def _word(random: Random) -> Spelt:
    word = random.choice([*sorted(SCALAR_NAMES), "NCHW", "valid", "a.b"])
    return word, word


def _string(random: Random) -> Spelt:
    inner = "".join(random.choices("aN4 ,)]'\"", k=random.randint(0, 4)))
    if random.random() < 0.5:
        return '"' + inner.replace('"', '\\"') + '"', inner
    return "'" + inner.replace("'", "\\'") + "'", inner


def _reference(random: Random) -> Spelt:
    number = random.choice([0, 1, 12])
    return f"meta[Device][{number}]", MetadataReference("Device", number)


def _cast(random: Random) -> Spelt:
    text, value = random.choice(LEAVES)(random)
    return f"({random.choice(sorted(SCALAR_NAMES))}){text}", value


LEAVES: list[Callable[[Random], Spelt]] = [
    *(_number, _long, _float, _truth, _nothing, _word, _string),
    lambda random: ("59e657a14ad0", AttributeObject("59e657a14ad0")),
]
"""What may stand behind a cast."""
OTHERS: list[Callable[[Random], Spelt]] = [
    _cast,
    lambda random: ("?", AttributeObject("?")),
    lambda random: ("@main", AttributeObject("@main")),
    _reference,
]


def spelt(random: Random, depth: int = 3) -> Spelt:
    """A value of random parts."""
    if depth and random.random() < 0.6:
        parts = [spelt(random, depth - 1) for _ in range(random.choice([0, 1, 1, 2, 3]))]
        left, right = random.choice([("[", "]"), ("(", ")")])
        comma = random.choice(["", ","]) if parts else ""
        return f"{left}{', '.join(t for t, _ in parts)}{comma}{right}", tuple(v for _, v in parts)
    return random.choice([*LEAVES, *OTHERS])(random)


def read(texts: list[str]) -> list[object]:
    """The values of the attributes of a call."""
    attributes = ", ".join(f"a{at}={text}" for at, text in enumerate(texts))
    body = relay.parse(f"fn (%x) {{ f(%x, {attributes}) }}")["main"].body
    assert isinstance(body, RelayCall)
    return list(body.attrs.values())


@pytest.mark.parametrize("seed", range(200))
def test_values_mean_what_their_parts_mean(seed: int) -> None:
    random = Random(seed)
    pairs = [spelt(random) for _ in range(random.randint(1, 4))]
    assert repr(read([text for text, _ in pairs])) == repr([value for _, value in pairs])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(1, 2)3", "3"),
        ("(int32, bool)3", "3"),
        ("(valid)3", "3"),
        ("()3", "3"),
        ("[int32]3", "3"),
        ("(bool)(int32)", "("),
        ("3 4", "4"),
        ("-x", "x"),
        ("-True", "True"),
        ("-meta[Device][0]", "meta"),
        ("--3", "-"),
    ],
)
def test_what_is_no_value_is_refused_where_it_begins(text: str, found: str) -> None:
    whole = f"fn (%x) {{ f(%x, a={text}) }}"
    with pytest.raises(ParseError) as raised:
        relay.parse(whole)
    (said,) = raised.value.diagnostics
    assert said.span is not None and whole[said.span[0]] == found[0]
    assert said.message.endswith(f"found '{found}'")


@pytest.mark.parametrize("value", ["é", "日本語", "\U0001f600", "\t", 'a "b" \\', "\x7f"])
def test_a_string_is_printed_with_its_letters(value: str) -> None:
    text = print_attribute(value)
    assert read([text]) == [value]
    assert all(letter in text for letter in value if letter.isalpha())
