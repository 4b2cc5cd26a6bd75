"""What ends a run before it has a value, wherever in the semantics it is found."""

from __future__ import annotations

from rlx.grammar.node import Span
from rlx.spec.registry import refuted


class Stop(Exception):
    """Base of what ends a run.

    Attributes
    ----------
    code
        The premise of the rule that failed (``E-take-bounds``).
    message
        What was expected and what was found, with values.
    span
        Where in the source, as far as it is known; the machine adds what is missing.
    value
        The value that is at fault, where one is known to be.
    """

    def __init__(
        self, code: str, message: str, span: Span | None = None, value: object = None
    ) -> None:
        super().__init__(message)
        refuted(code)
        self.code = code
        self.message = message
        self.span = span
        self.value = value


class FaultStop(Stop):
    """The program did what has no meaning: it divided by zero, indexed out of bounds, ran out of
    memory.
    """


class OutOfFuelStop(Stop):
    """The run took more steps than it was allowed."""


class UnsupportedStop(Stop):
    """The program is legal and this tool cannot run it: an operator without evaluation, text kept
    opaque.
    """


class CheckStop(Stop):
    """A check of the program itself said no: a cast, an entry or a return, an assertion."""


class IllFormedStop(Stop):
    """A program that the checker would have refused.

    Attributes
    ----------
    considered
        The rules that were near, each with the premise that failed and the values in which it did.
    """

    def __init__(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        considered: tuple[tuple[str, str], ...] = (),
        value: object = None,
    ) -> None:
        super().__init__(code, message, span, value)
        self.considered = considered
