"""Colours for programs, and the signs of inference rules."""

from __future__ import annotations

import re
from html import escape

from rlx.spec.blocks import constructs

_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
    |(?P<string>"[^"\n]*"|'[^'\n]*')
    |(?P<decorator>@[\w.]+)
    |(?P<keyword>\b(?:def|return|with|if|else|class|for|in|as|lambda|not|and|or|True|False|None)\b)
    |(?P<builtin>\b[RTI]\.[\w.]+)
    |(?P<number>\b\d+(?:\.\d+)?\b)""",
    re.VERBOSE,
)

_SIGNS = (
    ("|-", "⊢"),
    ("~>", "⇝"),
    ("=>", "⇒"),
    ("->", "→"),
    ("<:", "&lt;:"),
    ("<=", "≤"),
    (">=", "≥"),
    ("!=", "≠"),
    ("\\/", "⊔"),
    ("/\\", "⊓"),
    (":=", "≔"),
    ("...", "…"),
)
_SIGN = re.compile("|".join(re.escape(written) for written, _ in _SIGNS))
_SHOWN = dict(_SIGNS)
_NAMES = {"G": "&Gamma;", "S": "&Sigma;", "s": "&sigma;"}
_WORD = re.compile(r"\b([A-Za-z])([0-9ijkm](?:\+1)?)?('*)(?![\w])")
_PROSE = frozenset(["a", "A", "am", "ok"])
_BRACKETS = {"<": "&#10216;", ">": "&#10217;"}
_BRACKET = re.compile(r"<(?![ :=])|(?<![ =-])>")
"""A configuration is written between these; comparisons have blanks around them."""
_FORMULA = re.compile(rf"{_SIGN.pattern}|{_BRACKET.pattern}|{_WORD.pattern}")


def highlighted(program: str) -> str:
    """A program with its words marked."""
    parts: list[str] = []
    at = 0
    for match in _TOKEN.finditer(program):
        parts.append(escape(program[at : match.start()]))
        parts.append(f'<span class="{match.lastgroup}">{escape(match[0])}</span>')
        at = match.end()
    return "".join([*parts, escape(program[at:])])


def formula(text: str) -> str:
    """A line of an inference in the signs of the literature; HTML, without links."""
    parts: list[str] = []
    at = 0
    for match in _FORMULA.finditer(text):
        parts.append(escape(text[at : match.start()]))
        sign = _SHOWN.get(match[0]) or _BRACKETS.get(match[0])
        parts.append(sign or _letter(match))
        at = match.end()
    return "".join([*parts, escape(text[at:])])


_CONSTRUCT = re.compile(r"\b[A-Z][A-Za-z]+\b")


def typeset(text: str) -> str:
    """A line of an inference, with the constructs of the abstract syntax in bold; HTML, without
    links.
    """
    known = {*constructs()[0], *constructs()[1]}
    parts: list[str] = []
    at = 0
    for match in _CONSTRUCT.finditer(text):
        if match[0] in known:
            parts += [formula(text[at : match.start()]), f"<b>{match[0]}</b>"]
            at = match.end()
    return "".join([*parts, formula(text[at:])])


def _letter(match: re.Match[str]) -> str:
    """A variable of the notation, with its index; a word of one letter stays one."""
    letter, index, primes = match[1], match[2], match[3]
    if match[0] in _PROSE:
        return match[0]
    below = f"<sub>{index}</sub>" if index else ""
    after = "&prime;" * len(primes) + below
    if letter in _NAMES and not index:
        return f"{_NAMES[letter]}{after}"
    return f"<i>{letter}{after}</i>"
