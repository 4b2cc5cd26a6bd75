"""The layout of a printed text: long lines are wrapped, and comments inside statements stay in
place.

The printer writes each statement on one line. A comment inside a statement belongs to the token in
front of it, or to the line below it; the same token is looked up in the printed statement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from rlx.grammar.alignment import Alignment
from rlx.grammar.lines import line_end, line_start
from rlx.grammar.nodes.node import Record
from rlx.grammar.read.comments import BLANK, MARK, PRAGMA, WORD, Inner
from rlx.grammar.read.outline import logical_lines

WIDTH = 100
"""The columns of a line, unless the user gives another number."""

_INDENT = "    "
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
_OPERATORS = (
    frozenset(["or"]),
    frozenset(["and"]),
    frozenset(["==", "!=", "<", "<=", ">", ">="]),
    frozenset("+-"),
    frozenset(["*", "/", "//", "%", "@"]),
)
"""The operators at which an expression is broken, those that bind least first."""
_WORDS = frozenset(
    ["and", "or", "not", "if", "elif", "while", "in", "return", "assert", "lambda", "else"]
)


def lay_out(text: str, inner: Sequence[Inner], width: int) -> str:
    """Wrap the long lines of a printed text, and insert the comments inside statements.

    Parameters
    ----------
    text
        What the printer wrote, with a mark for each statement with comments inside.
    inner
        The statements with comments inside, by the numbers of the marks.
    width
        The number of columns; a line that cannot be broken is longer.
    """
    pieces, at = [], 0
    for start, _ in logical_lines(text):
        if start < at:
            continue
        head = line_start(text, start)
        stop = line_end(text, start)
        line = text[head:stop]
        if MARK not in line and stop - head <= width:
            continue
        if line.count('"""') % 2:
            continue  # a long string goes on in the next line
        pieces += [text[at:head], "\n".join(_statement(line, inner, width))]
        at = stop
    return _marks_alone("".join([*pieces, text[at:]]), inner)


def with_blank_lines(text: str) -> str:
    """Replace the printer's marks by the blank lines of the source."""
    if BLANK not in text:
        return text
    lines: list[str] = []
    run: list[int] = []  # the blank lines that wait for the next line
    for line in text.split("\n"):
        if line.lstrip().startswith(BLANK):
            run.append(int(line.strip()[len(BLANK) :]))
        elif not line:
            run.append(0)
        else:
            lines += _blanks(run, bool(lines), line)
            lines.append(line)
            run = []
    return "\n".join(lines) + "\n"


def _blanks(run: Sequence[int], within: bool, line: str) -> list[str]:
    if not run or not within:
        return []
    if not any(run):
        return [""] * len(run)
    most = 2 if line[:1] not in " \t" else 1
    return [""] * min(max(run), most)


def _marks_alone(text: str, inner: Sequence[Inner]) -> str:
    """Replace marks on lines of their own by the comments of the statement, which was not found."""
    if MARK not in text:
        return text
    lines = []
    for line in text.split("\n"):
        pad = line[: len(line) - len(line.lstrip())]
        number, rest = _split_mark(line.strip())
        if number is None:
            lines.append(line)
            continue
        lines += [pad + comment.text for comment in inner[number].comments]
        lines += [pad + rest] if rest else []
    return "\n".join(lines)


def _split_mark(text: str) -> tuple[int | None, str]:
    """The number of the mark that a comment begins with, and the comment behind it."""
    if not text.startswith(MARK):
        return None, text
    number, _, rest = text[len(MARK) :].partition(" ")
    return int(number), rest.strip()


def _statement(line: str, inner: Sequence[Inner], width: int) -> list[str]:
    """The lines of a statement, which a comment may follow."""
    pad = line[: len(line) - len(line.lstrip())]
    words = list(WORD.finditer(line))
    comment = words.pop()[0] if words[-1]["comment"] else ""
    if not words:
        return [line]
    number, behind = _split_mark(comment.strip())
    code = line[len(pad) : words[-1].end()]
    tokens = _tokens(code)
    if number is not None:
        lines = _commented(tokens, pad, inner[number], width)
    elif len(pad) + len(code) <= width or PRAGMA in behind:
        lines = [pad + code]
    else:
        lines = [found.text for found in _broken(tokens, pad, width, {})]
    return [*lines[:-1], f"{lines[-1]}  {behind}" if behind else lines[-1]]


# ---------------------------------------------------------------- tokens


class SpacedToken(Record):
    """A token of a printed statement: its text, the space in front of it, its position, and that of
    the bracket that closes it; one that opens none is its own end.
    """

    text: str
    gap: str
    index: int
    end: int


class Line(Record):
    """A line, and the positions of its first and last token."""

    text: str
    first: int
    last: int


def _tokens(code: str) -> list[SpacedToken]:
    words = list(WORD.finditer(code))
    ends, opened = list(range(len(words))), list[int]()
    for at, word in enumerate(words):
        if word[0] in _OPEN:
            opened.append(at)
        elif word[0] in _CLOSE and opened:
            ends[opened.pop()] = at
    behind = [0, *(word.end() for word in words)]
    return [
        SpacedToken(word[0], " " if word.start() > behind[at] else "", at, ends[at])
        for at, word in enumerate(words)
    ]


def _joined(tokens: Sequence[SpacedToken]) -> str:
    return "".join([(t.gap if k else "") + t.text for k, t in enumerate(tokens)])


def _closing(tokens: Sequence[SpacedToken], at: int) -> int:
    """The place of the bracket that closes the one at a place, in a part of a statement."""
    return at + tokens[at].end - tokens[at].index


def _outside(tokens: Sequence[SpacedToken]) -> Iterator[tuple[int, SpacedToken]]:
    """The tokens outside of brackets that are not brackets, with their positions."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.text in _OPEN:
            at = _closing(tokens, at)
        elif token.text not in _CLOSE:
            yield at, token
        at += 1


def _groups(tokens: Sequence[SpacedToken]) -> list[tuple[int, int]]:
    """The outermost brackets of a statement that are not empty."""
    found, at = [], 0
    while at < len(tokens):
        if tokens[at].text in _OPEN:
            end = _closing(tokens, at)
            if end > at + 1:
                found.append((at, end))
            at = end
        at += 1
    return found


def _elements(tokens: Sequence[SpacedToken]) -> list[Sequence[SpacedToken]]:
    """The parts between the commas, each with its comma; the parameters of a lambda together."""
    found, start, at, parameters = [], 0, 0, False
    while at < len(tokens):
        text = tokens[at].text
        if text in _OPEN:
            at = _closing(tokens, at)
        elif text == "lambda":
            parameters = True
        elif text == ":":
            parameters = False
        elif text == "," and not parameters:
            found.append(tokens[start : at + 1])
            start = at + 1
        at += 1
    return [*found, tokens[start:]] if start < len(tokens) else found


# ---------------------------------------------------------------- long lines


def _broken(
    tokens: Sequence[SpacedToken], pad: str, width: int, forced: Mapping[int, bool], comma: str = ""
) -> list[Line]:
    """The lines of a statement or an element.

    Parameters
    ----------
    tokens
        Its tokens.
    pad
        Its indentation.
    width
        The number of columns.
    forced
        The opening brackets that are broken anyway, and whether their elements stand on lines of
        their own.
    comma
        A comma that is added.
    """
    text = _joined(tokens) + comma
    groups = _groups(tokens)
    chosen = {group for group in groups if tokens[group[0]].index in forced}
    if not chosen:
        # an indentation that fills the line leaves nothing to gain, and deep nests would recurse
        if len(pad) + len(text) <= width or len(pad) >= width:
            return [Line(pad + text, tokens[0].index, tokens[-1].index)]
        terms = _at_operators(tokens, pad, width, forced, comma)
        if terms is not None:
            return terms
        chosen = {group for group in [_preferred(tokens, groups)] if group is not None}
    inside: dict[tuple[int, int], list[Line]] = {}
    while True:
        for group in chosen - inside.keys():
            inside[group] = list(_inside(tokens, group, pad, width, forced))
        lines = _with_broken(tokens, pad, inside, comma)
        more = _too_long(tokens, groups, chosen, lines, width)
        if more is None:
            break
        chosen.add(more)
    # a bracket that was broken first may fit once another one is broken
    for group in [group for group in chosen if tokens[group[0]].index not in forced]:
        fewer = {other: held for other, held in inside.items() if other != group}
        shorter = _with_broken(tokens, pad, fewer, comma)
        if all(len(line.text) <= width for line in shorter):
            inside, lines = fewer, shorter
    return lines


def _follows_a_value(tokens: Sequence[SpacedToken], at: int) -> bool:
    """Whether a bracket follows a name or another bracket, as in a call or a subscript."""
    end = tokens[at - 1].text[-1:] if at else ""
    return end.isalnum() or end in ("_", ")", "]")


def _is_subscript(tokens: Sequence[SpacedToken], at: int) -> bool:
    """Whether a bracket holds indices."""
    return tokens[at].text == "[" and _follows_a_value(tokens, at)


def _preferred(
    tokens: Sequence[SpacedToken], groups: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """The bracket at which a long line is broken: the parameters of a definition, or the last; one
    with indices only if there is no other.
    """
    usable = [group for group in groups if not _is_subscript(tokens, group[0])] or groups
    if not usable:
        return None
    return usable[0] if tokens[0].text == "def" else usable[-1]


def _too_long(
    tokens: Sequence[SpacedToken],
    groups: Sequence[tuple[int, int]],
    chosen: set[tuple[int, int]],
    lines: Sequence[Line],
    width: int,
) -> tuple[int, int] | None:
    """Another bracket to break, because a line that holds all of it is too long."""
    for line in lines:
        if len(line.text) > width:
            held = [
                group
                for group in groups
                if group not in chosen
                and line.first <= tokens[group[0]].index
                and tokens[group[1]].index <= line.last
            ]
            found = _preferred(tokens, held)
            if found is not None:
                return found
    return None


def _with_broken(
    tokens: Sequence[SpacedToken],
    pad: str,
    inside: Mapping[tuple[int, int], list[Line]],
    comma: str,
) -> list[Line]:
    """The lines of a statement or an element whose brackets in `inside` are broken."""
    lines: list[Line] = []
    start = 0
    for begin, end in sorted(inside):
        lines.append(_line(tokens[start : begin + 1], pad))
        lines += inside[begin, end]
        start = end
    last = _line(tokens[start:], pad)
    return [*lines, Line(last.text + comma, last.first, last.last)]


def _line(tokens: Sequence[SpacedToken], pad: str) -> Line:
    return Line(pad + _joined(tokens), tokens[0].index, tokens[-1].index)


def _inside(
    tokens: Sequence[SpacedToken],
    group: tuple[int, int],
    pad: str,
    width: int,
    forced: Mapping[int, bool],
) -> Iterator[Line]:
    """The lines between the brackets of a group."""
    begin, end = group
    held, deeper = tokens[begin + 1 : end], pad + _INDENT
    elements = _elements(held)
    free = not forced.get(tokens[begin].index) and not any(t.index in forced for t in held)
    text = _joined(held)
    if free and tokens[0].text != "def" and len(deeper) + len(text) <= width:
        yield _line(held, deeper)
        return
    several = len(elements) > 1 or elements[0][-1].text == ","
    call = tokens[begin].text == "(" and _follows_a_value(tokens, begin)
    call = call and tokens[begin - 1].text not in _WORDS
    for element in elements:
        adds = element[-1].text != "," and (several or call)
        adds = adds and not _is_subscript(tokens, begin)
        adds = adds and element[0].text[:1] != "*"
        yield from _broken(element, deeper, width, forced, "," if adds else "")


def _at_operators(
    tokens: Sequence[SpacedToken], pad: str, width: int, forced: Mapping[int, bool], comma: str
) -> list[Line] | None:
    """A long expression with each operand on its own line; None if there is no operator.

    A statement needs brackets around the lines; an element stands in brackets.
    """
    begin = _value_start(tokens)
    stop = len(tokens) - 1 if tokens[-1].text == "," else len(tokens)
    value = tokens[begin:stop]
    operators = _operators(value)
    if not operators:
        subscripts = all(_is_subscript(tokens, at) for at, _ in _groups(tokens))
        if tokens[0].index or not begin or not subscripts:
            return None
    ends = [*operators, len(value)]
    parts = [value[a:b] for a, b in zip([0, *operators], ends, strict=True)]
    lines: list[Line] = []
    statement = tokens[0].index == 0
    if statement and not begin:
        return None  # the head of a block, or a call
    inner = pad + _INDENT if begin else pad
    for part in parts:
        lines += _broken(part, inner, width, forced)
    if statement:
        head, last = tokens[:begin], value[-1].index
        lines = [Line(f"{pad}{_joined(head)} (", head[0].index, head[-1].index), *lines]
        return [*lines, Line(f"{pad})", last, last)]
    if begin:
        head = tokens[:begin]
        text = f"{pad}{_joined(head)}{value[0].gap}{lines[0].text.lstrip()}"
        lines = [Line(text, head[0].index, lines[0].last), *lines[1:]]
    tail = comma or ("," if stop < len(tokens) else "")
    last_line = lines[-1]
    return [*lines[:-1], Line(last_line.text + tail, last_line.first, tokens[-1].index)]


def _value_start(tokens: Sequence[SpacedToken]) -> int:
    """The position behind `=` or `return`; 0 where there is none."""
    for at, token in _outside(tokens):
        if token.text == "=":
            return at + 1
    return 1 if tokens[0].text == "return" else 0


def _operators(tokens: Sequence[SpacedToken]) -> list[int]:
    """The positions of the operators that bind least, in no bracket."""
    found: dict[str, list[int]] = {}
    for at, token in _outside(tokens):
        if token.text in ("lambda", ":", ",", "if", "not"):
            return []
        if at and token.gap:
            found.setdefault(token.text, []).append(at)
    for level in _OPERATORS:
        places = [at for word in level for at in found.get(word, ())]
        if places:
            return sorted(places)
    return []


# ---------------------------------------------------------------- comments inside


def _commented(tokens: Sequence[SpacedToken], pad: str, inner: Inner, width: int) -> list[str]:
    """The lines of a statement with comments inside it."""
    place = _Places(tokens, inner)
    if inner.kept:
        lines = _as_in_source(tokens, pad, place, inner)
    else:
        lines = _broken(tokens, pad, width, _forced(tokens, place))
    above: dict[int, list[str]] = {}
    behind: dict[int, list[str]] = {}
    firsts, lasts = [line.first for line in lines], [line.last for line in lines]
    for comment, gap in place.comments:
        if comment.alone:
            at = min(bisect_left(firsts, gap + 1), len(lines) - 1)
            lead = lines[at].text[: len(lines[at].text) - len(lines[at].text.lstrip())]
            deeper = lines[at].text.lstrip()[:1] in _CLOSE and not comment.level
            above.setdefault(at, []).append(f"{lead}{_INDENT if deeper else ''}{comment.text}")
        else:
            at = min(bisect_left(lasts, gap), len(lines) - 1)
            behind.setdefault(at, []).append(comment.text)
    found: list[str] = []
    for k, line in enumerate(lines):
        lead = line.text[: len(line.text) - len(line.text.lstrip())]
        *first, last = behind.get(k, [""])  # one line has one comment: the others are above it
        found += [*above.get(k, ()), *(lead + text for text in first)]
        found.append(f"{line.text}  {last}" if last else line.text)
    return found


def _forced(tokens: Sequence[SpacedToken], place: _Places) -> dict[int, bool]:
    """The brackets that comments break, and whether each element needs a line of its own."""
    found: dict[int, bool] = {}
    around = _around(tokens)
    for comment, gap in place.comments:
        own = around[gap + 1]
        if own < 0:
            continue
        outer = around[own]
        while outer >= 0 and not found.get(outer):
            found[outer] = True
            outer = around[outer]
        at_end = gap + 1 == tokens[own].end
        edge = at_end and (comment.alone or place.of(comment.first) == own + 1)
        found[own] = found.get(own, False) or not (edge or gap == own)
    return found


class _Places:
    """The places of a statement's comments among the tokens of its printed text.

    Attributes
    ----------
    comments
        Each comment with the position of the token in front of it, or -1.
    """

    def __init__(self, tokens: Sequence[SpacedToken], inner: Inner) -> None:
        source = [_plain(word) for word in inner.tokens]
        printed = [_plain(token.text) for token in tokens]
        self._known: dict[int, int] = {}
        for a, b, size in Alignment(source, printed).get_matching_blocks():
            self._known.update((a + k, b + k) for k in range(size))
        self.comments = [(comment, self.of(comment.behind)) for comment in inner.comments]

    def of(self, at: int) -> int:
        """The position in the printed text of a token of the source, or of one before it."""
        while at >= 0 and at not in self._known:
            at -= 1
        return self._known.get(at, -1)


def _plain(word: str) -> str:
    """A token, however its quotes are written."""
    return f'"{word[1:-1]}"' if word[:1] == "'" and word[-1:] == "'" else word


def _around(tokens: Sequence[SpacedToken]) -> list[int]:
    """The innermost opening bracket around the place in front of each token and at the end, or -1."""
    around = [-1]
    for at, token in enumerate(tokens):
        own = around[-1]
        if token.text in _OPEN:
            own = at
        elif token.text in _CLOSE and own >= 0:
            own = around[own]
        around.append(own)
    return around


def _as_in_source(
    tokens: Sequence[SpacedToken], pad: str, place: _Places, inner: Inner
) -> list[Line]:
    """Break the lines where the source does, so that a comment that silences its line silences the
    same code.
    """
    cuts = sorted({place.of(at) + 1 for at in inner.breaks} - {0, len(tokens)})
    lines: list[Line] = []
    opened: list[int] = []  # the line of each bracket that is open
    for start, end in zip([0, *cuts], [*cuts, len(tokens)], strict=True):
        part = tokens[start:end]
        leading = 0
        for token in part:
            if token.text not in _CLOSE:
                break
            leading += 1
        depth = len(set(opened[: len(opened) - leading]))
        lines.append(_line(part, pad + _INDENT * depth))
        for token in part:
            if token.text in _OPEN:
                opened.append(len(lines))
            elif token.text in _CLOSE and opened:
                opened.pop()
    return lines
