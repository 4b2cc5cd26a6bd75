"""Errors of tensor expressions, located in the user's Python code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from rlx.grammar.nodes.python_places import Place, here


class TensorExpressionError(ValueError):
    """An invalid tensor expression, or one that fails for some sizes.

    The message begins with ``file:line:column`` of the Python that wrote it, and ends with that
    line.

    Attributes
    ----------
    message
        The message without the place.
    place
        The Python expression that made it.
    counterexample
        Values of the variables for which it fails, if there are any.
    """

    def __init__(
        self, message: str, place: Place, counterexample: Mapping[str, int] | None = None
    ) -> None:
        start, _ = place
        line, column = place.source.position(start)
        text = place.source.line(line).strip()
        shown = f"{place.source.path}:{line}:{column}: {message}"
        super().__init__(f"{shown}\n    {text}" if text else shown)
        self.message, self.place, self.counterexample = message, place, counterexample


def fail(message: str, place: Place | None = None) -> NoReturn:
    """Raise the error of an expression at the user's line.

    Raises
    ------
    TensorExpressionError
    """
    raise TensorExpressionError(message, here() if place is None else place)


__all__ = ["Place", "TensorExpressionError", "fail", "here"]
