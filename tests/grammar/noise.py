"""The same program in another layout: comments, blank lines and odd indentation put in at random."""

from __future__ import annotations

import random
import re

from rlx.grammar.read.lexer import OPENING, Lexer

COMMENTS = ["# note", "#", "# R.output(x)", '# a "string', "# with R.dataflow():", "# @R.function"]
_DEFINITION = re.compile(r"\s*(@|#)")


def noisy(text: str, rng: random.Random) -> str:
    """The text with lines between its lines, at any column, and comments behind them."""
    starts = _starts(text)
    found: list[str] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        if offset in starts:
            while rng.random() < 0.25:
                found.append(_line(line, rng))
            if rng.random() < 0.1 and offset + len(line) in starts and "#" not in line:
                line = f"{line.rstrip()}  {rng.choice(COMMENTS)}\n"
        found.append(line)
        offset += len(line)
    return "".join(found)


def _line(below: str, rng: random.Random) -> str:
    column = " " * rng.choice([0, 0, 1, 3, 4, 8, 20])
    # What stands above a definition belongs to it, so a comment there would be part of the program.
    blank = rng.random() < 0.4 or _DEFINITION.match(below)
    return f"{column}\n" if blank else f"{column}{rng.choice(COMMENTS)}\n"


def _starts(text: str) -> set[int]:
    """The offsets of lines that no token crosses: strings and brackets may span several."""
    depth, end = 0, 0
    crossed: set[int] = set()
    for token in Lexer(text, 0, len(text), lambda *_: None, layout=False):
        _, start, stop = token
        if depth or text.count("\n", start, stop):
            crossed.update(at for at in range(end, stop) if text[at - 1 : at] == "\n")
        depth += OPENING.get(token.type, 0)
        end = stop
    return {0, *(m.end() for m in re.finditer("\n", text))} - crossed
