"""PrimFuncs in the styles that people write, from the templates of ``styles.txt``.

A template's first line has its parameters: a name, the extents, the element type; letters stand for extents (numbers or
variables) and for types that are drawn. In the statements, ``{t}`` is a type, ``{w}`` a width, ``{index}`` the type of the
extents, ``{c:t}`` a constant, ``{b:t}`` an amount to shift by, ``{o:t}`` an operator, ``{p: a; b}`` one of several texts, ``{where:…}`` a text in braces,
``{t: a, b; i}`` an expression of a type over leaves and indices.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import rlx
from rlx.grammar.nodes import tir

from .batch import Case
from .expressions import FLOATS, INTEGERS, KINDS, UNSIGNED, Expressions, bits, literal
from .sizes import extents
from .sources import cases

Array = np.ndarray[Any, Any]
_TYPES = {"t": KINDS, "u": KINDS, "s": KINDS, "f": FLOATS, "g": FLOATS, "i": INTEGERS}
_TYPES |= {"j": ("int8", "uint8", "int16", "int32"), "e": UNSIGNED}
_WIDTHS = (1, 2, 3, 4, 4, 5, 7, 8, 8, 16, 16, 32)


@cache
def templates() -> tuple[str, ...]:
    """The templates without their comments."""
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return tuple(
        "\n".join(line for line in part.strip().split("\n") if not line.startswith("#"))
        for part in text.split("----\n")
    )


class Style:
    """One function from a template.

    Attributes
    ----------
    text
        The function.
    sizes
        The values of its variables, by name.
    """

    def __init__(self, template: str, rng: random.Random, most: int = 1500) -> None:
        self.rng, self.pick = rng, rng.choice
        head, _, body = template.partition("\n")
        self.types = {letter: self.pick(kinds) for letter, kinds in _TYPES.items()}
        self.index = self.pick(("int32", "int64"))
        self.width = self.pick(_WIDTHS)
        parameters = [part.split() for part in head.split("|")]
        words = {word for _, *dims, _ in parameters for word in dims if word in ("n", "m", "k")}
        letters = sorted(words)
        found = dict(zip(letters, extents(rng, len(letters), most), strict=True))
        self.sizes = {word: size for word, size in found.items() if rng.random() < 0.3}
        if "n" in body and not letters:  # an extent that no buffer has
            found["n"] = 3
        self.fixed = {word: size for word, size in found.items() if word not in self.sizes}
        kinds = {name: self.types.get(kind, kind) for name, *_, kind in parameters}
        self.expressions = Expressions(rng, kinds)
        self.text = self._function(parameters, self.filled(body))

    def _function(self, parameters: list[list[str]], body: str) -> str:
        names, lines = [], []
        for word in self.sizes:
            lines.append(f"{word} = T.{self.index}()")
        for name, *dims, kind in parameters:
            kind = self.types.get(kind, kind)
            if dims == [":"]:
                names.append(f"{name}: T.{kind}")
                continue
            names.append(f"p_{name}: T.handle")
            shape = "".join(f"{dim}, " for dim in dims if dims != ["0"])
            lines.append(f'{name} = T.match_buffer(p_{name}, ({shape}), "{kind}")')
        lines += [*body.split("\n")]
        written = "\n".join(f"    {line}" for line in lines)
        for word, size in self.fixed.items():
            value = str(size) if self.index == "int32" else f"T.int64({size})"
            written = _replaced(written, word, value)
        return f"@T.prim_func(private=True, s_tir=True)\ndef f({', '.join(names)}):\n{written}\n"

    # ------------------------------------------------------------ holes

    def filled(self, text: str) -> str:
        """A text with its holes filled, the inner ones first or never."""
        start = text.find("{")
        if start < 0:
            return text
        depth, end = 0, start
        for end in range(start, len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if not depth:
                break
        return text[:start] + self.hole(text[start + 1 : end]) + self.filled(text[end + 1 :])

    def hole(self, text: str) -> str:
        """The expression for a hole."""
        word, colon, rest = text.partition(":")
        if not colon:
            return self._name(word)
        kind = self.types.get(rest, rest)
        match word:
            case "p":
                return self.filled(self.pick(_parts(rest)).strip())
            case "where":
                return f"{{{self.filled(rest)}}}"
            case "c":
                return literal(self.rng, kind)
            case "b":
                return str(self.rng.randrange(bits(kind)))
            case "o":
                return self.pick(("and", "or") if kind == "bool" else ("+", "+", "-", "*"))
        leaves, _, indices = self.filled(rest).partition(";")
        depth = self.pick((0, 1, 1, 2, 3))
        return self.expressions.of(
            self.types.get(word, word), _listed(leaves), _listed(indices), depth
        )

    def _name(self, word: str) -> str:
        if word == "w":
            return str(self.width)
        return self.index if word == "index" else self.types[word]


def _parts(text: str) -> list[str]:
    """A text at those of its semicolons that stand in no inner hole."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _listed(text: str) -> list[str]:
    """A text at those of its commas that stand in no brackets."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _replaced(text: str, word: str, value: str) -> str:
    """A text with another text for a word of one letter, where that is a name of its own."""
    found = ""
    for at, letter in enumerate(text):
        before, behind = text[at - 1 : at], text[at + 1 : at + 2]
        alone = not any(c.isalnum() or c in '_."' for c in (before, behind) if c)
        found += value if letter == word and alone else letter
    return found


def read(text: str) -> tir.PrimFunc:
    """The function that a text defines."""
    [func] = rlx.parse(text).prim_funcs.values()
    return func


def variables(func: tir.PrimFunc) -> dict[str, tir.Var]:
    """The variables in the shapes of a function's parameters, by name."""
    dims = [dim for buffer in func.buffer_map.values() for dim in buffer.shape]
    return {dim.name: dim for dim in dims if isinstance(dim, tir.Var)}


def styles(seed: int) -> Iterator[Case]:
    """Each template in turn."""
    for number in count(seed << 32):
        rng = random.Random(number)
        style = Style(templates()[number % len(templates())], rng)
        func = read(style.text)
        known = variables(func)
        sizes = {known[word]: size for word, size in style.sizes.items() if word in known}
        for case in cases(func, sizes, rng, f"styles {number}"):
            yield case._replace(args=varied(case.args, func, rng))


def varied(
    args: Sequence[Array | int | float], func: tir.PrimFunc, rng: random.Random
) -> list[Array | int | float]:
    """Arguments whose indices are mostly not negative, and of which two sometimes share memory."""
    made = list(args)
    for at, var in enumerate(func.params):
        arg, buffer = made[at], func.buffer_map.get(var)
        if isinstance(arg, np.ndarray) and buffer and buffer.name == "at" and rng.random() < 0.7:
            made[at] = np.abs(arg)
    arrays = [at for at, arg in enumerate(made) if isinstance(arg, np.ndarray) and arg.size]
    pairs = [(a, b) for a in arrays for b in arrays if a < b and _kind(made[a]) == _kind(made[b])]
    if pairs and rng.random() < 0.12:
        at, other = rng.choice(pairs)
        made[at], made[other] = _overlapping(made[at], made[other], rng)
    return made


def _kind(arg: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = arg.dtype
    return found


def _overlapping(one: Any, two: Any, rng: random.Random) -> tuple[Array, Array]:
    """Two arrays of one type in one memory: the same elements, or some of them."""
    first = rng.choice((0, 0, 0, 1, rng.randrange(one.size + 1)))
    memory = np.zeros(max(one.size, first + two.size), one.dtype)
    memory[first : first + two.size] = two.ravel()
    memory[: one.size] = one.ravel()
    return (
        memory[: one.size].reshape(one.shape),
        memory[first : first + two.size].reshape(two.shape),
    )
