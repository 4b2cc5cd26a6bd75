"""Words of another program's messages, compared without regard to white space."""

from __future__ import annotations

import re


def says(words: str, text: str) -> bool:
    """Whether a text contains the words, of which `…` stands for any."""
    pattern = ".*?".join(map(re.escape, " ".join(words.split()).split("…")))
    return re.search(pattern, " ".join(text.split())) is not None
