"""The words at the head of a form, in every dialect, and the node each one makes.

A word that is not here is an operator (`R.nn.relu`) or an intrinsic (`T.exp`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlx.grammar import ast
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.neutral import Sequence
from rlx.grammar.node import Span

if TYPE_CHECKING:
    from rlx.grammar.actions import Expressions
    from rlx.grammar.coerce import Coerce

ALIASES = {"relax": "R", "tir": "T", "tirx": "T"}
"""Module names that other texts use for `R` and `T`."""

METHODS = {"astype": "relax.astype", "reshape": "relax.reshape"}

PROTOTYPE_OPERATORS = {"dot": "matmul", "ewise_add": "add"}
"""Operators that 2022 named otherwise."""

TYPE_ARGUMENTS = ("out_sinfo", "sinfo_args", "out_ty", "ty_args", "type_args")
"""Keywords that carry type arguments, oldest last but one."""


class Arguments:
    """The arguments of a form, and where it stands."""

    __slots__ = ("end", "head", "keywords", "positional", "start")

    def __init__(
        self, head: str, positional: list[Entry], keywords: dict[str, Entry], start: int, end: int
    ) -> None:
        self.head = head
        self.positional = positional
        self.keywords = keywords
        self.start = start
        self.end = end

    @property
    def span(self) -> Span:
        """Where the whole form stands."""
        return (self.start, self.end)

    def take(self, position: int, *names: str) -> Entry | None:
        """The argument at a position or under one of some names; taken out of the keywords."""
        for name in names:
            if name in self.keywords:
                return self.keywords.pop(name)
        return self.positional[position] if position < len(self.positional) else None

    def need(self, position: int, *names: str) -> Entry:
        """As :meth:`take`, but it must be there."""
        found = self.take(position, *names)
        if found is None:
            raise Rejected(f"{self.head} needs an argument {names[0]!r}", self.start, self.end)
        return found

    def done(self) -> None:
        """Refuse keywords that nobody took."""
        for name, value in self.keywords.items():
            raise Rejected(f"{self.head} has no argument {name!r}", value[1], value[2])

    def at_most(self, count: int) -> None:
        """Refuse more positional arguments than so many."""
        if len(self.positional) > count:
            extra = self.positional[count]
            raise Rejected(
                f"{self.head} takes at most {count} arguments, {len(self.positional)} are given",
                extra[1],
                extra[2],
            )

    def type_arguments(self, coerce: Coerce) -> tuple[tuple[ast.StructInfo, ...], tuple[Span, ...]]:
        """The type arguments, taken out of the keywords; a list is several."""
        for name in TYPE_ARGUMENTS:
            entry = self.keywords.pop(name, None) if self.keywords else None
            if entry is not None:
                value = entry[0]
                items = value.items if isinstance(value, Sequence) else [entry]
                return (
                    tuple(coerce.info(item) for item in items),
                    tuple((item[1], item[2]) for item in items),
                )
        return (), ()


Handler = Callable[["Expressions", Arguments], Any]
FORMS: dict[str, Handler] = {}
"""The forms by their head."""


def form(*heads: str) -> Callable[[Handler], Handler]:
    """Register the handler of some heads."""

    def register(handler: Handler) -> Handler:
        for head in heads:
            FORMS[head] = handler
        return handler

    return register
