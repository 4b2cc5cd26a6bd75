"""`rlx run` on the virtual machine: of a program, or of an executable."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlx.checker.driver.time_limit import lift
from rlx.commands.compiling import made_or_status
from rlx.commands.outputs import write_tensors
from rlx.grammar.nodes import ast
from rlx.grammar.processes import UNABLE
from rlx.grammar.streams import (
    complain,
    complain_line,
    json_text,
    say,
    say_line,
    visible,
    write_data,
)
from rlx.semantics.run.options import (
    ENDED,
    UNDECIDED,
    UsageError,
    arguments,
    at_fault,
    checked,
    interruptible,
)

if TYPE_CHECKING:
    from rlx.semantics.run.inputs import Inputs
    from rlx.semantics.values import Value
    from rlx.vm import Executable, RunError


def run(options: argparse.Namespace, prog: str) -> int:
    """Run an executable, or a program that is built before, and return the exit status."""
    made = made_or_status(prog, lambda: prepared(options))
    lift()  # the run has its own limits
    return made if isinstance(made, int) else _run(*made, options, prog)


def prepared(options: argparse.Namespace) -> tuple[Executable, str, Inputs]:
    """The executable that runs, the name of the function, and its inputs. Raises UsageError,
    LoadError, IllFormedError, PassError or OSError if there is nothing that could run.
    """
    from rlx.semantics.run.inputs import InputError

    executable = _executable(options.file, options.entry)
    entry, function = _entry(executable, options.entry)
    try:
        return executable, entry, _inputs(executable, function, options)
    except InputError as error:
        raise UsageError(f"{at_fault(options, error)} {error}") from None


def _executable(path: str, entry: str | None) -> Executable:
    from rlx.semantics.machine.entries import NoEntryError, find_entry
    from rlx.vm import Executable, build
    from rlx.vm.file_kind import is_executable

    if is_executable(path):
        return Executable.load(path)
    try:
        return build(find_entry([checked(path)], entry).module)
    except NoEntryError as error:
        raise UsageError(f"{path}: {error}") from None


def _entry(executable: Executable, name: str | None) -> tuple[str, ast.Function]:
    from rlx.grammar.read.parser import parse
    from rlx.semantics.machine.entries import default_entry

    known = {function.name: function for function in executable.functions}
    chosen = default_entry(known) if name is None else name
    if chosen not in known or chosen not in executable.signatures:
        names = ", ".join(n for n in known if n in executable.signatures) or "none"
        raise UsageError(f"no function {chosen!r}; functions that can be called: {names}")
    modules = parse(executable.signatures[chosen]).modules
    for function in (f for module in modules for f in module.relax_functions.values()):
        return chosen, function
    raise UsageError(f"the executable does not record the parameters of {chosen}")


def _inputs(executable: Executable, function: ast.Function, options: argparse.Namespace) -> Inputs:
    from rlx.semantics.machine.builtins import BUILTINS
    from rlx.semantics.run.inputs import inputs

    known = [*(each.name for each in executable.functions), *executable.kernels, *BUILTINS]
    return inputs(function, arguments(options, function), options.seed, known)


def _run(
    executable: Executable, entry: str, made: Inputs, options: argparse.Namespace, prog: str
) -> int:
    from rlx.semantics.outcome import KINDS
    from rlx.semantics.run.json_values import json_value
    from rlx.semantics.run.value_text import block
    from rlx.vm import OutOfFuelError, RunError, UnsupportedError, VirtualMachine

    printed: list[str] = []
    as_json = options.format == "json"
    output = printed.append if as_json else say_line
    machine = VirtualMachine(executable, output=output, fuel=options.fuel)
    try:
        with interruptible():
            if options.profile:
                profile = machine.profile_values(entry, made.values)
                complain(f"{profile}\n")
                assert profile.value is not None
                value: Value = profile.value
            else:
                value = machine.invoke(entry, made.values)
    except RunError as error:
        record = {"outcome": KINDS[error.outcome], "code": error.code, "message": error.message}
        if as_json:
            write_data(
                json_text({"version": 1, "entry": entry, "printed": printed, **record}) + "\n"
            )
        else:
            say("\n".join([*_ending(error), ""]))
        return UNDECIDED if isinstance(error, OutOfFuelError | UnsupportedError) else ENDED
    try:
        written = write_tensors(value, options.out)
    except UsageError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    for note in machine.notes:
        complain_line(f"rlx run: {note}")
    if as_json:
        ended = {"outcome": "returned", "value": json_value(value)}
        write_data(json_text({"version": 1, "entry": entry, "printed": printed, **ended}) + "\n")
    else:
        say(f"{visible(entry)} returned\n{block(value)}\n")
    for path in written:
        complain_line(f"written: {path}")
    return 0


def _ending(error: RunError) -> Iterator[str]:
    from rlx.semantics.outcome import KINDS

    yield f"{KINDS[error.outcome]}[{error.code}]: {visible(error.message)}"
    if error.code in _MORE:
        yield f"  = raise the limit with {_MORE[error.code]}"
    places: Sequence[tuple[str, int] | None] = (error.place, *reversed(error.calls))
    for place in places:
        if place is not None:
            yield f"  = in {visible(place[0])}, instruction {place[1]}"


_MORE = {
    "V-fuel-left": "--fuel N",
    "E-alloc-size": "--memory SIZE, if the system has more",
    "E-result-memory-there": "--memory SIZE, if the system has more",
}
"""The option that raises each limit."""
