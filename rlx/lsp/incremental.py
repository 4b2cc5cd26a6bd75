"""Checking a text again after an edit: only the functions that changed.

The text is cut into functions by :mod:`rlx.grammar.outline`. After an edit within functions, what
is checked is the text with all other functions cut down to their signatures, or to their names
where it does not mention them: what a function is to the others is its signature, where its result
is annotated. Functions without such an annotation, and PrimFuncs, are left whole. Everything else
(an edit outside of functions, of a signature, of a function that is left whole, errors of syntax
that reach beyond a function) is checked in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic, Edit, Label, Source
from rlx.grammar.entries import Token
from rlx.grammar.lexer import OPENING
from rlx.grammar.node import Record, Span, replace
from rlx.grammar.outline import FunctionOutline, outline
from rlx.grammar.source_tokens import closing, statements
from rlx.grammar.visit import recursion_room

SMALL = 20_000
"""Texts of fewer characters are checked in full: that takes no time."""


class Piece(Record):
    """A function of a text.

    Attributes
    ----------
    span
        From its first decorator to the end of its last line.
    name
        What it is called.
    head
        The text to the colon of its signature; None where others depend on more of it.
    """

    span: Span
    name: str
    head: str | None


def pieces(text: str) -> list[Piece]:
    """The functions that a text defines at its top, or at the top of its classes."""
    return [
        Piece((found.start, found.end), found.name, _head(text, found)) for found in outline(text)
    ]


def _head(text: str, found: FunctionOutline) -> str | None:
    """The signature of a function with an annotated result; None for any other."""
    for statement in statements(text, (found.head, found.head_end)):
        end = closing(statement, 1)
        if end is None or end + 1 >= len(statement) or statement[end + 1].type != "ARROW":
            return None
        colon = next((t for t in _outside(statement[end + 1 :]) if t.type == "COLON"), None)
        return None if colon is None else text[found.start : colon.end]
    return None


def _outside(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that stand in no bracket."""
    depth = 0
    for token in tokens:
        depth += OPENING.get(token.type, 0)
        if depth == 0:
            yield token


class Checker:
    """Checks the versions of one text, each as cheaply as the one before allows.

    Attributes
    ----------
    full
        How many checks were made of a whole text.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.full = 0
        self._text: str | None = None
        self._pieces: list[Piece] = []
        self._diagnostics: tuple[Diagnostic, ...] = ()

    def check(self, text: str) -> tuple[Diagnostic, ...]:
        """The diagnostics of the next version."""
        now = pieces(text) if len(text) >= SMALL else []
        changed = self._changed(text, now)
        if changed is None:
            return self.remember(text, self._full(text))
        found = list(self._moved(text, now, changed))
        for at in changed:
            own = self._of_one(text, now, at)
            if own is None:
                return self.remember(text, self._full(text))
            found += own
        source = Source(text, self.path)
        found = [replace(d, source=source) for d in found]
        found.sort(key=lambda d: d.span or (-1, -1))
        return self._keep(text, now, tuple(found))

    def remember(self, text: str, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """Note what is known of a version from a check of all of it."""
        return self._keep(text, pieces(text) if len(text) >= SMALL else [], found)

    def _keep(
        self, text: str, now: list[Piece], found: tuple[Diagnostic, ...]
    ) -> tuple[Diagnostic, ...]:
        self._text, self._pieces, self._diagnostics = text, now, found
        return found

    def _full(self, text: str) -> tuple[Diagnostic, ...]:
        self.full += 1
        with recursion_room():
            return check_text(text, self.path).diagnostics

    def _changed(self, text: str, now: Sequence[Piece]) -> list[int] | None:
        """The functions that changed; None where something else did."""
        before, old = self._pieces, self._text
        if old is None or not before or len(now) != len(before):
            return None
        if any(a.head != b.head for a, b in zip(before, now, strict=True)):
            return None
        if list(_between(old, before)) != list(_between(text, now)):
            return None
        changed = [
            at
            for at, (a, b) in enumerate(zip(before, now, strict=True))
            if old[slice(*a.span)] != text[slice(*b.span)]
        ]
        if any(now[at].head is None for at in changed):
            return None
        inside = [before[at] for at in changed]
        return changed if _reads(self._diagnostics, inside) else None

    def _moved(
        self, text: str, now: Sequence[Piece], changed: Sequence[int]
    ) -> Iterator[Diagnostic]:
        """What was said before of what did not change, where it stands now."""
        move = _Move(self._pieces, now, set(changed))
        for diagnostic in self._diagnostics:
            moved = move.diagnostic(diagnostic)
            if moved is not None:
                yield moved

    def _of_one(self, text: str, now: Sequence[Piece], wanted: int) -> list[Diagnostic] | None:
        """What is to be said of one function, beside those that it mentions; None if they cannot be
        read.

        The names of the others matter only to what is wrong: a misspelt name may be one of theirs.
        """
        needed = _mentioned(text, now, wanted)
        words = set(_WORD.findall(text, *now[wanted].span))
        found = self._beside(text, now, wanted, needed, words)
        if found == [] or len(needed) == len(now):
            return found
        return self._beside(text, now, wanted, needed, None)

    def _beside(
        self,
        text: str,
        now: Sequence[Piece],
        wanted: int,
        needed: set[int],
        words: set[str] | None,
    ) -> list[Diagnostic] | None:
        """The same, beside the functions that are needed and, of the others, the names among these
        words, or all.
        """
        parts: list[str] = []
        reduced: list[Piece] = []
        at = length = 0
        for number, piece in enumerate(now):
            between = text[at : piece.span[0]]
            own = text[slice(*piece.span)]
            if number not in needed:
                own = _name_alone(own, piece.name, words)
            elif number != wanted and piece.head is not None:
                own = f"{piece.head} return ()\n"
            parts += [between, own]
            start = length + len(between)
            length = start + len(own)
            reduced.append(Piece((start, length), piece.name, piece.head))
            at = piece.span[1]
        parts.append(text[at:])
        with recursion_room():
            found = check_text("".join(parts), self.path).diagnostics
        one = reduced[wanted]
        if not _reads(found, [one]):
            return None
        move = _Move(reduced, now, set())
        moved = (
            move.diagnostic(d)
            for d in found
            if d.span is None or one.span[0] <= d.span[0] < one.span[1]
        )
        return [diagnostic for diagnostic in moved if diagnostic is not None]


_WORD = re.compile(r"\w+")
_MENTION = re.compile(r"\.[ \t]*(\w+)")


def _mentioned(text: str, now: Sequence[Piece], wanted: int) -> set[int]:
    """The functions that one can reach by name, through those that are left whole."""
    numbers: dict[str, list[int]] = {}
    for number, piece in enumerate(now):
        numbers.setdefault(piece.name, []).append(number)
    found, pending = {wanted}, [wanted]
    while pending:
        piece = now[pending.pop()]
        for name in set(_MENTION.findall(text, *piece.span)):
            for number in numbers.get(name, ()):
                if number not in found:
                    found.add(number)
                    if now[number].head is None:
                        pending.append(number)
    return found


def _name_alone(text: str, name: str, words: set[str] | None) -> str:
    """A function of which only the name counts: others are told of it where they misspell it."""
    head, word, _ = text.partition(f"def {name}")
    if not word or (words is not None and name not in words):
        return ""
    body = "pass" if "prim_func" in head else "return ()"
    return f"{head}{word}(): {body}\n"


def _reads(found: Sequence[Diagnostic], inside: Sequence[Piece]) -> bool:
    """Whether all errors of syntax lie within these functions: others may hide what comes behind
    them.
    """
    return all(
        any(piece.span[0] <= d.span[0] < piece.span[1] for piece in inside)
        for d in found
        if d.code == "PARSE" and d.span is not None
    )


class _Move:
    """Takes places from one version to the next.

    Parameters
    ----------
    gone
        The functions of which nothing is to be kept.
    """

    def __init__(self, before: Sequence[Piece], now: Sequence[Piece], gone: set[int]) -> None:
        self.before, self.now, self.gone = before, now, gone

    def diagnostic(self, found: Diagnostic) -> Diagnostic | None:
        """The diagnostic where it stands now; None if it is of a function that changed."""
        if found.span is None:
            return found
        span = self.span(found.span)
        if span is None:
            return None
        labels = [(self.span(label.span, True), label.message) for label in found.related]
        related = tuple(Label(place, words) for place, words in labels if place is not None)
        edit = found.edit
        if edit is not None:
            place = self.span(edit.span)
            edit = None if place is None else Edit(place, edit.text)
        return replace(found, span=span, related=related, edit=edit)

    def span(self, span: Span, anywhere: bool = False) -> Span | None:
        """A place in the new version."""
        shift = 0
        for number, (a, b) in enumerate(zip(self.before, self.now, strict=True)):
            if span[0] < a.span[0]:
                break
            shift = b.span[0] - a.span[0]
            if span[0] < a.span[1]:
                head = a.span[0] + len(a.head or "")
                if number in self.gone and not (anywhere and span[1] <= head):
                    return None
                break
            shift = b.span[1] - a.span[1]
        return span[0] + shift, span[1] + shift


def _between(text: str, found: Sequence[Piece]) -> Iterator[str]:
    """The text outside of the functions."""
    at = 0
    for piece in found:
        yield text[at : piece.span[0]]
        at = piece.span[1]
    yield text[at:]
