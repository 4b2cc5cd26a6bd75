"""`rlx fmt`: formats programs in any dialect."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rlx.checker.driver.configuration import ConfigurationError, ProjectSettings, configuration
from rlx.checker.driver.sources import (
    NO_FILE,
    SUFFIX,
    decoded,
    encoding,
    endless,
    folders_under,
    read,
    why_no_text,
)
from rlx.checker.driver.time_limit import Lost, TimeLimitError, each_limited
from rlx.commands.outputs import add_format, print_record
from rlx.grammar.command_line import CommandParser
from rlx.grammar.dialects import DEFAULT, DIALECTS, SPAN
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.print.formatting import CHANGED, FAILED, SAME, Formatted, format_text
from rlx.grammar.print.layout import WIDTH
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, lines_of, say, visible, write_program

NARROWEST = 20
"""The least number of columns that `--width` takes."""

EPILOG = """\
Literals are written with escapes for control characters and other hidden ones. Comments stay as they are in a file
or a pipe; a terminal shows them with escapes, and so do the lines of --diff.

exit status: 0 all files are formatted; 1 a file has syntax errors, or --check found one that would
change; 2 wrong usage, or a file that cannot be read, written or formatted; 101 a bug in the tool."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx fmt") -> int:
    """Run the command.

    Returns
    -------
    int
        0 if all is well; 1 if a text has syntax errors, or `--check` found one that is not
        formatted; 2 if a file could not be read or written, or can't be formatted.
    """
    options = _arguments(prog).parse_args(list(argv))
    try:
        options.dialect = options.dialect or _target(options)
    except ConfigurationError as error:
        return _complain(f"{prog}: {error}", FAILED)
    worst = SAME
    files = list(_files(options.paths))
    if not files:
        words = f"no .rlx file under {', '.join(options.paths)}"
        return _complain(f"{prog}: {words}", FAILED)
    try:
        # a file that is named and found in a folder, too, is named
        within = dict(sorted(files, key=lambda file: not file[1]))
        paths = [path for path, _ in files]

        def work(path: str) -> _Read:
            return _read_and_format(path, bool(within[path]), options, prog)

        records = []
        for each in each_limited(paths, work):
            status = _one(each, within[each.path], options, prog)
            worst = max(worst, status)
            records.append(_record(each, status, options))
    except TimeLimitError as error:
        return _complain(f"{prog}: {error}", FAILED)
    if options.format == "json":
        print_record(dialect=options.dialect, files=records)
    return worst


def _arguments(prog: str) -> argparse.ArgumentParser:
    parser = CommandParser(prog=prog, description="Format programs, in any dialect.", epilog=EPILOG)
    add = parser.add_argument
    add(
        "--dialect",
        choices=list(DIALECTS),
        metavar="VERSION",
        help=f"the version of TVM whose syntax to print: {SPAN} (default: `target` of"
        f" [tool.rlx] in pyproject.toml, or {DEFAULT})",
    )
    add("--isolated", action="store_true", help="do not read pyproject.toml of the project")
    add(
        "--width",
        type=_columns,
        default=WIDTH,
        metavar="N",
        help=f"the columns of a line; longer statements are wrapped (default: {WIDTH})",
    )
    add(
        "--to",
        choices=["2022", "0.27"],
        metavar="SYSTEM",
        help="translate to the specification of 2022 (types, match_shape) or of 0.27, and list what"
        " cannot be expressed there",
    )
    add("--check", action="store_true", help="change nothing; exit with 1 if a file would change")
    add("--diff", action="store_true", help="change nothing; print what would change")
    add_format(parser)
    add(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a file, a directory (its .rlx files), or - for standard input",
    )
    return parser


def _target(options: argparse.Namespace) -> str:
    """The version that the project around the current folder is meant for, or the newest. Raises
    ConfigurationError if the configuration is wrong, or names a version that is not printed.
    """
    project = ProjectSettings() if options.isolated else configuration()
    target = project.target or DEFAULT
    if target not in DIALECTS and options.to is None:
        raise ConfigurationError(
            f"{project.path}: the target is {target}: use --to {target}, or --dialect VERSION"
        )
    return target


def _columns(text: str) -> int:
    """A number of columns. Raises argparse.ArgumentTypeError if the text is not a number of at
    least 20.
    """
    if not text.isdecimal() or int(text) < NARROWEST:
        raise argparse.ArgumentTypeError(
            f"expected a number of columns, at least {NARROWEST}, found {text!r}"
        )
    return int(text)


def _files(paths: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each file, and the folder whose search found it, if the user has not named it."""
    for path in paths:
        if path != "-" and Path(path).is_dir():
            found = (Path(f, name) for f, names in folders_under(path) for name in names)
            for file in sorted(each for each in found if each.suffix == SUFFIX):
                yield str(file), (path,)
        else:
            yield path, ()


class _Read(Record):
    """A file, and how it is formatted.

    Attributes
    ----------
    outcome
        Without its text where that is no output: it may be megabytes of weights.
    made
        The text in the file's encoding, if it is to be written.
    diff
        What would change, if that was asked for.
    """

    path: str
    shown: str
    outcome: Formatted
    changed: bool = False
    made: bytes | None = None
    diff: str = ""


def _read_and_format(path: str, searched: bool, options: argparse.Namespace, prog: str) -> _Read:
    shown = "<stdin>" if path == "-" else path
    try:
        if searched and endless(path):
            raise OSError(NO_FILE)
        data = read(path)
        text = decoded(data, shown)
        outcome = _formatted(text, shown, options)
    except OSError as error:
        outcome = Formatted(None, (f"{prog}: {shown}: {error.strerror or error}",), FAILED)
    except UnicodeDecodeError as error:
        outcome = Formatted(None, (f"{prog}: {why_no_text(shown, error)}",), CHANGED)
    if outcome.text is None:
        return _Read(path, shown, outcome)
    diff = ""
    if options.diff and options.format == "human":
        diff = "".join(_diff(text, outcome.text, visible(shown)))
    made = outcome.text.encode(encoding(data, shown))
    changed = made != data
    written = changed and path != "-" and not (options.check or options.diff)
    if not _is_printed(path, options):
        outcome = replace(outcome, text="")
    return _Read(path, shown, outcome, changed, made if written else None, diff)


def _is_printed(path: str, options: argparse.Namespace) -> bool:
    """Whether a formatted text is an output of the command."""
    return path == "-" or (options.diff and options.format == "json")


def _one(read: _Read | Lost, within: Sequence[str], options: argparse.Namespace, prog: str) -> int:
    if isinstance(read, Lost):
        shown = "<stdin>" if read.path == "-" else read.path
        return _complain(f"{prog}: {shown}: {read}", read.status)
    for line in read.outcome.complaints:
        _complain(line, read.outcome.status)
    if read.outcome.text is None:
        return read.outcome.status
    if read.diff:
        say(read.diff)
    if options.check and read.changed:
        return _complain(f"{read.shown}: not formatted", CHANGED)
    if read.made is not None:
        return _write(read.path, within, read.made, prog)
    if read.path == "-" and options.format == "human" and not (options.check or options.diff):
        write_program(read.outcome.text, exactly=True)
    return SAME


def _record(read: _Read | Lost, status: int, options: argparse.Namespace) -> dict[str, Any]:
    """The record of a file in `--format json`; it has the text where no file gets it."""
    if isinstance(read, Lost):
        return {"path": read.path, "status": "failed", "said": [str(read)], "text": None}
    failed = read.outcome.text is None or status > CHANGED
    return {
        "path": read.shown,
        "status": "failed" if failed else "changed" if read.changed else "same",
        "said": list(read.outcome.complaints),
        "text": read.outcome.text if _is_printed(read.path, options) else None,
    }


def _formatted(text: str, shown: str, options: argparse.Namespace) -> Formatted:
    if options.to is None:
        return format_text(text, shown, options.dialect, options.width)
    from rlx.old.conversion import convert_text

    return convert_text(text.replace("\r\n", "\n"), shown, options.to)


def _complain(line: str, status: int) -> int:
    complain_line(line)
    return status


def _write(path: str, within: Sequence[str], made: bytes, prog: str) -> int:
    from rlx.writing import rewrite

    try:
        rewrite(path, made, within=within)
    except OSError as error:
        return _complain(f"{prog}: {path}: {error.strerror or error}", FAILED)
    return SAME


def _diff(before: str, after: str, path: str) -> Iterator[str]:
    from rlx.grammar.alignment import unified_diff

    return unified_diff(lines_of(before), lines_of(after), path, f"{path} (formatted)")
