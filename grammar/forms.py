"""The words at the head of a form, in every dialect, and the node each one makes.

A word that is not here is an operator (`R.nn.relu`) or an intrinsic (`T.exp`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rlx.grammar import ast
from rlx.grammar.dialects import TIR_MODULES, TYPE_KEYWORDS
from rlx.grammar.entries import Entry, Rejected
from rlx.grammar.node import Span
from rlx.grammar.partial_nodes import Sequence
from rlx.grammar.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.coerce import Coerce
    from rlx.grammar.reports import ReadContext

ALIASES = {"relax": "R", **dict.fromkeys(TIR_MODULES, "T")}
"""Module names that other texts use for `R` and `T`."""

METHODS = {"astype": "relax.astype", "reshape": "relax.reshape"}

PROTOTYPE_OPERATORS = {"dot": "matmul", "ewise_add": "add"}
"""Operators that 2022 named otherwise."""


_BOXES: dict[type, str] = {
    type(None): "None",
    int: "number",
    float: "number",
    ast.PrimValue: "R.prim_value",
    ast.StringImm: "R.str",
    ast.DataTypeImm: "R.dtype",
}


_SPELLED = frozenset([*_BOXES, ast.Call, Sequence])
"""The values that may be written in several ways;
most arguments are variables, and are none of them.
"""


def _spelling(value: object) -> str:
    """How the value of an argument is boxed, or where it is a list how one of its items is."""
    if isinstance(value, ast.Call):
        null = isinstance(value.op, ast.Op) and value.op.op_name == "relax.null_value"
        return "R.null_value" if null else ""
    if isinstance(value, Sequence):
        words = {_BOXES.get(type(item.value), "") for item in value.items} - {"", "number"}
        return "[None]" if "None" in words else next(iter(sorted(words)), "")
    return _BOXES.get(type(value), "")


class Arguments:
    """The arguments of a form, and where it stands."""

    __slots__ = ("asked", "end", "head", "head_end", "keywords", "named", "positional", "start")

    def __init__(
        self, head: str, positional: list[Entry], keywords: dict[str, Entry], start: int, end: int
    ) -> None:
        self.head = head
        self.positional = positional
        self.keywords = keywords
        self.named: dict[str, tuple[Span, Span]] = {}
        self.start = start
        self.end = end
        self.head_end = start + len(head)
        self.asked: list[str] = []

    @property
    def span(self) -> Span:
        """Where the whole form stands."""
        return (self.start, self.end)

    @property
    def head_span(self) -> Span:
        """Where the word at the head stands."""
        return (self.start, self.head_end)

    def attribute_spans(self) -> dict[str, tuple[Span, Span]]:
        """Where each keyword that was not taken stands, and its value."""
        named, keywords = self.named, self.keywords
        if named.keys() == keywords.keys():
            return named
        return {name: named.get(name, (value.span, value.span)) for name, value in keywords.items()}

    def spelled(self) -> dict[int | str, str]:
        """Which arguments are written as ``None``, as a number or in a box;
        see :class:`rlx.grammar.ast.Call`.
        """
        found: dict[int | str, str] = {}
        for at, entry in enumerate(self.positional):
            if type(entry.value) in _SPELLED and (word := _spelling(entry.value)):
                found[at] = word
        for name, entry in self.keywords.items():
            if type(entry.value) in _SPELLED and (word := _spelling(entry.value)):
                found[name] = word
        return found

    def place(self, names: Iterable[str]) -> None:
        """Move operands given by keyword to their positions, as far as none is left out."""
        for name in tuple(names)[len(self.positional) :]:
            if name not in self.keywords:
                return
            self.positional.append(self.keywords.pop(name))

    def take(self, position: int, *names: str) -> Entry | None:
        """The argument at a position or under one of some names; taken out of the keywords."""
        self.asked += names
        for name in names:
            if name in self.keywords:
                found = self.keywords.pop(name)
                self._only(name, names)
                if position < len(self.positional):
                    raise Rejected(f"{name!r} is given twice", found[1], found[2])
                return found
        return self.positional[position] if position < len(self.positional) else None

    def _only(self, name: str, names: Iterable[str]) -> None:
        """Refuse a second argument under another of the names that mean the same."""
        for other in names:
            if other in self.keywords and other != name:
                words = f"{other!r} says again what {name!r} says"
                raise Rejected(words, *self.keywords[other].span, help="write one", certain=True)

    def need(self, position: int, *names: str) -> Entry:
        """As :meth:`take`, but it must be there."""
        found = self.take(position, *names)
        if found is None:
            words = f"{self.head} needs an argument {names[0]!r}"
            raise Rejected(words, self.start, self.end, certain=True)
        return found

    def done(self, count: int) -> None:
        """Refuse keywords that were not taken, and more positional arguments than so many."""
        self.at_most(count)
        for name, value in self.keywords.items():
            where = self.named[name][0] if name in self.named else value.span
            meant = [other for other in closest(name, self.asked) if other not in self.named]
            help = did_you_mean(meant) or (
                f"its arguments are {', '.join(self.asked)}" if self.asked else None
            )
            raise Rejected(f"{self.head} has no argument {name!r}", *where, help=help, certain=True)

    def at_most(self, count: int) -> None:
        """Refuse more positional arguments than so many."""
        if len(self.positional) > count:
            extra = self.positional[count]
            limit = (
                f"at most {count} arguments"
                if count > 1
                else ("no arguments", "one argument")[count]
            )
            raise Rejected(
                f"{self.head} takes {limit}, but {len(self.positional)} are given",
                extra[1],
                extra[2],
                certain=True,
            )

    def type_arguments(self, coerce: Coerce) -> tuple[tuple[ast.StructInfo, ...], tuple[Span, ...]]:
        """The type arguments, taken out of the keywords; a list is several."""
        for name in TYPE_KEYWORDS:
            entry = self.keywords.pop(name, None) if self.keywords else None
            if entry is not None:
                self._only(name, TYPE_KEYWORDS)
                value = entry.value
                items = value.items if isinstance(value, Sequence) else [entry]
                return (
                    tuple(coerce.info(item) for item in items),
                    tuple(item.span for item in items),
                )
        return (), ()


Handler = Callable[["ReadContext", Arguments], Any]
FORMS: dict[str, Handler] = {}
"""The forms by their head."""


def form(*heads: str) -> Callable[[Handler], Handler]:
    """Register the handler of some heads."""

    def register(handler: Handler) -> Handler:
        for head in heads:
            FORMS[head] = handler
        return handler

    return register
