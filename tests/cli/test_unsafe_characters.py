"""Which characters of a program are shown as others: those that would steer a terminal, by Unicode's own tables."""

from __future__ import annotations

import sys
import unicodedata

from rlx.checker.render.human import safe

TURNS = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


def test_controls_and_turns_are_shown() -> None:
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        steers = (
            unicodedata.category(letter) == "Cc" or unicodedata.bidirectional(letter) in TURNS
        ) and letter != "\t"
        assert (safe(f"a{letter}b") != f"a{letter}b") == steers, hex(code)
