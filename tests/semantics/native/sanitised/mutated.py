"""Functions with one number, index, type, bound, condition or statement changed, of which the checker refuses none."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain, count, islice

from rlx.checker.check import check_text
from rlx.grammar.nodes import tir
from rlx.grammar.read.parser import parse
from tests.tvm.prim_mutants import MUTATIONS, data_type, index, number

from .batch import Case
from .scheduled import scripts
from .sources import cases, chosen_sizes
from .styles import Style, templates, varied

_NUMBERS = ("-1", "3", "7", "64", "255", "65536", "2147483647", "2147483648", "4611686018427387904")
_SIGNS = ("+", "-", "*", "//", "%", "<", "<=", ">", ">=", "==", "!=", "and", "or")
_WORDS = ("spatial", "reduce", "min", "max", "floordiv", "truncdiv", "truncmod", "S", "R")
REFUSED: Counter[str] = Counter()
"""How many of the changed functions the checker refuses, by what was done."""


def mutated(seed: int) -> Iterator[Case]:
    """Changed functions of templates, and of schedules."""
    of_styles, of_schedules = _styles(seed), _schedules(seed)
    for number_ in count(seed << 32):
        rng = random.Random(number_)
        text = next(of_schedules if rng.random() < 0.25 else of_styles)
        for _ in range(3):
            changed, word = change(text, rng)
            func = accepted(changed)
            REFUSED[f"{word} {'accepted' if func else 'refused'}"] += 1
            if func is None:
                continue
            for case in cases(func, chosen_sizes(func, rng), rng, f"mutated {number_} {word}"):
                yield case._replace(args=varied(case.args, func, rng))


def _styles(seed: int) -> Iterator[str]:
    for at in count(seed << 32):
        yield Style(templates()[at % len(templates())], random.Random(at), 200).text


def _schedules(seed: int) -> Iterator[str]:
    for _, text, _ in scripts((seed << 32) + (1 << 31)):
        yield text


def change(text: str, rng: random.Random) -> tuple[str, str]:
    """A text with one change, and its name."""
    while True:
        lines = text.split("\n")
        kind = rng.choice((*MUTATIONS, number, index, data_type, *_OWN))
        if kind(rng, lines) and "\n".join(lines) != text:
            return "\n".join(lines), kind.__name__


def accepted(text: str) -> tir.PrimFunc | None:
    """The function of a text, if the checker has nothing against it."""
    if any(found.is_error for found in check_text(text, "f.rlx").diagnostics):
        return None
    modules = parse(text).modules
    found = chain.from_iterable(module.functions.values() for module in modules)
    return next(islice((func for func in found if isinstance(func, tir.PrimFunc)), 1), None)


# ------------------------------------------------------------ changes


def _replace(
    rng: random.Random, lines: list[str], words: tuple[str, ...], new: tuple[str, ...]
) -> bool:
    """One of some words, between blanks or brackets, becomes another."""
    places = [
        (row, at, word)
        for row, line in enumerate(lines)
        for word in words
        for at in range(1, len(line))
        if line.startswith(word, at) and _alone(line, at, at + len(word))
    ]
    if not places:
        return False
    row, at, word = rng.choice(places)
    lines[row] = lines[row][:at] + rng.choice(new) + lines[row][at + len(word) :]
    return True


def _alone(line: str, start: int, end: int) -> bool:
    around = line[start - 1], line[end : end + 1]
    return not any(c.isalnum() or c in '_"' for c in around) and line[start - 1] != "="


def limit(rng: random.Random, lines: list[str]) -> bool:
    """A number becomes one at the edge of a type, or of a vector."""
    numbers = tuple({word for line in lines for word in _words(line) if word.isdigit()})
    return _replace(rng, lines, numbers, _NUMBERS)


def _words(line: str) -> list[str]:
    return "".join(c if c.isalnum() or c in "_." else " " for c in line).split()


def sign(rng: random.Random, lines: list[str]) -> bool:
    """An operator becomes another."""
    return _replace(rng, lines, tuple(f" {s} " for s in _SIGNS), tuple(f" {s} " for s in _SIGNS))


def word(rng: random.Random, lines: list[str]) -> bool:
    """A kind of axis or an intrinsic becomes another."""
    return _replace(rng, lines, _WORDS, _WORDS)


def beside(rng: random.Random, lines: list[str]) -> bool:
    """An index moves by one, or by many."""
    rows = [row for row, line in enumerate(lines) if "[" in line and " = " in line]
    if not rows:
        return False
    row = rng.choice(rows)
    closes = [at for at, letter in enumerate(lines[row]) if letter == "]"]
    at = rng.choice(closes)
    move = rng.choice((" + 1", " - 1", " * 2", " + 2147483647", " * -1", " // 2", " - 3"))
    lines[row] = lines[row][:at] + move + lines[row][at:]
    return True


_OWN = (limit, limit, sign, sign, word, beside, beside)
