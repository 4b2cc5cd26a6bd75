"""`relax-check`: checks programs and reports their mistakes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from rlx.checker.driver.configuration import Selection, matches, parse
from rlx.checker.render.files import FileReport, summarise
from rlx.commands.check_options import parser_of, version
from rlx.commands.check_types import show
from rlx.commands.outputs import refused
from rlx.commands.project import settings
from rlx.grammar.nodes.node import replace
from rlx.grammar.processes import BUG, UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import (
    complain,
    complain_line,
    harmless,
    say,
    visible,
    write_data,
    write_program,
)
from rlx.writing import hindrance, write

if TYPE_CHECKING:
    from rlx.checker.check import Report
    from rlx.checker.driver.configuration import ProjectSettings
    from rlx.checker.fixing import Mended


PROGRAM = "relax-check"
STDIN = "-"
CLEAN, FOUND = 0, 1


@roomy
def main(argv: Sequence[str], prog: str = PROGRAM) -> int:
    """Run the command.

    Parameters
    ----------
    argv
        Arguments, without the program's name.
    prog
        What the user typed, for usage messages.

    Returns
    -------
    int
        The exit status.
    """
    parser = parser_of(prog, RENDERERS)
    arguments = parser.parse_args(argv)
    if arguments.explain:
        from rlx.checker.explain import explain

        return explain(arguments.explain)
    if not arguments.path:
        parser.error("give at least one PATH")
    if arguments.derivations and arguments.format != "json":
        parser.error("--derivations needs --format json; `rlx why` prints one derivation as text")
    if arguments.builder:
        refused = {
            "--derivations": arguments.derivations,
            "--fix": arguments.fix,
            "--diff": arguments.diff,
        }
        for option in (option for option, given in refused.items() if given):
            parser.error(f"{option} and --for {arguments.builder} cannot be combined")
        if arguments.target not in (None, "0.27"):
            parser.error(f"--for tvm builds for TVM 0.27, not {arguments.target}")
    if arguments.types:
        other = _of_today(arguments) or (arguments.spec and "--spec")
        if other:
            parser.error(f"{other} and --types cannot be combined")
        try:
            _operators(settings(arguments, prog), arguments)
        except _refusals() as error:
            complain_line(f"{prog}: {error}")
            return UNABLE
        return show(arguments.path, arguments.format, prog)
    if arguments.spec and (today := _of_today(arguments)):
        parser.error(f"{today} and --spec {arguments.spec} cannot be combined")
    if STDIN in arguments.path and (arguments.watch or (arguments.fix and len(arguments.path) > 1)):
        parser.error("--fix takes standard input only alone, and --watch does not take it")
    if arguments.unsafe_fixes and not (arguments.fix or arguments.diff):
        parser.error("--unsafe-fixes needs --fix or --diff")
    if arguments.add_ignores and (arguments.fix or arguments.diff or STDIN in arguments.path):
        parser.error("--add-ignores takes files, and neither --fix nor --diff")
    with _colours(arguments.color, "0" if arguments.output_file else ""):
        if arguments.watch:
            from rlx.checker.driver.watch import watch

            return watch(arguments.path, lambda: _run(parser, arguments, prog))
        return _run(parser, arguments, prog)


@contextmanager
def _colours(when: str, otherwise: str) -> Iterator[None]:
    """Set the colours that `--color` asks for, for this process and its children; then restore
    them.
    """
    before = {name: os.environ.get(name) for name in ("NO_COLOR", "FORCE_COLOR")}
    if when != "auto":
        os.environ.pop("NO_COLOR", None)
        os.environ["FORCE_COLOR"] = "1" if when == "always" else "0"
    elif otherwise:
        os.environ.setdefault("FORCE_COLOR", otherwise)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _of_today(arguments: argparse.Namespace) -> str | None:
    """An option that was given and that the rules of 2022 have nothing for."""
    names = ("derivations", "dynamic_checks", "fix", "diff", "statistics", "target")
    if arguments.builder:
        return "--for"
    return next((f"--{n.replace('_', '-')}" for n in names if getattr(arguments, n)), None)


def _by(
    arguments: argparse.Namespace, project: ProjectSettings
) -> Callable[[str, str], Report] | None:
    """The check of a text that the options ask for."""
    if arguments.spec:
        from rlx.old import check as older

        return older.check_text
    if arguments.builder:
        from rlx.tvm.building import check_for_tvm

        return check_for_tvm
    target = arguments.target or project.target
    if target is None:
        return None
    from rlx.checker.check import check_text

    return partial(check_text, target=target)


def _show_files(paths: Sequence[str], project: ProjectSettings, prog: str) -> int:
    """List the files that would be checked."""
    missing = [path for path in paths if path != STDIN and not os.path.lexists(path)]
    for path in _found([path for path in paths if path not in missing], project):
        say(f"{visible(path)}\n")
    for path in missing:
        complain_line(f"{prog}: {visible(path)}: there is no such file")
    return UNABLE if missing else CLEAN


def _run(parser: argparse.ArgumentParser, arguments: argparse.Namespace, prog: str) -> int:
    """One run over all paths."""
    from rlx.checker.driver.time_limit import seconds

    try:
        seconds()
        configured = settings(arguments, prog)
        project = _extended(parser, configured, arguments)
        operators, allowed = _operators(project, arguments)
        selection = _selection(parser, arguments, project, configured)
    except _refusals() as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    if arguments.show_files:
        return _show_files(arguments.path, project, prog)
    if arguments.output_file and (hindered := hindrance(arguments.output_file)):
        complain_line(f"{prog}: {arguments.output_file}: {hindered}")
        return UNABLE
    make = _make(arguments, project, selection)
    if arguments.diff:
        return _diff(arguments, project, prog, make)
    if arguments.fix and STDIN in arguments.path:
        return _mended(arguments.stdin_filename, prog, make)
    changes = arguments.fix or arguments.add_ignores
    written = not changes or _fix(arguments, project, prog, make)
    from rlx.checker.driver.check_files import check_file

    check = partial(
        check_file,
        listing=arguments.dynamic_checks,
        statistics=arguments.statistics,
        derivations=arguments.derivations,
        operators=operators,
        allowed=allowed,
        name_of_stdin=arguments.stdin_filename,
        by=_by(arguments, project),
    )
    files = _check(arguments.path, selection, check, project)
    excluded = [path for path in arguments.path if path != STDIN and project.excludes(path)]
    for path in excluded:
        theirs = f"{project.path}; --isolated checks it"
        by = theirs if configured.excludes(path) else "--extend-exclude"
        complain_line(f"{prog}: note: {path} is excluded by {by}")
    if not files:
        if excluded:
            return CLEAN
        complain_line(f"{prog}: no Relax program under {', '.join(arguments.path)}")
        return UNABLE
    if arguments.output_file:
        said = next(
            filter(None, (refused(arguments.output_file, file.path) for file in files)), None
        )
        if said is not None:
            complain_line(f"{prog}: --output-file {said}")
            return UNABLE
    human = arguments.format == "human"
    sarif = arguments.format == "sarif"
    text = _sarif(files, project.documentation) if sarif else RENDERERS[arguments.format](files)
    if arguments.output_file:
        write(arguments.output_file, harmless(text) if human else text)
    else:
        _write(text, say if human else write_data)
    if arguments.dynamic_checks:
        _dynamic_checks(files, arguments.format)
    if arguments.statistics:
        _statistics(files, arguments.format)
    found = status(files, arguments.strict or project.strict)
    if found == FOUND and arguments.exit_zero:
        found = CLEAN
    return found if written else max(found, UNABLE)


def _extended(
    parser: argparse.ArgumentParser, project: ProjectSettings, arguments: argparse.Namespace
) -> ProjectSettings:
    """The project with what the command line adds to its paths: patterns from the current
    folder.
    """

    def from_root(pattern: str) -> str:
        return os.path.relpath(os.path.abspath(pattern), project.root).replace(os.sep, "/")

    added = []
    for each in arguments.per_file_ignores:
        pattern, colon, codes = each.rpartition(":")
        if not colon or not pattern or not parse([codes]):
            parser.error(f"--per-file-ignores takes PATTERN:CODES, not {each!r}")
        added.append((from_root(pattern), parse([codes])))
    return replace(
        project,
        exclude=(*project.exclude, *map(from_root, arguments.extend_exclude)),
        per_file=(*project.per_file, *added),
    )


def _selection(
    parser: argparse.ArgumentParser,
    arguments: argparse.Namespace,
    project: ProjectSettings,
    configured: ProjectSettings,
) -> Selection:
    """The codes that the command line and the project ask for."""
    selection = Selection(
        (*parse(arguments.select), *(() if arguments.select else project.select)),
        (*parse(arguments.ignore), *(() if arguments.select else project.ignore)),
        (*parse(arguments.extend_select), *project.extend_select),
        (*parse(arguments.extend_ignore), *project.extend_ignore),
    )
    per_file = [code for _, codes in project.per_file for code in codes]
    unknown = _unknown_selectors(selection, per_file)
    of_project = {*project.select, *project.ignore, *project.extend_select, *project.extend_ignore}
    of_project.update(c for _, codes in configured.per_file for c in codes)
    theirs = [name for name in unknown if name in of_project]
    if theirs:
        from rlx.checker.driver.configuration import ConfigurationError

        raise ConfigurationError(
            f"{project.path}: no rule has the name {', '.join(theirs)}"
            f"{_swapped(project, theirs) or _near(theirs)}"
        )
    if unknown:
        hint = _swapped(project, unknown) or _near(unknown)
        parser.error(f"no rule has the name {', '.join(unknown)}{hint}")
    return selection


def _swapped(project: ProjectSettings, unknown: Sequence[str]) -> str:
    """The hint for an entry whose codes stand in the place of the pattern."""
    for pattern, codes in project.per_file:
        if set(codes) <= set(unknown) and not _unknown_selectors(Selection((pattern,)), ()):
            return f"; per-file-ignores takes the pattern first: {codes[0]!r}, then {pattern!r}"
    return ""


def _make(
    arguments: argparse.Namespace, project: ProjectSettings, selection: Selection
) -> Callable[[str, str], Mended]:
    """The function that mends a text: with edits, or with comments."""
    from rlx.checker.check import check_text
    from rlx.checker.driver.add_ignores import with_ignores
    from rlx.checker.fixing import mended

    check = partial(check_text, target=arguments.target or project.target)
    if not arguments.add_ignores:
        return partial(mended, check=check, unsafe=arguments.unsafe_fixes)

    def silenced(text: str, path: str) -> Mended:
        return with_ignores(text, path, check, _of_file(path, selection, project).reports)

    return silenced


def _of_file(path: str, selection: Selection, project: ProjectSettings) -> Selection:
    """The codes that are reported in one file."""
    codes = project.ignored_in(path)
    return replace(selection, fewer=(*selection.fewer, *codes)) if codes else selection


def _fix(
    arguments: argparse.Namespace,
    project: ProjectSettings,
    prog: str,
    make: Callable[[str, str], Mended],
) -> bool:
    """Mend the files; whether all of them could be written."""
    from rlx.checker.driver.fix import apply, fixes

    folders = [path for path in arguments.path if os.path.isdir(path)]
    found = fixes(_found(arguments.path, project), arguments.stdin_filename, make=make)
    done = [apply(f, prog, () if f.path in arguments.path else folders) for f in found]
    return all(done)


def _mended(name: str | None, prog: str, make: Callable[[str, str], Mended]) -> int:
    """Write the mended text of standard input to standard output, and what is left to say to
    stderr.
    """
    from rlx.checker.driver.fix import fixes

    unread: list[tuple[str, int]] = []
    for fixed in fixes([STDIN], name, unread, make=make):
        _write(fixed.mended.text, partial(write_program, exactly=True))
        report = fixed.mended.report
        complain(str(report))
        return CLEAN if report.ok else FOUND
    return _unread(unread, prog)


def _unread(files: Sequence[tuple[str, int]], prog: str) -> int:
    """Say which files cannot be read; nothing about them is known to be right or wrong."""
    for line, _ in files:
        complain_line(f"{prog}: {line}")
    return max((status for _, status in files), default=UNABLE)


def _diff(
    arguments: argparse.Namespace,
    project: ProjectSettings,
    prog: str,
    make: Callable[[str, str], Mended],
) -> int:
    """Print what `--fix` would change."""
    from rlx.checker.driver.fix import fixes

    unread: list[tuple[str, int]] = []
    found = _found(arguments.path, project)
    changes = [
        fixed.difference() for fixed in fixes(found, arguments.stdin_filename, unread, make=make)
    ]
    _write("".join(changes))
    if unread:
        return _unread(unread, prog)
    return FOUND if any(changes) else CLEAN


def _found(paths: Sequence[str], project: ProjectSettings) -> list[str]:
    """The files that paths mean, without those that the project excludes."""
    from rlx.checker.driver.sources import find

    return find(paths, project.excludes)[0]


def status(files: Sequence[FileReport], strict: bool = False) -> int:
    """The exit status that reports ask for."""
    outcomes = {file.outcome for file in files}
    if "crashed" in outcomes:
        return BUG
    if outcomes & {"unreadable", "late", "killed"}:
        return UNABLE
    summary = summarise(files)
    return FOUND if summary.errors or (strict and summary.warnings) else CLEAN


def _near(unknown: Sequence[str]) -> str:
    """The codes that were meant, perhaps."""
    from rlx.checker.explain import codes
    from rlx.grammar.suggest import closest, did_you_mean

    hint = did_you_mean([near for name in unknown for near in closest(name, codes())])
    return f"; {hint}" if hint else ""


def _operators(
    project: ProjectSettings, arguments: argparse.Namespace
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The user's own operators: those named on the command line, and those of the project."""
    modules = (*project.operators, *arguments.operators)
    patterns = (*project.allowed, *arguments.allow_operator)
    if modules or patterns:
        from rlx.operators.external import load

        load(modules, patterns)
    return modules, patterns


def _refusals() -> tuple[type[Exception], ...]:
    """The mistakes in the settings, and in the user's own operators."""
    from rlx.checker.driver.configuration import ConfigurationError
    from rlx.checker.driver.time_limit import TimeLimitError
    from rlx.operators.external import OperatorsError

    return ConfigurationError, OperatorsError, TimeLimitError


_SHOWN = 5
"""The number of unknown names that a message lists."""


def _unknown_selectors(selection: Selection, others: Sequence[str]) -> list[str]:
    """The first few selectors that name no code; reading the rules takes a moment, so only if there
    are selectors.
    """
    of_files = (*selection.more, *selection.fewer, *others)
    written = dict.fromkeys((*selection.select, *selection.ignore, *of_files))
    if not written:
        return []
    from rlx.checker.explain import codes

    known = codes()
    unknown = (s for s in written if not any(matches(s, code) for code in known))
    return list(islice(unknown, _SHOWN))


def _check(
    paths: Sequence[str],
    selection: Selection,
    check: Callable[[str], FileReport],
    project: ProjectSettings,
) -> list[FileReport]:
    """The reports on all files, in order of path."""
    from rlx.checker.driver.check_files import check_all, with_progress
    from rlx.checker.driver.sources import find

    found, reports, searched = find(paths, project.excludes)
    checked = with_progress(check_all(found, check), len(found))
    reports += [file for file in checked if file.path not in searched or not _is_empty(file)]
    reports.sort(key=lambda file: file.path)
    return [_selected(file, _of_file(file.path, selection, project)) for file in reports]


def _is_empty(file: FileReport) -> bool:
    """Whether a file that a search of a directory found has no Relax in it after all."""
    return [found.code for found in file.diagnostics] == ["PARSE-nothing"]


def _selected(file: FileReport, selection: Selection) -> FileReport:
    if selection == Selection():
        return file
    kept = tuple(filter(selection.reports, file.diagnostics))
    return replace(file, diagnostics=kept)


def _human(files: Sequence[FileReport]) -> str:
    from rlx.checker.render import human
    from rlx.checker.render.human import theme_for

    width = human.WIDTH
    if sys.stdout.isatty():
        from shutil import get_terminal_size

        width = max(40, get_terminal_size((width, 24)).columns - 10)
    return human.render(files, theme_for(sys.stdout), width)


def _json(files: Sequence[FileReport]) -> str:
    from rlx.checker.render import json

    return json.render(files)


def _sarif(files: Sequence[FileReport], documentation: str | None = None) -> str:
    from rlx.checker.explain import described
    from rlx.checker.render import sarif

    return sarif.render(files, described, version(), documentation)


def _github(files: Sequence[FileReport]) -> str:
    from rlx.checker.render import github

    return github.render(files)


RENDERERS: Mapping[str, Callable[[Sequence[FileReport]], str]] = {
    "human": _human,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}
"""The formats; each is imported on demand."""


def _dynamic_checks(files: Sequence[FileReport], format: str) -> None:
    """The list after the human format; inside of the JSON; beside the others on stderr."""
    from rlx.checker.render import dynamic_checks
    from rlx.checker.render.human import theme_for

    if format == "human":
        _write(f"\n{dynamic_checks.render(files, theme_for(sys.stdout))}")
    elif format != "json":
        complain(dynamic_checks.render(files))


def _statistics(files: Sequence[FileReport], format: str) -> None:
    """After the human format; beside the others on stderr, except what is inside of the JSON."""
    from rlx.checker.render import statistics
    from rlx.checker.render.human import theme_for

    if format == "human":
        text = statistics.render(files, theme_for(sys.stdout))
        _write(text and f"\n{text}")
    else:
        write = statistics.codes if format == "json" else statistics.render
        complain(write(files))


def _write(text: str, put: Callable[[str], None] = say) -> None:
    """Write to stdout; a reader that has gone away (`| head`) has seen enough. Raises OSError if it
    cannot be written for another reason, a full disk for instance.
    """
    try:
        put(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        if not isinstance(error, BrokenPipeError):
            raise
