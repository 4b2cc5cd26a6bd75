"""Outcomes without a value of runs on the virtual machine."""

from __future__ import annotations

from typing import ClassVar

from rlx.semantics import faults, outcome
from rlx.semantics.machine.outcome_of_stop import OUTCOMES

Place = tuple[str, int]
"""A function of the executable, and the number of the instruction in it, from 0."""


class RunError(Exception):
    """Base class of the errors that end a run.

    Attributes
    ----------
    outcome
        The outcome of the small-step machine.
    code
        The premise that failed (``V-call-arity``, ``E-builtin-match-number``).
    message
        The expected and the actual values.
    place
        The function and the instruction that failed; None if the run did not begin.
    calls
        The places of the active calls, the innermost last.
    """

    outcome: ClassVar[type[outcome.Ended]]

    def __init__(
        self,
        code: str,
        message: str,
        place: Place | None = None,
        calls: tuple[Place, ...] = (),
    ) -> None:
        where = "" if place is None else "{}, instruction {}: ".format(*place)
        super().__init__(f"{where}{message} [{code}]")
        self.code, self.message, self.place, self.calls = code, message, place, calls


class CheckFailed(RunError):
    """A run-time check of the program failed: of a parameter, a result, a cast, an assertion."""

    outcome = outcome.CheckFailed


class Fault(RunError):
    """The program made an error at run time."""

    outcome = outcome.Fault


class OutOfFuelError(RunError):
    """The run used up its limit of calls and backward jumps."""

    outcome = outcome.OutOfFuel

    def __str__(self) -> str:
        return f"{super().__str__()}; VirtualMachine(…, fuel=N) sets another limit, None no limit"


class UnsupportedError(RunError):
    """The program is legal, but this tool cannot run it."""

    outcome = outcome.Unsupported


class IllFormedProgramError(RunError):
    """The checker would have rejected the program."""

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
    """The error for an exception of the semantics."""
    return _ERRORS[OUTCOMES[type(stop)]](stop.code, stop.message, place, calls)
