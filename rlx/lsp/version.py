"""What is known of one version of a text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from rlx.checker.driver.configuration import ALWAYS
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes.node import Record
from rlx.lsp.cut import Cut
from rlx.lsp.excerpt import Move
from rlx.lsp.faces import Checked

NO_CLASS_NAME = "is not defined"
"""How the error ends that the name of a class is not known."""


class TextVersion(Record):
    """One version of a text, and what is known of it.

    Attributes
    ----------
    faces
        What functions are to others, by their numbers.
    """

    cut: Cut
    diagnostics: tuple[Diagnostic, ...]
    faces: tuple[str | None, ...]

    def told_of(self, chosen: Iterable[Diagnostic]) -> set[int]:
        """The functions that diagnostics are about, or that they stand between."""
        starts = [piece.span[0] for piece in self.cut.pieces]
        found: set[int] = set()
        for diagnostic in chosen:
            if diagnostic.span is not None:
                at = bisect_right(starts, diagnostic.span[0]) - 1
                inside = at >= 0 and diagnostic.span[0] < self.cut.pieces[at].span[1]
                found |= {at} if inside else {at, at + 1} & set(range(len(starts)))
        return found

    def hides(self) -> bool:
        """Whether errors of syntax may hide others: they stand in no function's body."""
        starts = [piece.span[0] for piece in self.cut.pieces]
        for diagnostic in self.diagnostics:
            if diagnostic.code in ALWAYS and diagnostic.span is not None:
                at = diagnostic.span[0]
                piece = self.cut.pieces[bisect_right(starts, at) - 1] if starts else None
                if piece is None or not piece.span[0] + len(piece.head) <= at < piece.span[1]:
                    return True
                if diagnostic.message.endswith(NO_CLASS_NAME):
                    return True
        return False


def version(at: Cut, found: Checked) -> TextVersion:
    """A version of which all was checked."""
    return TextVersion(at, found.diagnostics, by_number(at, found))


def by_number(at: Cut, found: Checked) -> tuple[str | None, ...]:
    """What the functions of a text are to others, by their numbers."""
    faces: list[str | None] = [None] * len(at.pieces)
    move = Move(at, at, {})
    for offset, face in found.faces.items():
        number = move.number(offset)
        if number is not None:
            faces[number] = face
    return tuple(faces)


def unread(found: Iterable[Diagnostic]) -> bool:
    """Whether something could not be read: much is not said of such a text."""
    return any(d.code in ALWAYS for d in found)
