"""How a run ends."""

from __future__ import annotations

from typing import Any

from rlx.grammar.node import Node, Span
from rlx.semantics.values import Value


class Outcome(Node):
    """Base of what a run ends with."""


class Returned(Outcome):
    """The entry function returned ``value``; ``configuration`` is the last one."""

    value: Value
    configuration: Any = None


class Ended(Outcome):
    """A run without a value.

    Attributes
    ----------
    rule
        The rule that was to be applied.
    code
        The premise that failed: of that rule, or of one that it rests on.
    message
        What was expected and what was found, with values.
    span
        Where in the source.
    values
        The operands of the expression at hand.
    origin
        Where the object at fault was made; None where it came from outside, or where none is at fault.
    considered
        The rules that were near, with the premise of each that failed.
    configuration
        The configuration that has no next one.
    """

    rule: str
    code: str
    message: str
    span: Span | None = None
    values: tuple[Value, ...] = ()
    origin: Span | None = None
    considered: tuple[tuple[str, str], ...] = ()
    configuration: Any = None


class CheckFailed(Ended):
    """A check that the program asks for said no: a cast, an entry, a return, an assertion."""


class Fault(Ended):
    """The program did what has no meaning: it divided by zero, indexed out of bounds, used what is gone."""


class IllFormed(Ended):
    """The checker would have refused this program."""


class Stuck(Ended):
    """No rule applies to a program that is well-formed: a mistake of this tool."""


class OutOfFuel(Ended):
    """The run took all the steps that it was given."""


class Unsupported(Ended):
    """The program is legal and this tool cannot run it."""
