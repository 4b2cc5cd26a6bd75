"""Passes whose results are proved to mean the same as what they were given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import wraps
from importlib import import_module
from typing import Any

UNKNOWN = ("warn", "raise", "allow")


class MeaningError(ValueError):
    """A pass changed the meaning of a module, or that is not known and was asked for.

    Attributes
    ----------
    answer
        What :func:`rlx.refines` answered, with the counterexample.
    """

    def __init__(self, name: str, answer: Any) -> None:
        changes = "changes the meaning of the module" if answer.refuted else "is not validated"
        super().__init__(f"{name} {changes}: {answer}")
        self.answer = answer


class NotValidatedWarning(UserWarning):
    """Issued where it is neither proved nor refuted that a pass keeps the meaning of a module."""


def validated(
    transformation: Any = None,
    *,
    unknown: str = "warn",
    floats: str = "bitwise",
    faults: str = "may vanish",
    assume: Sequence[str] = (),
    contract: str | None = None,
) -> Any:
    """Compare what a pass returns with what it was given, for all sizes and inputs.

    A decorator for functions from modules to modules, for classes of passes, and for passes that
    are made already. Modules of TVM are compared, too.

    Parameters
    ----------
    transformation
        The pass.
    unknown
        What an answer that is unknown does: ``"warn"`` gives a :class:`NotValidatedWarning`,
        ``"raise"`` raises, ``"allow"`` says nothing.
    floats, faults, assume, contract
        Those of :func:`rlx.refines`.

    Raises
    ------
    ValueError
        If an option has no such value.

    Notes
    -----
    The pass raises :class:`MeaningError` where a run shows that the meaning changed, ``IllFormedError``
    if its result has errors, and ``InterfaceError`` if the functions or parameters are others and no
    contract says why.
    """
    if not isinstance(unknown, str) or unknown not in UNKNOWN:
        expected = " or ".join(map(repr, UNKNOWN))
        raise ValueError(f"unknown: expected {expected}, found {unknown!r}")

    # The judge stands above this room, so it is fetched when it is needed.
    if (floats, faults, assume, contract) != ("bitwise", "may vanish", (), None):
        import_module("rlx.refine.question").known_options(floats, faults, assume, contract)

    def judge(name: str, before: Any, after: Any) -> Any:
        if after is before:
            return after
        if after is None:
            raise TypeError(f"{name} returned None: a pass returns a module")
        refines = import_module("rlx.api").refines
        options = {"floats": floats, "faults": faults, "assume": assume, "contract": contract}
        try:
            answer = refines(before, after, **options)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        if answer.refuted or (answer.unknown and unknown == "raise"):
            raise MeaningError(name, answer)
        if answer.unknown and unknown == "warn":
            words = f"{name} is not validated: {answer}"
            warnings.warn(words, NotValidatedWarning, stacklevel=3)
        return after

    def decorate(given: Any) -> Any:
        if not callable(given):
            raise TypeError(f"expected a pass, found {type(given).__name__}")
        if isinstance(given, type):
            if not any("__call__" in vars(base) for base in given.__mro__):
                raise TypeError(f"expected a class of passes; {given.__name__} has no __call__")
            call = given.__call__

            @wraps(call)
            def called(self: Any, module: Any) -> Any:
                return judge(given.__name__, module, call(self, module))

            return type(given.__name__, (given,), {"__call__": called, "__doc__": given.__doc__})
        of_tvm = getattr(getattr(given, "info", None), "name", None)
        name = getattr(given, "__name__", None) or of_tvm or type(given).__name__

        def applied(module: Any, *args: Any, **options: Any) -> Any:
            return judge(name, module, given(module, *args, **options))

        return wraps(given)(applied)

    return decorate if transformation is None else decorate(transformation)
