"""Conversions of the other arguments of patterns; an invalid argument is an error at the line of
the call.
"""

from __future__ import annotations

from rlx.grammar.nodes.overloaded import python_number
from rlx.grammar.nodes.python_places import MisuseError, described, here, located


class PatternError(ValueError):
    """A pattern that can never match.

    The message begins with ``file:line:column`` of the code that wrote it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(located(message, here()))


def text(given: object, what: str) -> str:
    """A text.

    Raises
    ------
    MisuseError
        If it is not a text.
    """
    if not isinstance(given, str):
        raise MisuseError(f"expected {what}, found {described(given)}", here())
    return given


def natural(number: object, what: str) -> int:
    """An index.

    Raises
    ------
    MisuseError, PatternError
        If it is not an integer, or is negative.
    """
    found = python_number(number)
    if isinstance(found, bool) or not isinstance(found, int):
        raise MisuseError(f"{what}: expected an integer, found {described(number)}", here())
    if found < 0:
        raise PatternError(f"nothing matches: {what} is {found}")
    return found
