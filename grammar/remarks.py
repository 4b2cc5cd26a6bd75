"""Comments that stand elsewhere than above a definition: in front of a statement, or at the top of a file.

The syntax tree keeps those above definitions. The others belong to no node, so a formatter finds them in
the text and gives them to the printer, which prints each in front of the statement that follows it.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""|'
    r"'''(?:[^'\\]|\\.|'(?!''))*+'''|"
    r'"(?:[^"\\\n]|\\.)*+"|'
    r"'(?:[^'\\\n]|\\.)*+'|"
    r"(?P<comment>\#[^\n]*+)",
    re.DOTALL,
)
_PRINTED = re.compile(
    r"#\s*(from\s+\S+\s+import\b|import\s|Metadata omitted|with T\.s?block\(\"root\"\))"
)


class Remarks:
    """Comments in the order of the text, taken away as they are printed.

    Parameters
    ----------
    text
        The source text; none gives no comments.
    """

    def __init__(self, text: str = "") -> None:
        found = [(m.start(), m[0].rstrip()) for m in _TOKEN.finditer(text) if m["comment"]]
        self._left: list[tuple[int, str]] = []
        above = False  # whether the comment below this one is above a definition
        for at, comment in reversed(found):
            line = text.rfind("\n", 0, at) + 1
            alone = not text[line:at].strip()
            below = _next_line(text, at)
            above = alone and (below.startswith("@") or (above and below.startswith("#")))
            if not above and not _PRINTED.match(comment):
                # One behind a statement comes before it: in front of all that its line holds.
                self._left.append((at if alone else line - 1, comment))

    @property
    def left(self) -> int:
        """How many are not printed yet."""
        return len(self._left)

    def before(self, offset: int) -> list[str]:
        """Take those that stand before an offset of the source."""
        taken = []
        while self._left and self._left[-1][0] < offset:
            taken.append(self._left.pop()[1])
        return taken


def _next_line(text: str, at: int) -> str:
    line = text.find("\n", at) + 1
    end = text.find("\n", line)
    return text[line : end if end >= 0 else len(text)].strip() if line else ""
