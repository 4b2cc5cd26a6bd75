"""How a run on the virtual machine ends without a value."""

from __future__ import annotations

from typing import ClassVar

from rlx.semantics import faults, outcome
from rlx.semantics.machine.outcome_of_stop import OUTCOMES

Place = tuple[str, int]
"""A function of the executable, and the number of the instruction in it, from 0."""


class RunError(Exception):
    """Base of what ends a run.

    Attributes
    ----------
    outcome
        How the small-step machine calls such an end.
    code
        The premise that failed (``V-call-arity``, ``E-builtin-match-number``).
    message
        What was expected and what was found, with values.
    place
        The function and the instruction that failed; None where the run did not begin.
    calls
        The places of the calls that were open, the innermost last.
    """

    outcome: ClassVar[type[outcome.Ended]]

    def __init__(
        self,
        code: str,
        message: str,
        place: Place | None = None,
        calls: tuple[Place, ...] = (),
    ) -> None:
        where = "" if place is None else f"{place[0]}, instruction {place[1]}: "
        super().__init__(f"{where}{message} [{code}]")
        self.code, self.message, self.place, self.calls = code, message, place, calls


class CheckFailed(RunError):
    """A run-time check of the program failed: of a parameter, a result, a cast, an assertion."""

    outcome = outcome.CheckFailed


class Fault(RunError):
    """The program did what has no meaning."""

    outcome = outcome.Fault


class OutOfFuelError(RunError):
    """The run took more calls and jumps back than it was given."""

    outcome = outcome.OutOfFuel


class UnsupportedError(RunError):
    """The program is legal and this tool cannot run it."""

    outcome = outcome.Unsupported


class IllFormedProgramError(RunError):
    """The program is one that the checker would have refused."""

    outcome = outcome.IllFormed


_ERRORS: dict[type[outcome.Ended], type[RunError]] = {
    error.outcome: error
    for error in (
        CheckFailed,
        Fault,
        OutOfFuelError,
        UnsupportedError,
        IllFormedProgramError,
    )
}


def run_error(stop: faults.Stop, place: Place | None, calls: tuple[Place, ...]) -> RunError:
    """What a run ends with where the semantics stops."""
    return _ERRORS[OUTCOMES[type(stop)]](stop.code, stop.message, place, calls)
