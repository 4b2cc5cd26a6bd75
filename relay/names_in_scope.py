"""Scopes of variables and nodes while a function is read, block by block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from rlx.grammar.nodes.node import Span
from rlx.grammar.suggest import closest, did_you_mean
from rlx.relay.cursor import Cursor
from rlx.relay.lexer import RelayToken
from rlx.relay.nodes import RelayExpr, RelayVar

MOST_CYCLES = 3
"""How many names are followed to a cycle in one text."""


class NamesInScope:
    """The meanings of names in the function that is read.

    Attributes
    ----------
    frames
        For each block around the current place, the innermost last: name, meaning, and where it
        is bound.
    left
        What blocks that have ended had bound.
    """

    def __init__(self) -> None:
        self.frames: list[dict[str, tuple[RelayExpr, Span]]] = [{}]
        self.left: dict[str, Span] = {}

    def find(self, name: str) -> RelayExpr | None:
        """The meaning of a name; None if it has none."""
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name][0]
        return None

    def bind(self, name: str, meaning: RelayExpr, span: Span) -> None:
        """Let a name have a meaning to the end of its block."""
        self.frames[-1][name] = (meaning, span)

    def here(self, name: str) -> Span | None:
        """The binding of a name in the innermost block."""
        found = self.frames[-1].get(name)
        return None if found is None else found[1]

    def leave(self) -> None:
        """End a block."""
        for name, (_, span) in self.frames.pop().items():
            self.left[name] = span

    def known(self) -> list[str]:
        """All names that have a meaning."""
        return [name for frame in self.frames for name in frame]


def report_unbound(
    cursor: Cursor, names: NamesInScope, token: RelayToken, statement: str, later: Bindings
) -> RelayVar:
    """Report a name that means nothing; what is returned stands in its place."""
    name, span = token.text, token.span
    place = later.behind(name, token.start)
    if name == statement or later.reaches(name, statement, token.start):
        words = (
            f"{name} depends on itself"
            if name == statement
            else (f"{name} depends on {statement}, and {statement} depends on {name}")
        )
        cursor.error(
            f"the nodes form a cycle: {words}",
            span,
            "only a function or a let of a function can refer to itself",
            place if name != statement else None,
            "bound here",
            "RL-name-cycle",
        )
    elif name in names.left:
        cursor.error(
            f"{name} is bound in a block that has ended",
            span,
            "bind it before the block",
            names.left[name],
            "bound here",
            "RL-name-bound",
        )
    elif place is not None:
        cursor.error(
            f"{name} is used before it is bound", span, None, place, "bound here", "RL-name-bound"
        )
    else:
        near = did_you_mean(closest(name, names.known())) if len(name) > 2 else None
        cursor.error(f"{name} is not bound", span, near, code="RL-name-bound")
    return RelayVar(name, None, span)


class Bindings:
    """The bindings of each name, and the names that bindings mention; made when a name without a
    meaning is found.
    """

    def __init__(self, tokens: Sequence[RelayToken]) -> None:
        self._tokens = tokens
        self._found: dict[str, list[int]] | None = None
        self._definitions: list[int] | None = None
        self._asked = 0

    def _bound(self) -> dict[str, list[int]]:
        """The tokens at which names are bound."""
        if self._found is None:
            self._found = {}
            for at, token in enumerate(self._tokens[:-1]):
                if token.kind in ("GRAPH", "LOCAL") and self._tokens[at + 1].kind in ("=", ":"):
                    self._found.setdefault(token.text, []).append(at)
        return self._found

    def _in_function(self, name: str, place: int) -> list[int]:
        """The tokens that bind a name in the function around a place."""
        number = self._function(place)
        found = self._bound().get(name, ())
        return [at for at in found if self._function(self._tokens[at].start) == number]

    def _function(self, place: int) -> int:
        """The number of the definition around a place."""
        if self._definitions is None:
            tokens = self._tokens
            self._definitions = [t.start for t in tokens if t.text == "def"]
        return bisect_right(self._definitions, place)

    def behind(self, name: str, start: int) -> Span | None:
        """The binding of a name behind a place."""
        for at in self._in_function(name, start):
            if self._tokens[at].start > start:
                return (self._tokens[at].start, self._tokens[at].end)
        return None

    def reaches(self, name: str, goal: str, start: int) -> bool:
        """Whether what is bound to a name mentions another one, itself or by others; that is
        asked for a few names only, and then denied.
        """
        self._asked += 1
        if self._asked > MOST_CYCLES:
            return False
        seen, pending = {name}, [name]
        while pending:
            places = self._in_function(pending.pop(), start)
            for mentioned in self._mentioned(places[0]) if places else ():
                if mentioned == goal:
                    return True
                if mentioned not in seen:
                    seen.add(mentioned)
                    pending.append(mentioned)
        return False

    def _mentioned(self, at: int) -> list[str]:
        """The names in the statement that binds at a token."""
        found = []
        for k in range(at + 1, len(self._tokens)):
            token = self._tokens[k]
            if token.kind in (";", "END"):
                break
            if token.fresh_line and self._tokens[k + 1].kind == "=":
                break
            if token.kind in ("GRAPH", "LOCAL"):
                found.append(token.text)
        return found
