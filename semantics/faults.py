"""The exceptions that end a run without a value."""

from __future__ import annotations

from rlx.grammar.nodes.node import Span
from rlx.spec.registry import refuted


class Stop(Exception):
    """Base class of the exceptions that end a run.

    Attributes
    ----------
    code
        The failing premise of the rule (``E-take-bounds``).
    message
        The expected and the actual values.
    span
        The location in the source, if known; otherwise the machine adds it.
    value
        The value that caused the failure, if known.
    considered
        The candidate rules, each with its failing premise and the values.
    """

    considered: tuple[tuple[str, str], ...] = ()

    def __init__(
        self, code: str, message: str, span: Span | None = None, value: object = None
    ) -> None:
        super().__init__(message)
        refuted(code)
        self.code = code
        self.message = message
        self.span = span
        self.value = value

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are otherwise made anew from the message alone.
        return type(self), (self.code, self.message, self.span, self.value), self.__dict__


class FaultStop(Stop):
    """The program made an error at run time: it divided by zero, indexed out of bounds, ran out of
    memory.
    """


class OutOfFuelStop(Stop):
    """The run reached its limit of steps."""


class UnsupportedStop(Stop):
    """The program is legal, but this tool cannot run it: an operator without evaluation,
    uninterpreted text.
    """


class CheckStop(Stop):
    """A check of the program itself failed: a cast, an entry or a return, an assertion."""


class IllFormedStop(Stop):
    """The checker would have rejected the program."""
