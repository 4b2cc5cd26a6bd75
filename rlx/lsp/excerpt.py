"""A text of some functions of a module, with the declarations that they need."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping

from rlx.grammar.diagnostic import Diagnostic, Edit, Label
from rlx.grammar.nodes.node import Record, Span, replace
from rlx.grammar.nodes.visit import reached
from rlx.lsp.body import ReducedBody
from rlx.lsp.cut import Cut, Piece, words_among


class Excerpt(Record):
    """A text with functions cut down, and where each piece of it stands in the whole one.

    Attributes
    ----------
    bodies
        Which statements there are of functions that lack some.
    """

    cut: Cut
    whole: Cut
    bodies: Mapping[int, ReducedBody] = {}

    @property
    def text(self) -> str:
        """The text that is checked."""
        return self.cut.text


def names_of(cut: Cut) -> dict[str, list[int]]:
    """The functions of a text, by their names."""
    numbers: dict[str, list[int]] = {}
    for number, piece in enumerate(cut.pieces):
        numbers.setdefault(piece.name, []).append(number)
    return numbers


def mentioned(cut: Cut, number: int, names: Mapping[str, list[int]]) -> set[int]:
    """The functions whose names one mentions, those of its own name included."""
    return _named(cut.of(number), names)


def _named(text: str, names: Mapping[str, list[int]]) -> set[int]:
    return {other for name in words_among(text, names.keys()) for other in names[name]}


def excerpt(
    cut: Cut,
    wanted: Collection[int],
    kept: Collection[str],
    lines: bool = False,
    bodies: Mapping[int, ReducedBody] = {},
    stand_ins: Mapping[int, str] = {},
) -> Excerpt:
    """The functions that are wanted, with what they mention.

    Parameters
    ----------
    kept
        The names of functions of which something may be told though nothing mentions them.
    lines
        Whether each line keeps its number.
    bodies
        Functions that are wanted, of which some statements are enough.
    stand_ins
        Texts of PrimFuncs that are the same to others as those of the text.
    """
    names = names_of(cut)
    own_text = {n: body.head + body.text for n, body in bodies.items()}
    outside = {n for start, end in cut.gaps() for n in _named(cut.text[start:end], names)}
    open_outside = {n for n in outside - stand_ins.keys() if not cut.pieces[n].closed}
    whole = _whole(cut, {*wanted, *open_outside}, names, own_text, stand_ins)
    mentions = {at: _named(own_text.get(at) or cut.of(at), names) for at in whole}
    heads = outside.union(*mentions.values())
    for n, body in bodies.items():
        if any(n in named for at, named in mentions.items() if at != n):
            body.keep_head()  # calls need all its parameters
            own_text[n] = body.head + body.text
    beside = {n for number in whole for n in (number - 1, number + 1)}
    beside |= {n for at in range(len(cut.pieces) + 1) if cut.gap(at).strip() for n in (at - 1, at)}
    parts: list[str] = []
    reduced: list[Piece] = []
    length = 0
    for number, piece in enumerate(cut.pieces):
        gap = cut.gap(number)
        if number in whole:
            own = own_text.get(number) or cut.of(number)
        elif number in stand_ins and number in heads:
            own = stand_ins[number]
        elif piece.closed and (number in heads or (lines and piece.name in kept)):
            own = piece.head + _body(piece, f"return {_anything(piece)}")
        else:
            own = _name_alone(piece) if number in heads | beside or piece.name in kept else ""
        if lines:
            own += "\n" * (cut.text.count("\n", *piece.span) - own.count("\n"))
        parts += (gap, own)
        start = length + len(gap)
        length = start + len(own)
        head = bodies[number].head if number in bodies else piece.head
        reduced.append(replace(piece, span=(start, length), head=head))
    parts.append(cut.gap(len(cut.pieces)))
    return Excerpt(Cut("".join(parts), tuple(reduced)), cut, bodies)


def _whole(
    cut: Cut,
    wanted: Collection[int],
    names: Mapping[str, list[int]],
    own_text: Mapping[int, str],
    stand_ins: Mapping[int, str],
) -> set[int]:
    """The functions that cannot be cut down: others use more than their heads."""
    found, pending = set(wanted), list(wanted)
    while pending:
        number = pending.pop()
        named = _named(own_text.get(number) or cut.of(number), names)
        more = {n for n in named - stand_ins.keys() if not cut.pieces[n].closed}
        if not cut.pieces[number].closed:
            more |= circle(cut, number, names)
        pending += more - found
        found |= more
    return found


def circle(cut: Cut, number: int, names: Mapping[str, list[int]]) -> set[int]:
    """The functions that one reaches, and that reach it."""
    edges: dict[int, set[int]] = {}

    def callees(at: int) -> set[int]:
        edges[at] = mentioned(cut, at, names) - {at}
        return edges[at]

    callers: dict[int, set[int]] = {}
    for at in reached([number], callees):
        for other in edges[at]:
            callers.setdefault(other, set()).add(at)
    return reached(callers.get(number, ()), lambda at: callers.get(at, ()))


def stand_in(text: str, piece: Piece, stored: Collection[str]) -> str | None:
    """A PrimFunc with the same parameters and attributes, that stores to the same ones of them in a
    loop; None if it cannot be told from the text how.
    """
    body = text[len(piece.head) :]
    kept, rest = "", body.lstrip("\n")
    pad = rest[: len(rest) - len(rest.lstrip())]
    while (line := _DECLARES.match(rest)) is not None and line[0].startswith(pad):
        kept, rest = kept + line[0], rest[line.end() :]
    stores = []
    for name in stored:
        place = re.search(rf"^[ ]+{re.escape(name)}(\[[\w, +*]+\]) = ", body, re.MULTILINE)
        if place is None:
            return None
        at = f"{name}[{', '.join('0' * (place[1].count(',') + 1))}]"
        stores.append(f"{pad}    {at} = {at}\n")
    loop = f"{pad}for i_ in range(1):\n{''.join(stores)}" if stores else ""
    return None if not pad or not (kept or loop) else f"{piece.head}\n{kept}{loop}"


_DECLARES = re.compile(
    r"[ ]+(?:T\.func_attr\([^\n#]*\)|\w+ = T\.match_buffer\([^\n#]*\)|\w+ = T\.int(?:32|64)\([^\n#]*\))\n"
)
"""A line of a PrimFunc that says what it is to others."""


def _name_alone(piece: Piece) -> str:
    """A function of which only the name counts: others are told of it where they misspell it."""
    head = f"{piece.head[: piece.at]}def {piece.name}():"
    return head + _body(piece, "pass" if piece.is_prim_func else "return ()")


def _anything(piece: Piece) -> str:
    """A value that may be of any type, so that it contradicts no annotation."""
    for mark in piece.marks:
        module, dot, word = mark.rpartition(".")
        if dot and word in ("function", "func"):
            return f"{module}.null_value()"
    return "()"


def _body(piece: Piece, statement: str) -> str:
    """A body of one statement, laid out as bodies are, so that what follows is read alike."""
    line = piece.head.lstrip("\n")
    return f"\n{line[: len(line) - len(line.lstrip())]}    {statement}\n"


class Move:
    """Takes places from one cut text to another.

    Parameters
    ----------
    to
        What becomes of each function; what is not there is gone.
    heads
        The functions of which only the head is what it was.
    bodies
        Functions of which the text before has some statements.
    """

    def __init__(
        self,
        before: Cut,
        now: Cut,
        to: Mapping[int, int],
        heads: Collection[int] = (),
        bodies: Mapping[int, ReducedBody] = {},
    ) -> None:
        self.before, self.now, self.to, self.heads = before, now, to, heads
        self.bodies = bodies
        self.starts = [piece.span[0] for piece in before.pieces]

    def number(self, offset: int) -> int | None:
        """The function that an offset stands in."""
        at = bisect_right(self.starts, offset) - 1
        return at if at >= 0 and offset < self.before.pieces[at].span[1] else None

    def diagnostic(self, found: Diagnostic) -> Diagnostic | None:
        """The diagnostic where it stands now; None if its place is gone."""
        if found.span is None:
            return found
        span = self.span(found.span)
        if span is None:
            return None
        labels = [(self.span(label.span), label.message) for label in found.related]
        related = tuple(Label(place, words) for place, words in labels if place is not None)
        edit = found.edit
        if edit is not None:
            place = self.span(edit.span)
            edit = None if place is None else Edit(place, edit.text)
        return replace(found, span=span, related=related, edit=edit)

    def span(self, span: Span) -> Span | None:
        """A place in the other text; of a gap, by its distance from the function in front of it."""
        at = bisect_right(self.starts, span[0]) - 1
        if at < 0:
            return span
        into, piece = self.to.get(at), self.before.pieces[at]
        if into is None or (at in self.heads and span[1] > piece.span[0] + len(piece.head)):
            return None
        old, new = piece.span, self.now.pieces[into].span
        if at in self.bodies and span[0] < old[1]:
            body = self.bodies[at]
            start = new[0] + body.outside(span[0] - old[0])
            if span[1] == span[0]:
                return start, start
            return start, new[0] + body.outside(span[1] - 1 - old[0]) + 1
        shift = new[0] - old[0] if span[0] < old[1] else new[1] - old[1]
        return span[0] + shift, span[1] + shift
