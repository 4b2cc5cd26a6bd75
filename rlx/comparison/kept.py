"""One run with given inputs, repeated after each pass of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlx.comparison.compare import NoNameError, Run, against_named, outcome_of, recorded
from rlx.comparison.difference import apart
from rlx.comparison.rounding import collect
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Record
from rlx.semantics.machine.entries import NoEntryError, find_entry
from rlx.semantics.outcome import Ended, Outcome, Returned
from rlx.semantics.run.inputs import InputError, inputs
from rlx.semantics.values import Value


class Kept(Record):
    """The inputs of a run.

    Attributes
    ----------
    arrays
        Arrays by the names of parameters, as they are in a file.
    entry
        The function that is called; None for ``main``, or the only one.
    seed
        Of inputs that are not given.
    """

    arrays: Mapping[str, Any]
    entry: str | None = None
    seed: int = 0


class Ran(Record):
    """A run of one form of the program.

    Attributes
    ----------
    run
        The program, ready to run again.
    outcome
        How the run ended.
    first
        The form that shows how far rounding goes: later ones handle memory of a fixed size.
    """

    run: Run
    outcome: Outcome
    first: Run


def ran(module: ast.IRModule, text: str, kept: Kept, earlier: Ran | None) -> Ran | str:
    """Run a program with the inputs.

    Parameters
    ----------
    text
        Its text.
    earlier
        The run of another form, whose arguments are taken again.

    Returns
    -------
    Ran or str
        Why it cannot be run.
    """
    try:
        module, name, function, _ = find_entry([module], kept.entry)
    except NoEntryError as error:
        return str(error)
    if earlier is not None:
        args: Sequence[Value] = earlier.run.args
        if len(args) != len(function.params):
            return f"{name} has other parameters"
    else:
        try:
            args = arguments(function, kept)
        except InputError as error:
            return str(error)
    run = Run(module, Source(text), name, args)
    outcome = outcome_of(run)
    collect(run.size)
    return Ran(run, outcome, run if earlier is None else earlier.first)


def arguments(function: ast.Function, kept: Kept) -> Sequence[Value]:
    """The arguments for a function; names that are none of its parameters are left out.

    Raises
    ------
    InputError
        If an input does not fit.
    """
    from rlx.semantics.run.files import FileError
    from rlx.semantics.run.npz import inputs_by_parameter

    names = {param.name_hint for param in function.params}
    names |= {var.name for var in function.shape_vars}
    own = {
        key: array
        for key, array in kept.arrays.items()
        if key in names or key.rpartition(".")[0] in names or key.startswith("arr_")
    }
    try:
        return inputs(function, inputs_by_parameter(own, function, "the inputs"), kept.seed).values
    except FileError as error:
        raise InputError(str(error)) from None


def changed(before: Ran, after: Ran) -> str:
    """The change of the value from one form of the program to the next; empty if it is rounding
    alone, or none.
    """
    one, other = before.outcome, after.outcome
    if not isinstance(one, Returned):
        return ""
    if isinstance(other, Ended):
        return f"returned a value before, now {type(other).__name__} {other.code}: {other.message}"
    assert isinstance(other, Returned)
    said = different(before, one.value, other.value)
    return f"{said}{_first(before.run, after)}" if said else ""


def different(ran: Ran, expected: Value, found: Value) -> str:
    """The difference between a value and the expected one beyond rounding; empty if there is none."""
    far = apart(expected, found, ran.first.rounding_of_all)
    return "" if far is None else f"{ran.run.entry}: {far.said}"


def _first(run: Run, after: Ran) -> str:
    """The first binding that differs between two forms, by its name."""
    again = Run(run.source_module, run.source, run.entry, run.args)
    values, _ = recorded(after.run)
    try:
        found = against_named(again, values, "after").difference
    except NoNameError:
        return ""
    if found is None:
        return ""
    return f"\nthe first binding that differs: {found.spot.name}: {found.said}"
