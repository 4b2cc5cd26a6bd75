"""The heads of forms in all dialects, and the nodes that they make.

All other words are operators (`R.nn.relu`) or intrinsics (`T.exp`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.grammar.dialects import TIR_MODULES, TYPE_KEYWORDS
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.partial_nodes import Sequence
from rlx.grammar.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.read.coerce import Coerce
    from rlx.grammar.read.reports import ReadContext

ALIASES = {"relax": "R", **dict.fromkeys(TIR_MODULES, "T")}
"""Module names that other texts use for `R` and `T`."""

METHODS = {"astype": "relax.astype", "reshape": "relax.reshape"}

_BOXES: dict[type, str] = {
    type(None): "None",
    int: "number",
    float: "number",
    ast.PrimValue: "R.prim_value",
    ast.StringImm: "R.str",
    ast.DataTypeImm: "R.dtype",
    **dict.fromkeys((tir.IntImm, tir.FloatImm), "typed"),
}


_SPELLED = frozenset([*_BOXES, ast.Call, Sequence])
"""The classes of values with several spellings; most arguments are variables, which have only
one.
"""


def _spelling(value: object) -> str:
    """The boxing of an argument's value, or of an item if it is a list."""
    if isinstance(value, ast.Call):
        null = isinstance(value.op, ast.Op) and value.op.op_name == "relax.null_value"
        return "R.null_value" if null else ""
    if isinstance(value, Sequence):
        words = {_BOXES.get(type(item.value), "") for item in value.items} - {"", "number", "typed"}
        return "[None]" if "None" in words else next(iter(sorted(words)), "")
    return _BOXES.get(type(value), "")


class Arguments:
    """The arguments of a form, and its location."""

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
        """The span of the whole form."""
        return (self.start, self.end)

    @property
    def head_span(self) -> Span:
        return (self.start, self.head_end)

    def attribute_spans(self) -> dict[str, tuple[Span, Span]]:
        """The spans of each remaining keyword and of its value."""
        named, keywords = self.named, self.keywords
        if named.keys() == keywords.keys():
            return named
        return {name: named.get(name, (value.span, value.span)) for name, value in keywords.items()}

    def spelled(self) -> dict[int | str, str]:
        """The arguments that are written as ``None``, as a number or in a box; see
        :class:`rlx.grammar.nodes.ast.Call`.
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
        """Move operands given by keyword to their positions, as far as no operand is omitted."""
        for name in tuple(names)[len(self.positional) :]:
            if name not in self.keywords:
                return
            self.positional.append(self.keywords.pop(name))

    def unfold(self, position: int, name: str) -> None:
        """Give the items of a written tuple or list in its place, and nothing for `None`; by
        keyword, too, if no operand is omitted before it. A plain value stays for its rule to
        refuse.
        """
        given = self.keywords.get(name)
        if given is not None and len(self.positional) == position:
            if not (given.value is None or isinstance(given.value, (Sequence, ast.Expr))):
                return
            self.positional.append(self.keywords.pop(name))
        if position < len(self.positional):
            value = self.positional[position].value
            if value is None or isinstance(value, Sequence):
                items = [] if value is None else value.items
                self.positional[position : position + 1] = items

    def take(self, position: int, *names: str) -> Entry | None:
        """Take the argument at a position or with one of these keywords."""
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
        """Like :meth:`take`, but the argument is required."""
        found = self.take(position, *names)
        if found is None:
            words = f"{self.head} needs an argument {names[0]!r}"
            raise Rejected(words, self.start, self.end, certain=True)
        return found

    def done(self, count: int) -> None:
        """Reject remaining keywords, and more than this number of positional arguments."""
        self.at_most(count)
        for name in self.keywords:
            self.refuse(name)

    def refuse(self, name: str) -> NoReturn:
        """Reject a remaining keyword."""
        raise self.unknown(name)

    def unknown(self, name: str) -> Rejected:
        """The message for a keyword that is not an argument."""
        where = self.named[name][0] if name in self.named else self.keywords[name].span
        meant = [other for other in closest(name, self.asked) if other not in self.named]
        help = did_you_mean(meant) or (
            f"its arguments are {', '.join(self.asked)}" if self.asked else None
        )
        words = f"{self.head} has no argument {name!r}"
        return Rejected(words, *where, help=help, certain=True)

    def at_most(self, count: int) -> None:
        """Reject more than this number of positional arguments."""
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
        """Take the type arguments from the keywords; a list gives several."""
        for name in TYPE_KEYWORDS:
            entry = self.keywords.pop(name, None) if self.keywords else None
            if entry is not None:
                self._only(name, TYPE_KEYWORDS)
                value = entry.value
                if value is None:
                    return (), ()
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
    """Register the handler of these heads."""

    def register(handler: Handler) -> Handler:
        for head in heads:
            FORMS[head] = handler
        return handler

    return register
