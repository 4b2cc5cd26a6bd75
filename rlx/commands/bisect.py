"""`rlx bisect`: the first pass of a pipeline of TVM that breaks a program."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.bisect.blame import INPUT, Blame, Fine, Pipeline
from rlx.checker.driver.time_limit import lift
from rlx.commands.outputs import add_format, refused
from rlx.grammar.command_line import CommandParser, natural, seconds
from rlx.grammar.nodes.encoded import files_in
from rlx.grammar.nodes.node import replace
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain, complain_line, say, say_line, write_data
from rlx.semantics.run.options import add_memory
from rlx.writing import scratch, write

if TYPE_CHECKING:
    from rlx.bisect.process import Process

FINE, BLAMED = 0, 1

SIZES = (3, 1)
"""The sizes of shape variables in runs, where none are given."""

KNOWN = "findings"
"""The default folder of known findings; there need not be one."""

EPILOG = """\
The command checks the program before the first pass and after each one. Unless --no-run is given, it also runs the
program on inputs of several sizes. A pass is to blame if its result has new errors or returns other values, or if the
pass raises an error, ends the process, or exceeds the time limit. The command then reduces the program as long as the
same pass fails in the same way. A difference that findings of the kind by-choice describe is no pass's fault. With
the default pipeline the result is also built.

exit status: 0 no pass is to blame; 1 a pass is to blame, or the program itself is wrong; 2 wrong usage, an unreadable
file, an unknown pipeline, or no TVM."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx bisect") -> int:
    """Run the command, and return the exit status."""
    parser = _parser(prog)
    options = parser.parse_args(argv)
    if options.inputs and options.no_run:
        parser.error("--no-run: nothing runs on the inputs of --inputs then")
    if options.entry and not options.inputs:
        parser.error("--entry: this is the function that --inputs are for, and there are none")
    if options.known is not None and not os.path.isdir(options.known):
        parser.error(f"--known {options.known}: no such directory")
    if options.output and (said := refused(options.output, options.file)) is not None:
        complain_line(f"{prog}: --output {said}")
        return UNABLE
    with scratch() as folder, files_in(str(folder)):
        return _bisected(options, prog, folder)


def _bisected(options: argparse.Namespace, prog: str, folder: Path) -> int:
    """Find the pass. `folder`: for the large constants of the program."""
    text = _text(options.file, options.module, folder, prog)
    if text is None:
        return UNABLE
    wrong = _wrong(text)
    if wrong is not None and options.format == "human":
        complain_line(f"{prog}: the program is wrong before the first pass")
        complain(f"\n{wrong.message}\n")
        return BLAMED
    if wrong is None and options.inputs and (said := _misfit(options, text)) is not None:
        complain_line(f"{prog}: --inputs {said}")
        return UNABLE
    pipeline = Pipeline(
        options.pipeline,
        options.target,
        () if options.no_run else options.sizes or (() if options.inputs else SIZES),
        options.seed,
        options.memory,
        options.known or (KNOWN if os.path.isdir(KNOWN) else None),
        options.pipeline == "default" and not options.no_build,
        options.refine,
        options.inputs,
        options.entry,
        str(folder),
    )
    if wrong is not None:
        return _put(wrong, pipeline, text, len(text.splitlines()), options)
    from rlx.bisect.process import Process, UnusableError

    lift()  # each stage has its own limit
    with Process(pipeline, options.patience) as process:
        try:
            found = process.examine(text)
            program, given = text, found
            if isinstance(found, Blame) and not options.no_reduce:
                program, found = _reduced(text, found, process, options.seconds)
        except UnusableError as error:
            complain_line(f"{prog}: {error}")
            return UNABLE
    whole = given.message if isinstance(given, Blame) and program != text else None
    return _put(found, pipeline, program, len(text.splitlines()), options, whole)


def _wrong(text: str) -> Blame | None:
    """The errors that the checker finds in the program itself."""
    from rlx.api import check

    report = check(text)
    if report.ok:
        return None
    return Blame(INPUT, "illegal", report.errors[0].code, str(report).strip(), (), text)


def _misfit(options: argparse.Namespace, text: str) -> str | None:
    """Why the program cannot be called with the inputs."""
    from rlx.api import parse
    from rlx.comparison.compare import InputsError, Run
    from rlx.grammar.diagnostic import Source
    from rlx.semantics.machine.entries import NoEntryError, find_entry
    from rlx.semantics.run.files import FileError
    from rlx.semantics.run.inputs import InputError, inputs
    from rlx.semantics.run.npz import arrays_of, inputs_by_parameter

    try:
        module, name, function, _ = find_entry([parse(text)], options.entry)
        found = inputs_by_parameter(arrays_of(options.inputs), function, options.inputs)
        values = inputs(function, found, options.seed).values
        Run(module, Source(text), name, values).accepted()
    except FileError as error:
        return str(error)
    except (NoEntryError, InputError, InputsError) as error:
        return f"{options.inputs}: {error}"
    return None


def _put(
    found: Blame | Fine,
    pipeline: Pipeline,
    program: str,
    lines: int,
    options: argparse.Namespace,
    whole: str | None = None,
) -> int:
    from rlx.bisect.report import WEIGHTS, arrays, markdown, nothing, record
    from rlx.grammar.print.weights import without_files
    from rlx.semantics.run.npz import save

    large = isinstance(found, Blame) and without_files(program) != program
    beside = Path(options.output or WEIGHTS).with_suffix(".weights.npz")
    if options.format == "json":
        text = record(found, pipeline, options.file, program)
    elif isinstance(found, Fine):
        text = nothing(found, pipeline, options.file)
    else:
        text = markdown(found, pipeline, program, lines, whole, str(beside))
    if large and options.output:
        save(beside, arrays(program))
    elif large:
        complain_line(f"large constants are left out; with -o PATH they are in {beside}")
    if options.output:
        write(options.output, text)
        title = found.title if isinstance(found, Blame) else "no pass is to blame"
        say_line(f"{options.file}: {title}; the report is in {options.output}")
    elif options.format == "json":
        write_data(text)
    else:
        say(text)
    return FINE if isinstance(found, Fine) else BLAMED


def _text(path: str, name: str | None, folder: Path, prog: str) -> str | None:
    """The program in the dialect of the tested TVM, with its large constants in a folder; None if
    it cannot be read, after a message.
    """
    from rlx.checker.driver.sources import text_in
    from rlx.grammar.diagnostic import Source
    from rlx.grammar.print.weights import print_with_weights, stored
    from rlx.grammar.read.parser import ParseError
    from rlx.subject import SubjectError, module_of, why_unreadable
    from rlx.tvm.importing import NoImportError, imported, is_imported

    subject: object = Path(path)
    try:
        if is_imported(path):
            subject = Source(imported(path, folder), path)
        if path == "-":
            subject = Source(text_in(path), "<stdin>")
        module = stored(module_of(subject, name), folder)
        # TVM's passes take modules, so a function alone becomes one
        return print_with_weights(replace(module, name=module.name or "Module", bare=False))
    except ParseError as error:
        for diagnostic in error.diagnostics:
            complain_line(f"{diagnostic}")
    except NoImportError as error:
        complain_line(f"{prog}: {error}")
    except (SubjectError, OSError, UnicodeDecodeError) as error:
        complain_line(f"{prog}: {why_unreadable(path, error)}")
    return None


def _reduced(text: str, blame: Blame, process: Process, seconds: float) -> tuple[str, Blame]:
    """The smallest program found on which the same pass fails in the same way, and that failure."""
    from rlx.generate.reduce.search import reduced

    deadline = time.monotonic() + seconds
    found = {text: blame}

    def same(candidate: str) -> bool:
        if time.monotonic() > deadline:
            return False
        if _wrong(candidate) is not None:
            return False  # an ill-formed program shows nothing about a pass
        now = process.examine(candidate)
        if not isinstance(now, Blame) or not now.like(blame):
            return False
        found[candidate] = now
        return True

    smallest = reduced(text, same)
    return smallest, found.get(smallest, blame)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=prog,
        description="Find the first pass of a pipeline of TVM that breaks a program.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the model: .rlx, .py, .json, .onnx, .pt2; - for stdin")
    add("--module", metavar="NAME", help="the module to compile, if the file has several")
    add(
        "--pipeline",
        default="default",
        metavar="PIPELINE",
        help=(
            "a name that relax.get_pipeline knows, or a Python expression over tvm and relax that"
            " gives a pass (default: default)"
        ),
    )
    add("--target", default="llvm", help="the target that the passes compile for (default: llvm)")
    add(
        "--inputs",
        metavar="FILE.npz",
        help=(
            "arguments by the names of the parameters; the program runs on them before and after"
            " each pass, and in TVM's virtual machine"
        ),
    )
    add("--entry", metavar="NAME", help="the function that --inputs are for (default: main)")
    add("--no-run", action="store_true", help="check only; do not compare what the program returns")
    add(
        "--refine",
        action="store_true",
        help="prove after each pass that the program means the same for all sizes, where possible",
    )
    add(
        "--sizes",
        type=_sizes,
        metavar="N,N",
        help="the sizes of the shape variables in runs (default: 3,1; with --inputs, no such runs)",
    )
    add("--no-build", action="store_true", help="do not build what the default pipeline has made")
    add(
        "--known",
        metavar="DIR",
        help=f"the folder of findings that tell differences by choice (default: {KNOWN}, if there)",
    )
    add("--no-reduce", action="store_true", help="do not reduce the program")
    add(
        "--seconds",
        type=seconds,
        default=60.0,
        metavar="S",
        help="the time limit of the reduction in seconds (default: 60)",
    )
    add(
        "--patience",
        type=seconds,
        default=120.0,
        metavar="S",
        help="the time limit of one pass in seconds (default: 120)",
    )
    add("--seed", type=natural, default=0, metavar="N", help="the seed of the inputs (default: 0)")
    add_memory(parser, " in a run")
    add_format(parser, "the report")
    add("-o", "--output", metavar="PATH", help="write the report to this file")
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(natural(part) for part in text.split(","))
