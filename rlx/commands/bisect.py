"""`rlx bisect`: the first pass of a pipeline of TVM that breaks a program."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.bisect.blame import INPUT, Blame, Pipeline

if TYPE_CHECKING:
    from rlx.bisect.process import Process

FINE, BLAMED, UNABLE = 0, 1, 2

EPILOG = """\
The program is checked before the first pass and after each one, and, unless --no-run is given, run on inputs of several sizes.
A pass is to blame if it makes a module with errors that were not there before, if what it makes returns other values, if it raises
an error, ends the process, or does not end. The program is then reduced while the same pass does the same.

exit status: 0 all passes went well; 1 a pass is to blame, or the program itself is wrong; 2 wrong usage, an unreadable file,
no such pipeline, or no TVM."""


def main(argv: Sequence[str], prog: str = "rlx bisect") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
    from rlx.bisect.process import Process, UnusableError

    options = _parser(prog).parse_args(argv)
    text = _text(options.file, options.module, prog)
    if text is None:
        return UNABLE
    wrong = _wrong(text)
    if wrong is not None and options.format == "human":
        sys.stderr.write(f"{prog}: the program is wrong before the first pass\n\n{wrong.message}\n")
        return BLAMED
    pipeline = Pipeline(
        options.pipeline, options.target, () if options.no_run else options.sizes, options.seed
    )
    if wrong is not None:
        return _put(wrong, pipeline, text, len(text.splitlines()), options)
    with Process(pipeline, options.patience) as process:
        try:
            blame = process.examine(text)
        except UnusableError as error:
            sys.stderr.write(f"{prog}: --pipeline {options.pipeline}: {error}\n")
            return UNABLE
        program = text
        if blame is not None and not options.no_reduce:
            program, blame = _reduced(text, blame, process, options.seconds)
    return _put(blame, pipeline, program, len(text.splitlines()), options)


def _wrong(text: str) -> Blame | None:
    """What the checker has against the program itself."""
    from rlx.api import check

    report = check(text)
    if report.ok:
        return None
    return Blame(INPUT, "illegal", report.errors[0].code, str(report).strip(), (), text)


def _put(
    blame: Blame | None, pipeline: Pipeline, program: str, lines: int, options: argparse.Namespace
) -> int:
    from rlx.bisect.report import markdown, record

    if options.format == "json":
        sys.stdout.write(record(blame, pipeline, options.file, program))
        return FINE if blame is None else BLAMED
    if blame is None:
        sys.stdout.write(f"{options.file}: no pass of {pipeline.expression} did anything wrong\n")
        return FINE
    report = markdown(blame, pipeline, program, lines)
    if options.output:
        Path(options.output).write_text(report, "utf-8")
        sys.stdout.write(f"{options.file}: {blame.title}; the report is in {options.output}\n")
    else:
        sys.stdout.write(report)
    return BLAMED


def _text(path: str, name: str | None, prog: str) -> str | None:
    """The program in the dialect of the TVM that is tested; None where it cannot be had, and that has been said."""
    from rlx.api import show
    from rlx.grammar.diagnostic import Source
    from rlx.grammar.parser import ParseError
    from rlx.subject import SubjectError, module_of

    subject: object = Path(path)
    try:
        if path == "-":
            subject = Source(sys.stdin.read(), "<stdin>")
        return show(module_of(subject, name))
    except ParseError as error:
        for diagnostic in error.diagnostics:
            sys.stderr.write(f"{diagnostic}\n")
    except (SubjectError, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{prog}: {error}\n")
    return None


def _reduced(text: str, blame: Blame, process: Process, seconds: float) -> tuple[str, Blame]:
    """The smallest program found for which the same pass does the same, and what it does there."""
    from rlx.generate.reduce.texts import reduced

    deadline = time.monotonic() + seconds
    found = {text: blame}

    def same(candidate: str) -> bool:
        if time.monotonic() > deadline:
            return False
        now = process.examine(candidate)
        if now is None or not now.like(blame):
            return False
        found[candidate] = now
        return True

    smallest = reduced(text, same)
    return smallest, found.get(smallest, blame)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Find the first pass of a pipeline of TVM that breaks a program.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the program, .rlx or .py; - for standard input")
    add("--module", metavar="NAME", help="which module, where the file holds several")
    add(
        "--pipeline",
        default="default",
        metavar="PIPELINE",
        help="a name that relax.get_pipeline knows, or a Python expression over tvm and relax that gives a pass "
        "(default: default)",
    )
    add("--target", default="llvm", help="the target in whose scope the passes run (default: llvm)")
    add("--no-run", action="store_true", help="check only; do not compare what the program returns")
    add(
        "--sizes",
        type=_sizes,
        default=(3, 1),
        metavar="N,N",
        help="the numbers that shape variables get in runs (3,1)",
    )
    add("--no-reduce", action="store_true", help="report the program as it is")
    add("--seconds", type=float, default=60.0, metavar="S", help="so long it is reduced (60)")
    add(
        "--patience",
        type=float,
        default=120.0,
        metavar="S",
        help="so long one run through the passes may take (120)",
    )
    add("--seed", type=int, default=0, metavar="N", help="of the inputs (0)")
    add("--format", choices=("human", "json"), default="human")
    add("-o", "--output", metavar="PATH", help="write the report there")
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise argparse.ArgumentTypeError(
            f"expected numbers from 0 with commas between, found {text!r}"
        )
    return tuple(int(part) for part in parts)
