"""The user's own oracle: a function named ``my_module:function`` or ``path/to/file.py:function``.

It is called with one legal :class:`rlx.IRModule` after the other. An exception that it raises is a
finding, and so is a text or False that it returns; None and True say that all is well.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.finding_file import OWN
from rlx.generate.campaign.oracles.case import Case
from rlx.operators.external import imported

Own = Callable[[Any], object]


class OwnOracleError(ValueError):
    """There is no such function; the message says what was expected and what was found."""


def function_of(name: str) -> Own:
    """The function of a name. Raises OwnOracleError if the module cannot be imported, has no such
    function, or one that takes no module.
    """
    home, _, wanted = name.rpartition(":")
    if not home or not wanted:
        raise OwnOracleError(f"expected my_module:function, found {name!r}")
    try:
        module = imported(home)
    except Exception as error:
        raise OwnOracleError(f"cannot import {home!r}: {type(error).__name__}: {error}") from error
    found = getattr(module, wanted, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value)]
        near = get_close_matches(wanted, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise OwnOracleError(f"{home!r} has no function {wanted!r}{hint}")
    if not _takes_one(found):
        raise OwnOracleError(f"{wanted!r} of {home!r} cannot be called with one module")
    made: Own = found
    return made


def _takes_one(function: Own) -> bool:
    """Whether a function can be called with one argument, as far as its signature says."""
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True


def own(name: str) -> Callable[[Case], list[Finding]]:
    """The oracle that calls the user's function.

    Raises
    ------
    OwnOracleError
        As :func:`function_of` does.
    """
    function = function_of(name)

    def look(case: Case) -> list[Finding]:
        from rlx.grammar.read.parser import parse

        module, *_ = parse(case.text).modules
        _, _, word = name.rpartition(":")
        case.begin(word)
        try:
            said = function(module)
        except Exception as error:  # noqa: BLE001 - what it raises is what it says
            return [case.found(OWN, name, _words(error))]
        if said is None or said is True:
            return []
        if isinstance(said, str):
            return [case.found(OWN, name, said)]
        if said is False:
            return [case.found(OWN, name, "returns False")]
        return [case.found(OWN, name, f"returns {type(said).__name__}; expected None, bool or str")]

    return look


def _words(error: Exception) -> str:
    """The words of an exception; if it has none, the line that raised it."""
    said = str(error).strip()
    if not said:
        frames = traceback.extract_tb(error.__traceback__)
        said = frames[-1].line or f"line {frames[-1].lineno}" if frames else "no message"
    return f"{type(error).__name__}: {said}"
