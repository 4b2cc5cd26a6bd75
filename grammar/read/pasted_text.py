"""Detection of texts copied with the line prefixes of a page or a console."""

from __future__ import annotations

import re

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.read.source_tokens import long_strings

_MARKS = {
    re.compile(r"[ \t]*(?:>>>|\.\.\.)(?=[ \n]|\Z)"): "prompts of Python in front of its lines",
    re.compile(r"[ \t]*(?:In \[\d+\]:|\.\.\.:)"): "prompts of IPython in front of its lines",
    re.compile(r"[ \t]*(?:```|~~~)"): "fences of Markdown around the program",
    re.compile(r"[ \t]*\d+(?:[ \t]*[|:\t]|  |\n|\Z)"): "numbers in front of its lines",
}
"""The line prefixes of such texts, with their descriptions."""
_PROGRAM = re.compile(r"@[ \t]*\w")


def pasted(text: str) -> Diagnostic | None:
    """The prefix or fence that an unreadable text was copied with, found at its first decorator or
    before it.
    """
    at = 0
    strings = long_strings(text)
    for line in text.splitlines(keepends=True):
        inside = any(start < at < end for start, end in strings)
        for mark, what in _MARKS.items():
            found = None if inside else mark.match(line)
            fence = "fences" in what
            if found and (fence or _PROGRAM.match(line[found.end() :].lstrip())):
                words = f"this text has {what}"
                help = "copy the program alone" if fence else "remove them from all lines"
                return Diagnostic("PARSE", "error", words, (at, at + found.end()), help=help)
        at += len(line)
    return None
