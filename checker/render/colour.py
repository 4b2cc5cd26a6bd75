"""The colours of the human format, and the plain theme without any."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import IO

PLAIN: Mapping[str, str] = {}
"""No colour."""

ANSI: Mapping[str, str] = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "help": "1;32",
    "gutter": "1;34",
    "related": "1;34",
    "strong": "1",
    "faint": "2",
    "added": "32",
    "removed": "31",
}
"""SGR parameters for each role, understood by every terminal with eight colours."""


def paint(theme: Mapping[str, str], role: str, text: str) -> str:
    """The text in the colour of its role."""
    code = theme.get(role)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def plain(text: str) -> str:
    """The text without its colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def theme_for(stream: IO[str]) -> Mapping[str, str]:
    """Colours only at a terminal, and never where NO_COLOR or a dumb terminal forbids them."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return PLAIN
    return ANSI
