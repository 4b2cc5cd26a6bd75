"""What the functions on modules expect of Python code that calls them."""

from __future__ import annotations

from rlx.grammar.ast import IRModule
from rlx.grammar.overloaded import described
from rlx.grammar.python_places import MisuseError, Place


def module_of(given: object, place: Place) -> IRModule:
    """A module.

    Raises
    ------
    MisuseError
        If it is none.
    """
    if not isinstance(given, IRModule):
        words = (
            f"expected a module, such as rlx.parse(…) or bb.get() gives; found {described(given)}"
        )
        raise MisuseError(words, place)
    return given
