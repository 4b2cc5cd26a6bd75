"""A constant of the Python around is what Python makes of it, or unknown; nothing it says is fatal."""

from __future__ import annotations

import random
import warnings
from itertools import product

import pytest

from rlx.grammar.read.literals import NoConstant, constant

LEAVES = (
    *("0", "1", "2", "3", "7", "64", "65", "2 ** 62", "9223372036854775807", "10 ** 400"),
    *("0.0", "1.5", "1e308", "1e400", "True", "False", "None", "'a'", "''", "()", "(1, 2)", "[3]"),
    *("n", "nobody", "f()", "x.y", "{}", "b'b'", "1j"),
)
SIGNS = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "|", "@", "==", "and", ",")


def expression(rng: random.Random, depth: int) -> str:
    """Python, legal more often than not, and with or without a value."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(LEAVES)
    match rng.randrange(8):
        case 0:
            return f"-{expression(rng, depth - 1)}"
        case 1:
            return f"({expression(rng, depth - 1)})"
        case 2:
            return rng.choice(["not ", "~", "+", "*", "("]) + expression(rng, depth - 1)
    one, other = expression(rng, depth - 1), expression(rng, depth - 1)
    return f"{one} {rng.choice(SIGNS)} {other}"


@pytest.mark.parametrize("seed", range(30))
def test_a_constant_is_what_python_makes_of_it(seed: int) -> None:
    rng = random.Random(seed)
    known = {"n": 5}
    for _ in range(100):
        text = expression(rng, 3)
        found = constant(text, lambda name: known.get(name, NoConstant))
        if found is NoConstant:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            meant = eval(text, {"__builtins__": {}}, known)
        assert repr(plain(meant)) == repr(found), text


def plain(value: object) -> object:
    """Lists are read as tuples."""
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("sign", SIGNS)
def test_no_two_constants_are_fatal(sign: str) -> None:
    for left, right in product(LEAVES, repeat=2):
        constant(f"{left} {sign} {right}", lambda name: NoConstant)
