"""Words of another program's messages, compared without regard to white space."""

from __future__ import annotations

import re

_ANY = re.compile(r"…(\d?)")


def says(words: str, text: str) -> bool:
    """Whether a text contains the words, of which `…` stands for any; `…1` stands for the same
    words wherever it is, and so do `…2` to `…9`.
    """
    plain = _ANY.split(" ".join(words.split()))
    pattern, known = re.escape(plain[0]), set[str]()
    for number, after in zip(plain[1::2], plain[2::2], strict=True):
        if number in known:
            pattern += f"(?P=same{number})"
        elif number:
            pattern += f"(?P<same{number}>.*?)"
            known.add(number)
        else:
            pattern += ".*?"
        pattern += re.escape(after)
    return re.search(pattern, " ".join(text.split())) is not None
