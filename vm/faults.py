"""How a run on the virtual machine ends without a value."""

from __future__ import annotations

from rlx.semantics import faults

Place = tuple[str, int]
"""A function of the executable, and the number of the instruction in it, from 0."""


class RunError(Exception):
    """Base of what ends a run.

    Attributes
    ----------
    code
        The premise that failed (``V-call-arity``, ``E-builtin-match-number``).
    message
        What was expected and what was found, with values.
    place
        The function and the instruction that failed; None where the run did not begin.
    calls
        The places of the calls that were open, the innermost last.
    """

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
    """A check that the program asks for said no: of a parameter, a result, a cast, an assertion."""


class Fault(RunError):
    """The program did what has no meaning."""


class OutOfFuel(RunError):
    """The run took more calls and jumps back than it was given."""


class Unsupported(RunError):
    """The program is legal and this tool cannot run it."""


class IllFormed(RunError):
    """The program is one that the checker would have refused."""


_KINDS: dict[type[faults.Stop], type[RunError]] = {
    faults.CheckStop: CheckFailed,
    faults.FaultStop: Fault,
    faults.OutOfFuelStop: OutOfFuel,
    faults.UnsupportedStop: Unsupported,
    faults.IllFormedStop: IllFormed,
}


def run_error(stop: faults.Stop, place: Place | None, calls: tuple[Place, ...]) -> RunError:
    """What a run ends with where the semantics stops."""
    return _KINDS[type(stop)](stop.code, stop.message, place, calls)
