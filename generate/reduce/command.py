"""`rlx reduce`: the smallest program for which a command still succeeds."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

REDUCED, BORING, UNABLE = 0, 1, 2

EPILOG = """\
The command is run with the path of a candidate in place of {}, or behind it where there is no {}; exit
status 0 says that the candidate is still interesting. It may meet programs that break any rule.

exit status: 0 a reduced program was written; 1 the file itself is not interesting; 2 wrong usage or
an unreadable file."""


def main(argv: Sequence[str], prog: str = "rlx reduce") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
    options = _parser(prog).parse_args(argv)
    try:
        text = Path(options.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{prog}: {options.file}: {error}\n")
        return UNABLE
    with TemporaryDirectory(prefix="rlx-reduce-") as folder:
        trial = _Trial(options.test, Path(folder) / f"candidate{Path(options.file).suffix}")
        if not trial(text):
            sys.stderr.write(f"{prog}: {options.test}: does not succeed on {options.file}\n")
            return BORING
        smallest = reduced(text, trial)
    sys.stderr.write(
        f"{len(text.splitlines())} lines became {len(smallest.splitlines())}, in {trial.count} runs\n"
    )
    if options.output:
        Path(options.output).write_text(smallest, encoding="utf-8")
    else:
        sys.stdout.write(smallest if smallest.endswith("\n") else f"{smallest}\n")
    return REDUCED


def reduced(text: str, interesting: Callable[[str], bool]) -> str:
    """The smallest text found: by modules where it can be read and printing it anew keeps it interesting."""
    from rlx.generate.reduce.search import reduce, reduce_text
    from rlx.grammar.parser import parse
    from rlx.grammar.printer import print_module

    parsed = parse(text)
    broken = any(found.severity == "error" for found in parsed.diagnostics)
    if broken or len(parsed.modules) != 1 or not interesting(print_module(parsed.modules[0])):
        return reduce_text(text, interesting)
    return print_module(reduce(parsed.modules[0], lambda made: interesting(print_module(made))))


class _Trial:
    """Runs the command on candidates."""

    def __init__(self, command: str, path: Path) -> None:
        words = shlex.split(command)
        name = str(path)
        filled = [word.replace("{}", name) for word in words]
        self.words = filled if filled != words else [*words, name]
        self.path = path
        self.count = 0

    def __call__(self, text: str) -> bool:
        self.count += 1
        self.path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            self.words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return done.returncode == 0


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Make a program smaller while a command succeeds on it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="the program")
    parser.add_argument("--test", required=True, metavar="COMMAND", help="what must succeed")
    parser.add_argument("-o", "--output", metavar="PATH", help="where to write (default: stdout)")
    return parser
