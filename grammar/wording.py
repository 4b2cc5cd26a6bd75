"""Wording that messages share."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 error``, ``2 errors``"""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters; `…` stands for its rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
