"""Comments that are not above a definition: before a statement, or at the top of a file.

The docstring of a class or PrimFunc counts as a comment.

The syntax tree contains comments above definitions. The others do not belong to nodes, so a
formatter finds them in the text and passes them to the printer. The printer prints each before the
statement that follows it, or after the statement on the same line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import chain, pairwise

from rlx.grammar.dialects import BLOCK_WORDS
from rlx.grammar.lines import line_end, line_start, next_line
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.outline import HEAD, logical_lines
from rlx.grammar.read.source_tokens import parts_of

_BLOCK = "|".join(map(re.escape, BLOCK_WORDS))
PRINTED = re.compile(
    r"#\s*(from\s+(typing|tvm)[\w.]*\s+import\s+\w+(\s+as\s+\w+)?|import\s+tvm|"
    rf"Metadata omitted\..*|with (?:{_BLOCK})\(\"root\"\):?)\s*"
)
"""Comments that a printer itself writes."""


def comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a text, outside strings, with their offsets."""
    if "#" not in text:
        return
    end = 0
    behind = (len(text), len(text))
    for start, stop in chain((token.span for token in parts_of(text, (0, len(text)))), [behind]):
        for found in _BETWEEN.finditer(text[end:start]):
            yield end + found.start("comment"), found["comment"]
        end = stop


_BETWEEN = re.compile(r"^[^\"'#\n]*(?P<comment>#.*)", re.MULTILINE)
"""A comment between two tokens, where a string that is not closed may stand, too."""


WORD = re.compile(
    r"""[rRbBuUfF]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | \d[\w.]*(?:(?<=[eE])[+-]\d+)? | [^\W\d][\w.]* | (?P<comment>\#[^\n]*)
    | //=?|\*\*=?|->|<<|>>|[<>=!+*/%&|^@-]=?|\S""",
    re.VERBOSE | re.DOTALL,
)
"""The tokens of statements, of the source and of printed ones."""

MARK = "#\0"
"""The beginning of a mark at the end of a statement that has comments inside."""

BLANK = "\0"
"""The beginning of a mark for blank lines, in front of their number."""

PRAGMA = "rlx:"
"""The words of comments that speak of their line alone."""

_IMPORT = re.compile(r"(?:import|from)[ \t]")


class InnerComment(Record):
    """A comment inside a statement.

    Attributes
    ----------
    behind
        The number of the token in front of it, from 0; -1 in front of all.
    alone
        Whether nothing else stands on its line.
    first
        The number of the first token of its line, or of the next line.
    level
        Whether it is indented like that line.
    """

    text: str
    behind: int
    alone: bool
    first: int
    level: bool


class Inner(Record):
    """A statement of the source with comments inside.

    Attributes
    ----------
    tokens
        Its tokens.
    comments
        The comments inside it, in order.
    breaks
        The numbers of the tokens that end its lines.
    kept
        Whether its lines must stay, because a comment speaks of one of them.
    """

    tokens: tuple[str, ...]
    comments: tuple[InnerComment, ...]
    breaks: tuple[int, ...]
    kept: bool


class Remark(Record):
    """Text between statements: a comment, an import, blank lines.

    Attributes
    ----------
    order
        Where it comes before the statements behind it.
    at
        Where it stands.
    depth
        How deep the line is indented.
    """

    order: int
    at: int
    text: str
    depth: int


Beside = tuple[list[str], str | None]
"""The comments above a line, and the one behind it."""


class Remarks:
    """Comments, imports and blank lines in the order of the text, removed when they are printed.

    Parameters
    ----------
    text
        The source text; none gives no comments.

    Attributes
    ----------
    inner
        The statements with comments inside. Such a statement has one mark instead, behind it.
    imports
        The imports of the text that are kept.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        self._lines = list(logical_lines(text)) if text else []
        self._starts = [start for start, _ in self._lines]
        self._named: set[int] = set()
        self.inner: list[Inner] = []
        imports = list(self._imports())
        found = [(at, comment.rstrip()) for at, comment in comments(text)]
        found = [each for each in found if not any(a < each[0] < b for a, b in imports)]
        found, marked = self._inside_statements(found)
        for start, end in _documentation(text):
            stop = line_end(text, end)
            behind = [each for each in found if end <= each[0] < stop]
            found = [each for each in found if each not in behind]
            found.append((start, "  ".join([text[start:end], *(each[1] for each in behind)])))
        found += [(start, text[start:end].rstrip()) for start, end in imports]
        found.sort()
        self.imports = tuple(text[start:end].rstrip() for start, end in imports)
        left: list[Remark] = []
        above = False  # whether the comment below this one is above a definition
        for at, comment in reversed(found):
            line = line_start(text, at)
            alone = not text[line:at].strip()
            below = _next_line(text, at)
            above = alone and (below.startswith("@") or (above and below.startswith("#")))
            above = above and comment.startswith("#")
            if not above and not PRINTED.fullmatch(comment):
                # One behind a statement comes before it: in front of all that its line holds.
                comment = marked.pop(at, "") + comment
                left.append(Remark(at if alone else line - 1, at, comment, self._depth(at)))
        for at, mark in marked.items():
            line = line_start(text, at)
            left.append(Remark(line - 1, at, mark.rstrip(), self._depth(at)))
        left += self._blank_lines()
        self._left = sorted(left, key=lambda each: (each.order, each.at), reverse=True)

    def _imports(self) -> Iterator[Span]:
        """The places of the imports outside of modules, with the comments behind them."""
        for start, end in self._lines:
            if _IMPORT.match(self.text, start) and line_start(self.text, start) == start:
                yield start, end

    def _blank_lines(self) -> Iterator[Remark]:
        """Blank lines between statements and comments, each run once."""
        ends = [end for _, end in self._lines]
        for end, (start, _) in zip(ends, self._lines[1:], strict=False):
            at, run = next_line(self.text, end), 0
            while at <= start:
                stop = line_end(self.text, at)
                if not self.text[at:stop].strip():
                    run += 1
                elif run:
                    yield Remark(at - 1, at - 1, f"{BLANK}{run}", self._depth(at, stop))
                    run = 0
                at = stop + 1
                if stop >= start:
                    break

    def _inside_statements(
        self, found: list[tuple[int, str]]
    ) -> tuple[list[tuple[int, str]], dict[int, str]]:
        """Split off the comments inside statements.

        Returns
        -------
        left
            The other comments.
        marked
            For each statement with comments inside, the mark that stands for them, by its end, or
            by the place of the comment behind it.
        """
        left: list[tuple[int, str]] = []
        held: dict[int, list[tuple[int, str]]] = {}
        behind: dict[int, tuple[int, str]] = {}
        for at, comment in found:
            line = bisect_right(self._starts, at) - 1
            start, end = self._lines[line] if line >= 0 else (0, 0)
            first, stop = line_end(self.text, start), line_start(self.text, end)
            if line < 0 or stop <= first or at >= line_end(self.text, end):
                left.append((at, comment))
            elif at < stop:
                held.setdefault(line, []).append((at, comment))
            else:
                behind[line] = (at, comment)
                left.append((at, comment))
        for line, each in behind.items():
            if PRAGMA in each[1]:
                left.remove(each)
                held.setdefault(line, []).append(each)
        marked: dict[int, str] = {}
        for line, inside in sorted(held.items()):
            at = behind[line][0] if line in behind else self._lines[line][1] - 1
            marked[at] = f"{MARK}{len(self.inner)} "
            self.inner.append(_inner(self.text, self._lines[line], inside))
        return left, marked

    @property
    def left(self) -> int:
        """The number of comments that are not printed yet."""
        return len(self._left)

    def before(self, offset: int) -> list[str]:
        """Take the comments before an offset of the source."""
        taken = []
        while self._left and self._left[-1].order < offset:
            taken.append(self._left.pop().text)
        return taken

    def inside(self, end: int, at: int) -> list[str]:
        """Take the comments before an offset that stand no less deep than the line at another."""
        depth = self._depth(at)
        taken = []
        while self._left and self._left[-1].order < end and self._left[-1].depth >= depth:
            taken.append(self._left.pop().text)
        return taken

    def _depth(self, at: int, stop: int | None = None) -> int:
        line = line_start(self.text, at)
        head = self.text[line : at if stop is None else stop].expandtabs(8)
        return len(head) - len(head.lstrip()) if head.strip() else len(head)

    def behind(self, span: Span | None, whole: bool = True) -> str | None:
        """Take the comment after a statement, on its last line.

        ``whole`` says that the stretch is all of the statement: nothing else stands before the
        comment.
        """
        if span is None or not self._left:
            return None
        stop = line_end(self.text, span[1])
        for place in range(len(self._left) - 1, -1, -1):
            found = self._left[place]
            if found.at >= stop:
                return None
            if found.at >= span[1] - found.text.startswith(MARK):
                alone = not (whole and self.text[span[1] : found.at].strip())
                if not (alone and found.text.startswith("#")):
                    return None
                return self._left.pop(place).text
        return None

    def line(self, at: int) -> str | None:
        """Take the comment behind the line of the program that holds an offset."""
        place = bisect_right(self._starts, at) - 1
        if place < 0 or not self._left:
            return None
        start, end = self._lines[place]
        stop = line_end(self.text, end)
        for number in range(len(self._left) - 1, -1, -1):
            found = self._left[number]
            if found.at >= stop:
                return None
            alone = not self.text[line_start(self.text, found.at) : found.at].strip()
            if found.at > start and found.text.startswith("#") and not alone:
                return self._left.pop(number).text
        return None

    def named(
        self, words: str | tuple[str, ...], within: Span | None, first: bool = False
    ) -> Beside:
        """Take the comments above and behind the next line of the program that begins with one of
        some words, in a stretch of the source; of the ``first`` line in a block, all above it.
        """
        if within is None or not self._left:
            return [], None
        for place in range(bisect_right(self._starts, within[0] - 1), len(self._starts)):
            start, _ = self._lines[place]
            if start >= within[1]:
                break
            if self.text.startswith(words, start) and place not in self._named:
                self._named.add(place)
                if first:
                    behind = self.line(start)
                    return self.before(start), behind
                above = line_end(self.text, self._lines[place - 1][1]) if place else start
                return self._between(above, start), self.line(start)
        return [], None

    def heads(self, word: str, span: Span | None) -> tuple[Beside, Beside]:
        """Take the comments beside the first decorator of a definition, and beside its own line,
        which begins with a word.
        """
        if span is None or not self._left:
            return ([], None), ([], None)
        place = bisect_right(self._starts, span[0]) - 1
        while place > 0 and self.text.startswith("@", self._starts[place - 1]):
            place -= 1
        whole = (self._starts[max(place, 0)], span[1])
        return self.named("@", whole), self.named(word, whole)

    def _between(self, start: int, end: int) -> list[str]:
        """Take what stands on lines of its own between two offsets."""
        taken = []
        for number in range(len(self._left) - 1, -1, -1):
            found = self._left[number]
            if found.order >= end:
                break
            if found.order >= start and found.at < end:
                taken.append(self._left.pop(number).text)
        return taken

    def drop(self, span: Span) -> None:
        """Drop the comments in a stretch of the source that is printed unchanged."""
        self._left = [each for each in self._left if not span[0] <= each.at < span[1]]


def _inner(text: str, span: Span, found: list[tuple[int, str]]) -> Inner:
    """A statement with the comments inside it."""
    tokens = [token for token in _words(text, (span[0], span[1]))]
    ends = [end for _, end in tokens]
    inside = []
    for at, comment in sorted(found):
        behind = bisect_right(ends, at) - 1
        alone = not text[line_start(text, at) : at].strip()
        if not alone and behind > 0 and text[slice(*tokens[behind])] == ",":
            behind -= 1
        line = line_start(text, at)
        first = behind + 1 if alone else bisect_left(ends, line)
        level = alone and first < len(tokens) and _column(text, tokens[first][0]) == at - line
        inside.append(InnerComment(comment, behind, alone, first, level))
    breaks = [
        k for k, (token, after) in enumerate(pairwise(tokens)) if "\n" in text[token[1] : after[0]]
    ]
    kept = any(PRAGMA in comment for _, comment in found)
    return Inner(tuple(text[slice(*token)] for token in tokens), tuple(inside), tuple(breaks), kept)


def _column(text: str, at: int) -> int:
    return at - line_start(text, at)


def _words(text: str, span: Span) -> Iterator[Span]:
    """The tokens of a statement, as they are in a printed one, too."""
    for found in WORD.finditer(text, *span):
        if found["comment"] is None:
            yield found.span()


def _documentation(text: str) -> Iterator[Span]:
    """The places of the strings that come first below the head of a class or function."""
    head = False
    for start, end in logical_lines(text):
        if head and text[start] in "\"'":
            words = [word for word in _words(text, (start, end)) if text[word[0]] not in ";#"]
            if len(words) == 1:
                yield words[0]
        head = HEAD.match(text, start) is not None


def _next_line(text: str, at: int) -> str:
    line = next_line(text, at)
    return text[line : line_end(text, line)].strip()


def put(lines: list[str], line: str, pad: str, comments: Beside) -> None:
    """Print a line with the comments above and behind it."""
    above, behind = comments
    lines += [pad + text for text in above]
    lines.append(f"{pad}{line}  {behind}" if behind else pad + line)


def attach(lines: list[str], at: int, comment: str | None, pad: str) -> None:
    """Put a comment after the statement that was printed from a line on, or above it if it has
    several lines.
    """
    if comment is not None and len(lines) == at + 1:
        lines[at] += f"  {comment}"
    elif comment is not None:
        lines.insert(at, pad + comment)
