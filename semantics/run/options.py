"""Shared parts of `rlx run` and `rlx step`: reading a program, choosing the entry, making the
arguments.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

from rlx.grammar.command_line import CommandParser, natural
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.processes import BUG
from rlx.grammar.streams import complain, complain_line

if TYPE_CHECKING:
    from rlx.checker.check import Report
    from rlx.semantics.machine import MachineProgram
    from rlx.semantics.outcome import Outcome
    from rlx.semantics.run.inputs import Inputs

BACKENDS = {
    "steps": "run PrimFuncs by the reference evaluator",
    "native": "run PrimFuncs as machine code",
    "vm": "compile the program for the virtual machine",
}
"""The choices of ``--backend``."""
EPILOG = """\
--input NAME=VALUE gives an argument. For a tensor VALUE is a .npy file, a literal (5, true, inf, nan,
[[1, 2], [3, 4]]) or one of rand, whole, zeros, ones, iota. For a tuple it is an .npz file or a literal: (5, [1, 2]),
(5,) or (). For a shape variable it is an integer: n=5. For a function it is a name: of a function of the module,
or of a packed one. A file stores elements of types that NumPy does not
have (bfloat16, int4, float8) as bytes.
Values that do not fit the parameter's type are rejected; floats are rounded to it. Missing inputs are inferred
from the others or generated at random, and listed.
{limit} Each step also grants a budget of loop iterations, which --iterations sets.
External functions are never looked up: a program that calls one ends as unsupported, or with a fault.

exit status: 0 a value was returned; 1 the run ended without one, or the checker found errors; 2 wrong
usage, an unreadable file or input; 3 out of fuel or unsupported; 101 a bug in the tool."""

RETURNED, ENDED, UNDECIDED = 0, 1, 3

STATUS = {
    "Returned": RETURNED,
    "CheckFailed": ENDED,
    "Fault": ENDED,
    "IllFormed": ENDED,
    "OutOfFuel": UNDECIDED,
    "Unsupported": UNDECIDED,
    "Stuck": BUG,
}
"""The exit status of each outcome."""


FUEL = 500_000
"""The default limit of steps: an endless recursion ends within five seconds and 200 MB."""

ITERATIONS = {"native": 5_000, "steps": 2}
"""The loop fuel of a PrimFunc for each step of the run's limit: an endless loop ends within
seconds.
"""


class UsageError(Exception):
    """Invalid use of the command, with the expected and the actual value."""


class Prepared:
    """A program that is ready to run.

    Attributes
    ----------
    source, report
        The text, and the checker's report.
    module, entry, function
        The module and the function to run.
    inputs
        Its arguments.
    """

    __slots__ = ("entry", "function", "inputs", "module", "report", "source")

    def __init__(
        self, report: Report, module: ast.IRModule, entry: str, function: ast.Function
    ) -> None:
        self.report, self.module, self.entry, self.function = report, module, entry, function
        self.source: Source = report.source
        self.inputs: Inputs


def parser(
    prog: str, description: str, limit: str, backends: Sequence[str] = ("steps", "native")
) -> argparse.ArgumentParser:
    """The arguments that both commands take. `limit`: a sentence about the option that limits the
    steps.
    """
    made = CommandParser(prog=prog, description=description, epilog=EPILOG.format(limit=limit))
    add = made.add_argument
    add("file", metavar="FILE", help="the program; - for standard input")
    add(
        "--format",
        choices=("human", "json"),
        default="human",
        help="the format of the output (default: human)",
    )
    add_inputs(made)
    add(
        "--iterations",
        type=natural,
        metavar="N",
        help=(
            "the budget of loop iterations that each step grants; an iteration of a while loop"
            f" counts as ten (default: {ITERATIONS['native']}, and {ITERATIONS['steps']} with"
            " --backend steps)"
        ),
    )
    add_memory(made)
    add(
        "--backend",
        choices=tuple(backends),
        default="native",
        help="; ".join(f"{name}: {BACKENDS[name]}" for name in backends) + " (default: native)",
    )
    return made


def add_memory(made: argparse.ArgumentParser, of: str = "") -> None:
    """Add the option that limits the memory of tensors. `of`: whose tensors they are, such as ``"
    in a run"``.
    """
    made.add_argument(
        "--memory",
        type=_bytes,
        metavar="SIZE",
        help=f"the largest memory of all tensors that are alive{of}, such as 512M or 2G (default:"
        " most of what the machine has)",
    )


def _bytes(text: str) -> int:
    from rlx.semantics.live_memory import parse

    try:
        return parse(text)
    except ValueError:
        words = f"expected a number of bytes, such as 512M or 2G, found {text!r}"
        raise argparse.ArgumentTypeError(words) from None


def add_inputs(made: argparse.ArgumentParser) -> None:
    """Add the options that say what is called, and with what."""
    add = made.add_argument
    words = "the function to call, or a PrimFunc (default: main, or the only one)"
    add("--entry", metavar="NAME", help=words)
    add(
        "--input",
        action="append",
        default=[],
        metavar="INPUT",
        help="an argument, as NAME=VALUE; repeatable",
    )
    add(
        "--inputs",
        metavar="FILE.npz",
        help="arguments by the names of the parameters, as np.savez writes them",
    )
    add(
        "--seed",
        type=natural,
        default=0,
        metavar="N",
        help="the seed of randomly generated inputs (default: 0)",
    )


def prepare(
    options: argparse.Namespace, *, whole: bool = False, text: str | None = None
) -> Prepared:
    """Read and check the program, and make the arguments. Raises UsageError if the file, the entry
    or an input is missing or invalid; IllFormedError if the checker finds errors.

    Parameters
    ----------
    whole
        Whether floats that are made up are small whole numbers.
    text
        The text of the program; None to read the file.
    """
    from rlx.semantics.run.inputs import InputError, inputs

    report, module, entry, function = checked_entry(options.file, options.entry, text)
    made = Prepared(report, module, entry, function)
    try:
        given = arguments(options, function)
        known = known_functions(module)
        # what was read from files is nobody else's, so it is not copied
        made.inputs = inputs(function, given, options.seed, known, overwrite=True, whole=whole)
    except InputError as error:
        raise UsageError(f"{at_fault(options, error)} {error}") from None
    return made


def arguments(options: argparse.Namespace, function: ast.Function) -> dict[str, object]:
    """The inputs by parameter: the arrays of ``--inputs``, and the texts of ``--input``, which win.
    Raises UsageError if an input is no NAME=VALUE, or the file cannot be read, or has a name that
    no parameter has.
    """
    found: dict[str, object] = {}
    if options.inputs is not None:
        from rlx.semantics.run.files import FileError
        from rlx.semantics.run.npz import arrays_of, inputs_by_parameter

        try:
            found = inputs_by_parameter(arrays_of(options.inputs), function, options.inputs)
        except FileError as error:
            raise UsageError(f"--inputs {error}") from None
    return found | given_inputs(options.input)


def at_fault(options: argparse.Namespace, error: Exception) -> str:
    """The option that gave the input which an error is about."""
    name = str(error).partition(":")[0].partition("[")[0].partition(".")[0]
    texts = {text.partition("=")[0].strip() for text in options.input}
    by_file = options.inputs is not None and name not in texts
    return f"--inputs {options.inputs}:" if by_file else "--input"


def known_functions(module: ast.IRModule) -> list[str]:
    """The names of functions that a parameter may be given: those of the module, and packed ones
    of the run time.
    """
    from rlx.semantics.machine.builtins import BUILTINS

    return [*(var.name_hint for var in module.functions), *BUILTINS]


def checked(path: str, name: str | None = None) -> ast.IRModule:
    """The module in a file, as :func:`checked_report` reads it."""
    return checked_report(path, name)[1]


def checked_report(path: str, name: str | None = None) -> tuple[Report, ast.IRModule]:
    """The report of the check of a file, and its module; definitions that are not read are told on
    stderr. Raises UsageError if the file cannot be read, or does not contain exactly one module and
    no name is given; IllFormedError if the checker finds errors.
    """
    report = _legal(path)
    found = [m for m in report.modules if name in (None, m.name)]
    if len(found) == 1:
        return report, found[0]
    known = ", ".join(m.name for m in report.modules) or "none"
    wanted = "one module" if name is None else f"one module {name!r}"
    raise UsageError(f"{path}: expected {wanted}, found {known}; select one with --module NAME")


def show_unread(report: Report) -> None:
    """Write a line to stderr for each definition of a legal text that rlx does not read."""
    for each in report.diagnostics:
        if each.code == "PARSE-decorator":
            complain_line(str(each))


def show_errors(report: Report) -> None:
    """Write the diagnostics of a report to stderr."""
    from rlx.checker.render import human
    from rlx.checker.render.files import FileReport
    from rlx.checker.render.human import theme_for

    file = FileReport(report.source.path, report.source, report.diagnostics, report.obligations)
    complain(human.render([file], theme_for(sys.stderr)))


def _read(path: str) -> str:
    from rlx.checker.driver.sources import text_in, why_no_text

    try:
        return text_in(path)
    except UnicodeDecodeError as error:
        raise UsageError(why_no_text(path, error)) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def checked_entry(
    path: str, name: str | None, text: str | None = None
) -> tuple[Report, ast.IRModule, str, ast.Function]:
    """The report of the check of a file, and the function that is called. `text`: the content of
    the file; None to read it. Raises UsageError if the file cannot be read, or has no such
    function; IllFormedError if the checker finds errors.
    """
    report = _legal(path, text)
    return report, *_entry(report, name)


def _legal(path: str, text: str | None = None) -> Report:
    from rlx.checker.check import IllFormedError, check_text

    report = check_text(_read(path) if text is None else text, path)
    if not report.ok:
        raise IllFormedError(report)
    show_unread(report)
    return report


def _entry(report: Report, name: str | None) -> tuple[ast.IRModule, str, ast.Function]:
    from rlx.semantics.machine.program import default_entry
    from rlx.semantics.run.kernels import entries, why_not

    found = entries(report.modules, name)
    name = default_entry(found) if name is None else name
    if name not in found:
        raise UsageError(f"{report.source.path}: {why_not(report.modules, name, found)}")
    module, function = found[name]
    return module, name, function


def given_inputs(texts: list[str]) -> dict[str, str]:
    """The inputs that are given as NAME=VALUE. Raises UsageError if one is not of that form, or
    given twice.
    """
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--input: expected NAME=VALUE, found {text!r}")
        if name.strip() in given:
            raise UsageError(f"--input {name.strip()}: given twice")
        given[name.strip()] = value.strip()
    return given


def program(
    prepared: Prepared, options: argparse.Namespace, output: Callable[[str], None]
) -> MachineProgram:
    """The program, prepared for the machine; ``output`` is called with each line that it prints."""
    from rlx.semantics.machine import load

    steps = getattr(options, "fuel", FUEL)
    iterations = options.iterations
    if iterations is None:
        iterations = {way: steps * each for way, each in ITERATIONS.items()}
    return load(prepared.module, backend=options.backend, output=output, iterations=iterations)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process even during machine code, which Python's handler would wait
    for.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def status(result: Outcome) -> int:
    """The exit status for an outcome."""
    return STATUS[type(result).__name__]
