"""The reader's position in a Relay text, and its diagnostics."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes.node import Span
from rlx.grammar.wording import shortened
from rlx.relay.lexer import MAX_ERRORS, RelayToken

BLOCKS, SCOPES, TUPLES, TYPES, LISTS = (
    "brackets and blocks",
    "branches and functions",
    "tuples",
    "types",
    "lists of attributes",
)
NESTING = {BLOCKS: 50_000, SCOPES: 1_000, TUPLES: 1_000, TYPES: 500, LISTS: 500}
"""How deep each may be nested."""

_KINDS = {
    "END": "the end of the text",
    "GRAPH": "a node such as %1",
    "LOCAL": "a variable",
    "GLOBAL": "the name of a function such as @main",
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
}


class Abandoned(Exception):
    """A statement that can't be read: it was reported, and reading goes on behind it."""


class Stopped(Exception):
    """Nothing more of the text is read."""


class Cursor:
    """Reads tokens one by one.

    Attributes
    ----------
    diagnostics
        What is wrong.
    """

    def __init__(self, tokens: list[RelayToken]) -> None:
        self.tokens, self.at = tokens, 0
        self.diagnostics: list[Diagnostic] = []
        self.depth = dict.fromkeys(NESTING, 0)

    @property
    def token(self) -> RelayToken:
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> RelayToken:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self) -> RelayToken:
        """Take the current token and go on to the next."""
        found = self.tokens[self.at]
        if found.kind != "END":
            self.at += 1
        return found

    def sees(self, *kinds: str) -> bool:
        """Whether the current token is of one of these kinds."""
        return self.token.kind in kinds

    def is_word(self, *words: str) -> bool:
        """Whether the current token is one of these words; no token of another kind has their text."""
        return self.token.text in words

    def accept(self, kind: str) -> RelayToken | None:
        return self.take() if self.token.kind == kind else None

    def items(self, closing: str) -> Iterator[None]:
        """Stop in front of each item of a list, and pass over the commas between them."""
        while not self.sees(closing):
            yield
            if not self.accept(","):
                return

    def expect(self, kind: str, what: str = "") -> RelayToken:
        """Take a token of a kind.

        Raises
        ------
        Abandoned
            If another one is at hand, which is reported.
        """
        if not self.sees(kind):
            self.unexpected(what or _KINDS.get(kind, f"'{kind}'"))
        return self.take()

    def unexpected(self, wanted: str, help: str | None = None) -> None:
        """Report the current token.

        Raises
        ------
        Abandoned
            Always.
        """
        token = self.token
        found = _KINDS["END"] if self.sees("END") else f"'{shortened(token.text, 40)}'"
        span = (token.start, max(token.end, token.start + 1))
        if self.sees("WORD"):
            self.error(f"{found} is not a number, name or symbol of Relay", span)
            raise Abandoned
        self.error(f"expected {wanted}, found {found}", span, help)
        raise Abandoned

    def error(
        self,
        message: str,
        span: Span,
        help: str | None = None,
        related: Span | None = None,
        label: str = "here first",
        code: str = "PARSE",
    ) -> None:
        """Report an error.

        Raises
        ------
        Stopped
            If there are more than anybody reads.
        """
        labels = () if related is None else (Label(related, label),)
        self.diagnostics.append(Diagnostic(code, "error", message, span, related=labels, help=help))
        if len(self.diagnostics) >= MAX_ERRORS:
            raise Stopped

    def enter(self, what: str = BLOCKS) -> None:
        """Go one level deeper into what :data:`NESTING` has.

        Raises
        ------
        Stopped
            If it is one too many, which is reported.
        """
        self.depth[what] += 1
        if self.depth[what] > NESTING[what]:
            token = self.token
            self.error(
                f"{what} are nested deeper than {NESTING[what]}",
                (token.start, max(token.end, token.start + 1)),
                "bind an inner part to a node of its own: %1 = …;"
                if what in (BLOCKS, SCOPES)
                else None,
            )
            raise Stopped

    def leave(self, what: str = BLOCKS) -> None:
        """Go one level up."""
        self.depth[what] -= 1

    def skip_brackets(self) -> int:
        """Pass over a bracket and what is in it; return where it ends."""
        depth = 0
        while True:
            token = self.take()
            if token.kind == "END":
                return token.end
            depth += token.nesting
            if depth <= 0:
                return token.end
