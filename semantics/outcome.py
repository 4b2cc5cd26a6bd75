"""Outcomes: the ways in which a run ends."""

from __future__ import annotations

from typing import Any, NoReturn

from rlx.grammar.nodes.node import ShownAsText, Span
from rlx.grammar.streams import visible
from rlx.semantics.values import Value


class Outcome(ShownAsText):
    """Base class of outcomes: :class:`Returned`, or one of the kinds of :class:`Ended`."""

    @property
    def ok(self) -> bool:
        """Whether the run returned a value."""
        return isinstance(self, Returned)

    def numpy(self) -> Any:
        """The value as arrays, numbers, tuples and strings.

        Raises
        ------
        RuntimeError
            If the run returned no value; the message gives the reason.
        """
        raise NotImplementedError

    def __bool__(self) -> NoReturn:
        raise TypeError("an outcome has no truth value: use outcome.ok")


class Returned(Outcome):
    """The entry function returned ``value``; ``configuration`` is the last one."""

    value: Value
    configuration: Any = None

    def numpy(self) -> Any:
        """The value as arrays, numbers, tuples and strings; functions stay values."""
        from rlx.semantics.machine.numpy_conversion import to_plain

        return to_plain(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The array of a tensor, for functions of NumPy."""
        import numpy as np

        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __str__(self) -> str:
        return f"returned\n{self.numpy()}"


class Ended(Outcome):
    """A run without a value.

    Attributes
    ----------
    rule
        The rule that failed.
    code
        The failing premise, of this rule or of a rule that it depends on.
    message
        The expected and the actual values.
    span
        The location in the source.
    values
        The operands of the current expression.
    origin
        The location where the faulty object was made; None if it came from outside, or if there is
        none.
    considered
        The candidate rules, each with its failing premise.
    configuration
        The last configuration.
    """

    rule: str
    code: str
    message: str
    span: Span | None = None
    values: tuple[Value, ...] = ()
    origin: Span | None = None
    considered: tuple[tuple[str, str], ...] = ()
    configuration: Any = None

    def numpy(self) -> Any:
        """Raises an error, because the run has no value."""
        raise RuntimeError(f"the run returned no value: {self}")

    def __str__(self) -> str:
        """``kind[CODE]: message``"""
        return f"{KINDS[type(self)]}[{self.code}]: {visible(self.message)}"


class CheckFailed(Ended):
    """A run-time check of the program failed: a cast, an entry, a return, an assertion."""


class Fault(Ended):
    """The program did something undefined: it divided by zero, indexed out of bounds, or used a
    killed value.
    """


class IllFormed(Ended):
    """The checker would have rejected this program."""


class Stuck(Ended):
    """No rule applies to a well-formed program: a bug in rlx."""


class OutOfFuel(Ended):
    """The run reached the limit of steps."""


class Unsupported(Ended):
    """The program is legal, but rlx cannot run it."""


KINDS: dict[type, str] = {
    Returned: "returned",
    CheckFailed: "check failed",
    Fault: "fault",
    IllFormed: "ill-formed",
    Stuck: "stuck",
    OutOfFuel: "out of fuel",
    Unsupported: "unsupported",
}
"""The names of outcomes."""
