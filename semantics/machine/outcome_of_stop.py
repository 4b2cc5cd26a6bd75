"""Conversion of exceptions of rules to outcomes of runs."""

from __future__ import annotations

import re

from rlx.grammar.nodes.node import Span
from rlx.semantics import faults, outcome
from rlx.semantics.machine.configuration import Configuration, Frame
from rlx.semantics.values import Value

OUTCOMES: dict[type, type[outcome.Ended]] = {
    faults.FaultStop: outcome.Fault,
    faults.OutOfFuelStop: outcome.OutOfFuel,
    faults.UnsupportedStop: outcome.Unsupported,
    faults.CheckStop: outcome.CheckFailed,
    faults.IllFormedStop: outcome.IllFormed,
}
"""The outcome for each exception."""
_TOO_MANY_DIMENSIONS = re.compile(
    r"maximum supported dimension|number of dimensions must be|ndmin must be"
)
"""NumPy's message about more dimensions than it has; 64 in the present version."""


def ended(
    stop: Exception,
    c: Configuration | None,
    rule: str = "",
    values: tuple[Value, ...] = (),
    span: Span | None = None,
) -> outcome.Ended:
    """The outcome of a run that an exception ended.

    Parameters
    ----------
    stop
        The exception; anything except a :class:`~rlx.semantics.faults.Stop` is a bug in this tool,
        and a :class:`MemoryError` is the limit of the system.
    c
        The last configuration, if there is one; otherwise ``rule``, ``values`` and ``span`` give
        the location.
    """
    if isinstance(stop, MemoryError):
        stop = faults.FaultStop("E-alloc-size", f"out of memory: {stop}".rstrip(": "))
    if isinstance(stop, ValueError | IndexError) and _TOO_MANY_DIMENSIONS.search(str(stop)):
        words = f"a tensor has more dimensions than NumPy supports: {stop}"
        stop = faults.UnsupportedStop("E-evaluate-possible", words)
    if c is not None:
        rule, values, span = c.at.rule, _operands(c), c.at.span
    code = getattr(stop, "code", rule)
    words = str(stop)
    kind = OUTCOMES.get(type(stop), outcome.Stuck)
    considered: tuple[tuple[str, str], ...] = getattr(stop, "considered", ())
    if kind in (outcome.Stuck, outcome.IllFormed):
        if kind is outcome.Stuck:
            words = f"{type(stop).__name__}: {stop}"
        considered = considered or ((rule, f"{code}: {words}"),)
    at = getattr(stop, "span", None) or span
    sought = _at_fault(stop, values)
    return kind(rule, code, words, at, values, _origin(c, sought), considered, c)


def _operands(c: Configuration) -> tuple[Value, ...]:
    """The operands of the redex, as far as they have values."""
    found = []
    for read in c.at.operands:
        try:
            value = read(c.frame)
        except (faults.Stop, IndexError):
            continue
        if isinstance(value, Value):
            found.append(value)
    return tuple(found)


def _at_fault(stop: Exception, values: tuple[Value, ...]) -> object:
    """The value at fault: the one that the rule names, else the operand if there is only one."""
    named: object = getattr(stop, "value", None)
    if named is None and len(set(map(id, values))) == 1:
        return values[0]
    return named


def _origin(c: Configuration | None, sought: object) -> Span | None:
    """The place where an object was made: that of its first appearance on the stack."""
    if c is None or sought is None:
        return None
    frame: Frame | None = c.frame
    found: Span | None = None
    while frame is not None:
        index = next((i for i, value in enumerate(frame.slots) if value is sought), None)
        if index is not None:
            found = frame.code.scope.spans[index] or found
        elif frame.outer is None and found is not None:
            break  # its caller does not have it: it was made here
        frame = frame.caller
    return found
