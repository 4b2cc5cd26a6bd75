"""`rlx relay`: programs in Relay's text format, checked, converted, and run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rlx.commands.outputs import add_format
from rlx.grammar.command_line import CommandParser, natural
from rlx.grammar.processes import BUG, UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import (
    complain,
    complain_line,
    json_text,
    say,
    visible,
    write_data,
    write_program,
)
from rlx.semantics.run.options import ENDED, STATUS, UsageError, given_inputs

if TYPE_CHECKING:
    from rlx.checker.render.files import FileReport
    from rlx.grammar.diagnostic import Diagnostic, Source
    from rlx.relay.checking import RelayReport
    from rlx.relay.nodes import RelayModule
    from rlx.semantics.outcome import Outcome

ACTIONS = ("check", "to-anf", "to-graph", "to-relax", "run")
EPILOG = """\
check      report syntax errors, and violations of the rules for types and shapes; in a directory, check
           all .relay files
to-anf     print the program in A-normal form: each node bound by a let, in the scope that evaluates it
to-graph   print the program as a graph: lets become shared nodes where that changes nothing
to-relax   print the program in Relax
run        run a function; --input NAME=VALUE gives an argument as for `rlx run`; missing ones are generated

exit status: 0 done; 1 the program has errors, or the run ended without a value; 2 wrong usage or an
unreadable file; 3 out of fuel or unsupported; 101 a bug in the tool."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx relay") -> int:
    """Run the command, and return the exit status."""
    parser = _parser(prog)
    options = parser.parse_args(argv)
    if options.action == "check":
        return _check(options.files, options.format)
    if len(options.files) > 1:
        parser.error(f"{options.action} takes one file")
    if options.format == "json" and options.action != "run":
        parser.error(f"{options.action} prints a program; --format json is for check and run")
    try:
        source = _read(options.files[0])
        given = given_inputs(options.input)
    except UsageError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    from rlx.relay.parser import read

    found = read(source.text, source.path)
    if found.module is None:
        return _refused(found.diagnostics, source)
    if options.action == "run":
        return _run(found.module, source, given, options, prog)
    if options.action == "to-relax":
        return _to_relax(found.module, source)
    write_program(_CONVERSIONS[options.action](found.module))
    return 0


def _parser(prog: str) -> CommandParser:
    parser = CommandParser(
        prog=prog, description="Check, convert or run a program of Relay.", epilog=EPILOG
    )
    add = parser.add_argument
    add("action", choices=ACTIONS, metavar="ACTION", help=f"one of {', '.join(ACTIONS)}")
    add(
        "files",
        nargs="+",
        metavar="FILE",
        help="the program; - for standard input; check takes several files and directories",
    )
    add_format(parser, "what check and run print")
    add("--entry", metavar="NAME", default="main", help="the function to run (default: main)")
    add("--input", action="append", default=[], metavar="INPUT", help="an argument, as NAME=VALUE")
    add(
        "--seed",
        type=natural,
        default=0,
        metavar="N",
        help="seed for randomly generated inputs (default: 0)",
    )
    add("--fuel", type=natural, default=None, metavar="N", help="evaluate at most N nodes")
    return parser


def _read(path: str) -> Source:
    """The text of a file, with its name as messages say it. Raises UsageError if it cannot be read."""
    from rlx.checker.driver.sources import displayed, source_of

    try:
        source, problem = source_of(path, displayed(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if problem is not None:
        raise UsageError(f"{source.path}: {problem.message}")
    return source


def _anf(module: RelayModule) -> str:
    from rlx.relay import print_module, to_anf

    return print_module(to_anf(module))


def _graph(module: RelayModule) -> str:
    from rlx.relay import print_module, to_graph

    return print_module(to_graph(module))


_CONVERSIONS: dict[str, Callable[[RelayModule], str]] = {"to-anf": _anf, "to-graph": _graph}


def _check(paths: Sequence[str], form: str) -> int:
    from rlx.checker.driver.check_files import report_of
    from rlx.checker.driver.time_limit import Lost, each_limited, lift
    from rlx.checker.render import human, json
    from rlx.checker.render.human import theme_for

    lift()  # each file has its own limit
    files = []
    for made in each_limited(_listed(paths), lambda path: _checked(path, form == "human")):
        if isinstance(made, Lost):
            files.append(report_of(made))
        else:
            file, types = made
            files.append(file)
            say(types)
    if form == "json":
        write_data(json.render(files))
    else:
        say(human.render(files, theme_for(sys.stdout)))
    if any(file.outcome == "crashed" for file in files):
        return BUG
    if any(file.outcome != "checked" for file in files) or not files:
        return UNABLE
    wrong = any(d.is_error for file in files for d in file.diagnostics)
    return ENDED if wrong else 0


def _listed(paths: Sequence[str]) -> list[str]:
    """The files that the paths mean; a directory stands for all .relay files in it."""
    from pathlib import Path

    from rlx.checker.driver.sources import endless

    found: dict[str, None] = {}
    for path in paths:
        inside = (
            sorted(
                each
                for each in Path(path).rglob("*.relay")
                if not (each.is_dir() or endless(str(each)))
            )
            if path != "-" and Path(path).is_dir()
            else []
        )
        found.update(dict.fromkeys(map(str, inside) if inside else [path]))
    return list(found)


def _checked(path: str, types: bool) -> tuple[FileReport, str]:
    """The report on one file, and the types of its functions if they are asked for."""
    from rlx.checker.driver.sources import displayed
    from rlx.checker.render.files import FileReport
    from rlx.grammar.diagnostic import Diagnostic
    from rlx.grammar.print.info import TooLongError
    from rlx.relay.checking import check

    try:
        source = _read(path)
    except UsageError as error:
        words = f"cannot read this file: {str(error).rpartition(': ')[2]}"
        if os.path.isdir(path):
            words = "no file in this directory is called *.relay"
        found = Diagnostic("READ", "error", words, None)
        return FileReport(displayed(path), None, (found,), outcome="unreadable"), ""
    report = check(source.text, source.path)
    try:
        signatures = "".join(_signatures(report)) if types else ""
    except TooLongError as error:
        signatures = f"{error}\n\n"
    file = FileReport(source.path, report.source, report.diagnostics, report.obligations)
    return file, signatures


def _signatures(report: RelayReport) -> list[str]:
    """The types of the functions, if there is no error."""
    from rlx.relay.type_text import relay_type

    if not report.ok:
        return []
    lines = [
        f"@{visible(name)}: {visible(relay_type(info))}\n" for name, info in report.types.items()
    ]
    return [*lines, "\n"] if lines else []


def _refused(diagnostics: Sequence[Diagnostic], source: Source) -> int:
    """Report what is wrong on standard error."""
    from rlx.checker.render import human
    from rlx.checker.render.files import FileReport
    from rlx.checker.render.human import theme_for

    files = [FileReport(source.path, source, tuple(diagnostics))]
    complain(human.render(files, theme_for(sys.stderr)))
    return ENDED


def _to_relax(module: RelayModule, source: Source) -> int:
    from rlx.checker.render import human
    from rlx.checker.render.files import FileReport
    from rlx.checker.render.human import theme_for
    from rlx.grammar.print.printer import print_module
    from rlx.relay.translation import translate

    made = translate(module, source.path)
    if any(d.is_error for d in made.diagnostics):
        return _refused(made.diagnostics, source)
    notes = sorted((*made.diagnostics, *made.losses), key=lambda note: note.span or (0, 0))
    file = FileReport(source.path, source, tuple(notes))
    for note in notes:
        shown = human.render_diagnostic(note, file, theme_for(sys.stderr))
        complain(f"{shown}\n\n")
    write_program(print_module(made.module))
    return 0


def _run(
    module: RelayModule, source: Source, given: object, options: argparse.Namespace, prog: str
) -> int:
    from rlx.checker.driver.time_limit import lift
    from rlx.grammar.suggest import misspelt
    from rlx.relay.evaluation import FUEL, Evaluator
    from rlx.relay.translation import translate
    from rlx.semantics.run.inputs import InputError, inputs

    names = {var.name: var for var in module.functions}
    if options.entry not in names:
        words = f"{prog}: no function {options.entry!r}; the module has: {', '.join(names)}"
        complain_line(misspelt(words, options.entry, names))
        return UNABLE
    made = translate(module, source.path)
    if any(d.is_error for d in made.diagnostics):
        return _refused(made.diagnostics, source)
    function = made.module.functions[made.names[names[options.entry]]]
    try:
        arguments = inputs(function, given, options.seed)  # type: ignore[arg-type]
    except InputError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    fuel = FUEL if options.fuel is None else options.fuel
    lift()
    result = Evaluator(module).run(options.entry, arguments.values, fuel)
    if options.format == "json":
        write_data(_ended_json(result, options.entry, source))
    else:
        say(_ended(result, options.entry, source))
    return STATUS[type(result).__name__]


def _ended(result: Outcome, entry: str, source: Source) -> str:
    """The end of a run, for people."""
    from rlx.semantics.outcome import KINDS, Ended, Returned
    from rlx.semantics.run.value_text import block

    if isinstance(result, Returned):
        return f"{visible(entry)} returned\n{block(result.value)}\n"
    assert isinstance(result, Ended)
    said = f"{KINDS[type(result)]}[{result.code}]: {visible(result.message)}\n"
    if result.span is None:
        return said
    line, column = source.position(result.span[0])
    return f"{said} --> {visible(source.path)}:{line}:{column}\n"


def _ended_json(result: Outcome, entry: str, source: Source) -> str:
    """The end of a run, as `rlx run --format json` reports it."""
    from rlx.semantics.outcome import KINDS, Ended, Returned
    from rlx.semantics.run.json_values import json_value

    said: dict[str, object] = {"version": 1, "path": source.path, "entry": entry}
    said["outcome"] = KINDS[type(result)]
    if isinstance(result, Returned):
        said["value"] = json_value(result.value)
    else:
        assert isinstance(result, Ended)
        said |= {"code": result.code, "message": result.message}
        if result.span is not None:
            said["line"], said["column"] = source.position(result.span[0])
    return json_text(said) + "\n"
