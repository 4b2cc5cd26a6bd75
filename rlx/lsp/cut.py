"""A text cut into its functions, and cut again after an edit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise

from rlx.grammar.lines import line_start, next_line
from rlx.grammar.nodes.node import Record, Span, replace
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import OPENING, words_of
from rlx.grammar.read.outline import NEW, WHOLE_LINE, FunctionOutline, outline, width
from rlx.grammar.read.source_tokens import closing, statements
from rlx.lsp.texts import difference


class Piece(Record):
    """A function of a text.

    Attributes
    ----------
    span
        From its first decorator to the end of its last line.
    name
        What it is called.
    head
        The text to the colon of its signature.
    closed
        Whether others depend on nothing but its head: its result is annotated.
    marks
        The words of its decorators.
    at
        Where ``def`` stands in its head.
    """

    span: Span
    name: str
    head: str
    closed: bool
    marks: tuple[str, ...]
    at: int

    def moved(self, start: int, end: int) -> Piece:
        """The same function at another place."""
        return replace(self, span=(start, end))

    @property
    def is_prim_func(self) -> bool:
        """Whether it is a PrimFunc."""
        return any(mark.rpartition(".")[2] == "prim_func" for mark in self.marks)


class Cut(Record):
    """A text and its functions, in order."""

    text: str
    pieces: tuple[Piece, ...]

    def of(self, number: int) -> str:
        """The text of one function."""
        return self.text[slice(*self.pieces[number].span)]

    def gap(self, number: int) -> str:
        """The text in front of one function; with their number, what is behind the last."""
        start = self.pieces[number - 1].span[1] if number else 0
        last = number == len(self.pieces)
        return self.text[start : len(self.text) if last else self.pieces[number].span[0]]

    def gaps(self) -> list[Span]:
        """The spans between the functions."""
        ends = [0, *(piece.span[1] for piece in self.pieces)]
        starts = [*(piece.span[0] for piece in self.pieces), len(self.text)]
        return list(zip(ends, starts, strict=True))


def cut(text: str) -> Cut:
    """The functions that a text defines at its top, or at the top of its classes."""
    return Cut(text, tuple(_piece(text, found) for found in outline(text)))


def recut(old: Cut, text: str) -> Cut:
    """The same for the next version of a text: only what stands around the edit is read."""
    start, behind = difference(old.text, text)
    before = sum(piece.span[0] <= start for piece in old.pieces)
    shift = len(text) - len(old.text)
    if before and _is_inside(old, before - 1, text, (start, behind)):
        first, last = old.pieces[before - 1].span
        here = old.pieces[before - 1].moved(first, last + shift)
        behind_it = (_moved(piece, shift) for piece in old.pieces[before:])
        return Cut(text, (*old.pieces[: before - 1], here, *behind_it))
    kept = old.pieces[: max(0, before - 2)]
    if not kept:
        return cut(text)
    later = {piece.span[0] + shift: at for at, piece in enumerate(old.pieces)}
    made = list(kept)
    for found in outline(text, old.pieces[len(kept)].span[0]):
        at = later.get(found.start)
        if at is not None and found.start >= behind:
            made += (_moved(piece, shift) for piece in old.pieces[at:])
            break
        made.append(_piece(text, found))
    return Cut(text, tuple(made))


def _is_inside(old: Cut, number: int, text: str, span: Span) -> bool:
    """Whether a change stays in some lines of a function's body, so that all functions are where
    they were.
    """
    piece = old.pieces[number]
    first, last = line_start(text, span[0]), next_line(text, span[1])
    end = last - len(text) + len(old.text)
    if first <= piece.span[0] + len(piece.head) or end >= piece.span[1]:
        return False
    changed = f"{old.text[first:end]}{text[first:last]}"
    lines = changed.splitlines(keepends=True)
    column = width(piece.head[line_start(piece.head, piece.at) : piece.at])
    left = re.compile(rf"^[ ]{{0,{column}}}[^ \n]", re.MULTILINE)
    if any(sign in each for each in (changed, old.of(number)) for sign in _STRANGE):
        return False
    if left.search(changed) or any(map(_BEGINS.match, lines)):
        return False
    if all(map(WHOLE_LINE.fullmatch, lines)):
        return True
    body = old.text[line_start(old.text, piece.span[0] + len(piece.head)) : piece.span[1]]
    is_last = number + 1 == len(old.pieces)
    return (  # where brackets that stay open end
        not old.gap(number + 1).strip()
        and (is_last or NEW.match(old.text, old.pieces[number + 1].span[0]) is not None)
        and not left.search(body, body.find("\n"))
        and not body.rstrip().rpartition("\n")[2].lstrip().startswith("#")
    )


_STRANGE = ('"""', "'''", "\\\n", *"\t\f\r\v")
"""Text that keeps a line from being read alone."""
_BEGINS = re.compile(r" *(?:@|(?:def|class|import|from)\b)")


def _moved(piece: Piece, shift: int) -> Piece:
    start, end = piece.span
    return piece.moved(start + shift, end + shift)


def _piece(text: str, found: FunctionOutline) -> Piece:
    colon, annotated = None, False
    for statement in statements(text, (found.head, found.head_end)):
        end = closing(statement, 1)
        if end is not None:
            behind = statement[end + 1 :]
            annotated = [t.type for t in behind[:1]] == ["ARROW"]
            colon = next((t for t in _outside(behind) if t.type == "COLON"), None)
        break
    end = found.head_end if colon is None else colon.end
    head = text[found.start : end]
    body = text[end : found.end].strip()
    closed = annotated and colon is not None and body != ""
    marks = tuple(_marks(text, (found.start, found.head)))
    at = found.head - found.start
    made = Piece((found.start, found.end), found.name, head, closed, marks, at)
    return replace(made, closed=False) if closed and made.is_prim_func else made


def _marks(text: str, span: Span) -> Iterator[str]:
    """The words behind the signs `@` of decorators."""
    for sign, mark in pairwise(words_of(text, span)):
        if sign.type == "AT":
            yield mark.value.removesuffix("(")


def _outside(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that stand in no bracket."""
    depth = 0
    for token in tokens:
        depth += OPENING.get(token.type, 0)
        if depth == 0:
            yield token


_WORD = re.compile(r"\w+")


@lru_cache(maxsize=16_384)
def words(text: str) -> frozenset[str]:
    """The words of a stretch of text."""
    return frozenset(_WORD.findall(text))


def words_among(text: str, names: AbstractSet[str]) -> AbstractSet[str]:
    """The given names that are words of a text."""
    if len(names) > _FEW:
        return words(text) & names
    return {n for n in names if n in text and re.search(_WHOLE.format(re.escape(n)), text)}


_WHOLE = r"{0}\b(?<!\w{0})"
"""A word alone; a pattern that begins with letters is found sooner than one that begins with a border."""
_FEW = 4
"""The most names that are looked for one by one."""


class HeadParameter(Record):
    """A parameter in the head of a function.

    Attributes
    ----------
    span
        From its name to the comma behind it, in the head.
    names
        The shape variables that its annotation mentions, and other words that may stand for
        something.
    binds
        Those of them that stand as whole dimensions.
    """

    name: str
    span: Span
    names: frozenset[str]
    binds: frozenset[str]


_BRACKET = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[()\[\]{},#*]")
_PARAMETER = re.compile(r"\s*([^\W\d]\w*)\s*([:=].*)?$", re.DOTALL)
_DIMENSION = re.compile(r"(?<=[(,])\s*[\"']?([^\W\d]\w*)[\"']?\s*(?=[,)])")
_NAME = re.compile(r"(?<!\.)\b[^\W\d]\w*\b(?!\s*\.)")
_PLAIN = frozenset(["dtype", "ndim", "R", "T"])
_DTYPE = re.compile(r"(?:u?int|b?float)\d+\w*$|bool$")


@lru_cache(maxsize=256)
def parameters(head: str, at: int) -> tuple[HeadParameter, ...]:
    """The parameters of a function that its head lists by name, in order; none if other things are
    among them.

    Parameters
    ----------
    at
        Where ``def`` stands in the head.
    """
    found: list[HeadParameter] = []
    depth, start = 0, 0
    for sign in _BRACKET.finditer(head, at):
        word = sign[0]
        if word in ("#", "*"):
            return ()
        if word in ("(", "[", "{"):
            depth += 1
            if depth == 1:
                start = sign.end()
        elif depth == 1 and word in (",", ")"):
            text = head[start : sign.start()]
            if text.strip():
                read = _PARAMETER.match(text)
                if read is None:
                    return ()
                first = start + read.start(1)
                last = sign.end() if word == "," else sign.start()
                rest = read[2] or ""
                names = frozenset(
                    n for n in _NAME.findall(rest) if n not in _PLAIN and not _DTYPE.match(n)
                )
                is_plain = "T." not in rest and "Callable" not in rest
                binds = names.intersection(_DIMENSION.findall(rest) if is_plain else ())
                found.append(HeadParameter(read[1], (first, last), names, binds))
            start = sign.end()
        if word in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return tuple(found)
    return ()


@lru_cache(maxsize=256)
def mentioned(head: str, at: int) -> frozenset[str]:
    """The words that the annotations of parameters mention."""
    return frozenset(name for each in parameters(head, at) for name in each.names)


def changed_parameters(old: tuple[str, int], new: tuple[str, int]) -> dict[str, Span] | None:
    """The parameters that another head annotates otherwise, with their places in it; None where the
    heads differ in more, or in what their annotations mention. With a head stands where its ``def``
    does.
    """
    if old == new:
        return {}
    was, now = parameters(*old), parameters(*new)
    if not was or len(was) != len(now):
        return None
    changed: dict[str, Span] = {}
    at = [0, 0]
    for a, b in zip(was, now, strict=True):
        if (a.name, a.names, a.binds) != (b.name, b.names, b.binds):
            return None
        if old[0][at[0] : a.span[0]] != new[0][at[1] : b.span[0]]:
            return None
        if old[0][slice(*a.span)] != new[0][slice(*b.span)]:
            changed[b.name] = b.span
        at = [a.span[1], b.span[1]]
    return changed if old[0][at[0] :] == new[0][at[1] :] else None


def needed_parts(
    head: str, at: int, needed: frozenset[str], places: Collection[Span]
) -> tuple[Span, ...]:
    """The parts of a head that stay if the parameters are left out that nothing needs.

    Parameters
    ----------
    needed
        The words of what the function is checked with.
    places
        Parameters here stay.
    """
    listed = parameters(head, at)
    if not listed:
        return ((0, len(head)),)
    behind_all = listed[-1].span[1]
    needed |= words(head[behind_all:])
    bound: set[str] = set()
    found = [(0, listed[0].span[0])]
    for each in listed:
        start, behind = each.span
        near = places and any(first <= behind and start <= last for first, last in places)
        if each.name in needed or not each.names <= bound or near:
            bound |= each.binds
            found.append(each.span)
    return (*found, (behind_all, len(head)))
