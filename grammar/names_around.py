"""Names that a program does not bind:
constants of the Python around it, captured values, or mistakes.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar.entries import Entry
from rlx.grammar.node import Span
from rlx.grammar.read_context import ReadContext
from rlx.grammar.suggest import closest, did_you_mean
from rlx.grammar.unresolved import Captured, CapturedName, KnownInteger, Name, Sequence


class NamesAround:
    """The meaning of names outside of the program."""

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.scope = context.scope

    def value(self, text: str, span: Span) -> Any:
        """A name that the program does not bind."""
        around = self.context.around
        if around is None or text in self.scope.modules:
            return Name(text)
        value = around.value(text)
        if value is ...:
            return Name(text)
        if isinstance(value, Captured):
            return self.captured(text, text, span)
        return _as_written(value, *span)

    def captured(self, name: str, text: str, span: Span) -> CapturedName:
        """An expression with a name at its head to which the Python around gives a value."""
        around = self.context.around
        assert around is not None
        if not self.scope.in_prim_func() and self.scope.frame.kind != "module":
            around.used.setdefault(name, span)
        return CapturedName(text)

    def holds(self, word: str) -> bool:
        """Whether Python around binds the word at the head of a dotted name,
        for a place outside of PrimFuncs.
        """
        around = self.context.around
        return (
            around is not None
            and word not in ("R", "T", "I")
            and word not in self.scope.modules
            and not self.scope.in_prim_func()
            and self.scope.look_up(word) is None
            and around.holds(word)
        )

    def part_of(self, owner: Entry, part: str) -> CapturedName | None:
        """An attribute or a call of a captured value, which is captured as well."""
        value = owner.value
        return CapturedName(f"{value.text}.{part}") if isinstance(value, CapturedName) else None

    def means_nothing(self, name: str) -> bool:
        """Whether neither the program nor what may stand around it gives a name a meaning."""
        inside = self.scope.in_prim_func() or self.scope.look_up(name) is not None
        return self.context.around is None and not inside

    def unknown_module(self, word: str, start: int) -> None:
        """Report, once, what is no name of the module in front of a name that the module has."""
        known = sorted(self.scope.modules - {"self", "Module"})
        help = did_you_mean(closest(word, known) or known[:1])
        span = (start, start + len(word))
        self.context.reports.error(f"{word!r} is not defined", span, help)
        self.scope.modules.add(word)


class ExpressionActions:
    """Base of actions of expressions: what they work with."""

    def __init__(self, context: ReadContext, around: NamesAround) -> None:
        self.context = context
        self.scope = context.scope
        self.coerce = context.coerce
        self.around = around


def _as_written(value: object, start: int, end: int) -> Any:
    """A constant as if it were written where its name stands."""
    if isinstance(value, tuple):
        return Sequence([Entry(_as_written(item, start, end), start, end) for item in value], "(")
    return KnownInteger(value) if type(value) is int else value
