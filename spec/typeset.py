"""Inference rules as HTML, in the signs of the literature."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from rlx.spec.blocks import constructs

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
_NAMES = {"G": "&Gamma;", "S": "&Sigma;", "s": "&sigma;"}
_WORD = re.compile(r"\b([A-Za-z])([0-9ijkm](?:\+1)?)?('*)(?![\w])")
_PROSE = frozenset(["a", "A", "am", "ok"])
_SHOWN = {**dict(_SIGNS), "<": "&#10216;", ">": "&#10217;"}
_BRACKET = re.compile(r"<(?![ :=])|(?<![ =-])>")
"""A configuration is written between these; comparisons have blanks around them."""
_FORMULA = re.compile(rf"{_SIGN.pattern}|{_BRACKET.pattern}|{_WORD.pattern}")


def replaced(
    pattern: re.Pattern[str],
    text: str,
    shown: Callable[[re.Match[str]], str | None],
    rest: Callable[[str], str] = escape,
) -> str:
    """A text with the matches of a pattern as ``shown`` has them (None: as the text around them),
    and the others as ``rest`` has them.
    """
    parts: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        html = shown(match)
        if html is not None:
            parts += [rest(text[done : match.start()]), html]
            done = match.end()
    return "".join([*parts, rest(text[done:])])


def formula(text: str) -> str:
    """A line of an inference in the signs of the literature; HTML, without links."""
    return replaced(_FORMULA, text, lambda match: _SHOWN.get(match.group()) or _letter(match))


_CONSTRUCT = re.compile(r"\b[A-Z][A-Za-z]+\b")


def typeset(text: str, address_of: Callable[[str], str | None] = lambda _: None) -> str:
    """A line of an inference, with the constructs of the abstract syntax in bold and linked where
    they have an address; HTML.
    """
    relax, tir = constructs()
    known = {*relax, *tir}

    def shown(match: re.Match[str]) -> str | None:
        word = match.group()
        if word not in known:
            return None
        address = address_of(word)
        bold = f"<b>{word}</b>"
        return bold if address is None else f'<a class="construct" href="{address}">{bold}</a>'

    return replaced(_CONSTRUCT, text, shown, formula)


def _letter(match: re.Match[str]) -> str:
    """A variable of the notation, with its index; a word of one letter stays one."""
    word = match.group()
    letter, index, primes = match.groups()
    if word in _PROSE:
        return word
    below = f"<sub>{index}</sub>" if index else ""
    after = primes.replace("'", "&prime;") + below
    if letter in _NAMES and not index:
        return f"{_NAMES[letter]}{after}"
    return f"<i>{letter}{after}</i>"
