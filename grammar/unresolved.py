"""What a piece of text means before its surroundings say: values between grammar and syntax tree.

`(n, 4)` is a shape, a tuple of values, an attribute, or the axes of a permutation. Actions build
the classes here (and plain numbers and strings); :mod:`rlx.grammar.coerce` makes of them what a
place asks for.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar.entries import Entry


class Name:
    """A name that means nothing yet (an implicit shape variable,
    a later function, or a mistake).
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class KnownInteger(int):
    """The integer that a constant of the Python around has;
    Python computes with it, so arithmetic on it is a number.
    """


class CapturedName(Name):
    """A name, or an expression with one at its head,
    that Python around the program gives a value.
    """

    __slots__ = ()


class Captured:
    """The value of a name of the Python around that only running it would tell."""


CAPTURED = Captured()


class Sequence:
    """A tuple or list literal; ``items`` are entries, with their positions."""

    __slots__ = ("bracket", "items")

    def __init__(self, items: list[Entry], bracket: str) -> None:
        self.items = items
        self.bracket = bracket


class UnresolvedOperation:
    """An operator on operands of which one is a :class:`Name`:
    shape arithmetic or tensor arithmetic.
    """

    __slots__ = ("operands", "operator")

    def __init__(self, operator: str, operands: tuple[Entry, ...]) -> None:
        self.operator = operator
        self.operands = operands


class Negation:
    """`not x`, which binds weaker than the comparison that may follow it."""

    __slots__ = ("operand",)

    def __init__(self, operand: Entry) -> None:
        self.operand = operand


class Form:
    """A call whose meaning depends on the statement it stands in:
    ``T.grid(…)``, ``R.output(…)``.
    """

    __slots__ = ("args", "head", "keywords")

    def __init__(self, head: str, args: list[Entry], keywords: dict[str, Entry]) -> None:
        self.head = head
        self.args = args
        self.keywords = keywords


class Keyword:
    """``name=value`` among arguments."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Entry) -> None:
        self.name = name
        self.value = value


class Slice:
    """``start:stop`` among subscripts."""

    __slots__ = ("start", "stop")

    def __init__(self, start: Entry, stop: Entry) -> None:
        self.start = start
        self.stop = stop


def describe(value: Any) -> str:
    """A value in words, for messages."""
    match value:
        case CapturedName(text=text):
            return f"{text!r} of the Python around"
        case Name(text=text):
            return f"the undefined name {text!r}"
        case Sequence():
            return "a tuple"
        case Form(head=head):
            return f"{head}(…)"
        case bool() | int() | float() | str():
            return repr(value)
        case None:
            return "None"
        case UnresolvedOperation() | Negation():
            return "an operation"
        case dict():
            return "a dictionary"
    return f"a {type(value).__name__}"
