"""`rlx reduce`: the smallest program for which a command still succeeds."""

from __future__ import annotations

import argparse
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from rlx.checker.driver.time_limit import lift
from rlx.commands.outputs import add_format, print_record, refused
from rlx.commands.project import add_options, loaded
from rlx.generate.reduce.search import reduced
from rlx.grammar.command_line import CommandParser
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain, complain_line, write_program
from rlx.subject import SubjectError, source_of, why_unreadable
from rlx.writing import scratch, scribble, write

REDUCED, BORING = 0, 1

EPILOG = """\
COMMAND runs in the shell (sh). {} stands for the path of a candidate; without {} the path is appended. Exit status 0
keeps the candidate. The command may meet programs that break any rule. If you interrupt it, the smallest program so
far is written.

exit status: 0 a reduced program was written; 1 COMMAND fails on the file itself; 2 wrong usage or
an unreadable file."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx reduce") -> int:
    """Run the command, and return the exit status."""
    parser = _parser(prog)
    options = parser.parse_args(argv)
    if not options.test.strip():
        parser.error("--test: expected a command, found an empty string")
    if not loaded(options, prog):
        return UNABLE
    if options.output and (said := refused(options.output, options.file)) is not None:
        complain_line(f"{prog}: --output {said}")
        return UNABLE
    try:
        text = source_of(Path(options.file)).text
    except (SubjectError, OSError) as error:
        complain_line(f"{prog}: {why_unreadable(options.file, error)}")
        return UNABLE
    lift()  # the user's command takes its time
    with scratch() as folder:
        trial = _Trial(options.test, folder / f"candidate{Path(options.file).suffix}")
        if not trial(text):
            complain_line(f"{prog}: {options.test}: fails on {options.file}")
            return BORING
        try:
            smallest = reduced(text, trial)
        except KeyboardInterrupt:
            _put(options, trial.smallest)
            raise
    before, after = len(text.splitlines()), len(smallest.splitlines())
    complain(f"{before} lines became {after}, in {trial.count} runs\n")
    if options.format == "human":
        return _put(options, smallest)
    status = _put(options, smallest) if options.output else REDUCED
    if status == REDUCED:
        print_record(
            file=options.file,
            lines={"before": before, "after": after},
            runs=trial.count,
            written=options.output,
            program=smallest,
        )
    return status


def _put(options: argparse.Namespace, smallest: str) -> int:
    if not options.output:
        write_program(smallest if smallest.endswith("\n") else f"{smallest}\n", exactly=True)
        return REDUCED
    try:
        write(options.output, smallest)
    except OSError as error:
        complain_line(f"rlx reduce: {options.output}: {error.strerror}")
        return UNABLE
    return REDUCED


class _Trial:
    """Runs the command on candidates."""

    def __init__(self, command: str, path: Path) -> None:
        name = shlex.quote(str(path))
        filled = command.replace("{}", name) if "{}" in command else f"{command} {name}"
        self.words = ["/bin/sh", "-c", filled]
        self.path = path
        self.count = 0
        self.smallest = ""

    def __call__(self, text: str) -> bool:
        self.count += 1
        scribble(self.path, text)
        done = subprocess.run(
            self.words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            self.smallest = text
        return done.returncode == 0


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=prog,
        description="Make a program smaller while a command succeeds on it.",
        epilog=EPILOG,
    )
    parser.add_argument("file", metavar="FILE", help="the program")
    parser.add_argument(
        "--test", required=True, metavar="COMMAND", help="the command that must succeed"
    )
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="write the program to this file (default: stdout)"
    )
    add_format(parser)
    add_options(parser)
    return parser
