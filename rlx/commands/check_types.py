"""`relax-check --types`: each binding beside its source, by both specifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.grammar.nodes.node import Record
from rlx.grammar.streams import complain_line, json_text, say, write_data

FORMATS = ("human", "json")


def show(paths: Sequence[str], format: str, prog: str) -> int:
    """Print the bindings of files.

    Returns
    -------
    int
        0 if no file has an error; 1 if one has, or is not text; 2 if one could not be read, or the
        format is another than those of :data:`FORMATS`.
    """
    from rlx.checker.driver.sources import displayed, find
    from rlx.checker.driver.time_limit import Lost, each_limited

    if format not in FORMATS:
        complain_line(f"{prog}: --types has the formats {', '.join(FORMATS)}")
        return 2
    found, unreadable, _ = find(paths)
    status = 0
    files: list[Any] = []
    for report in unreadable:
        complain_line(f"{prog}: {report.path}: {report.diagnostics[0].message}")
        status = 2
    for made in each_limited(found, lambda path: _viewed(path, format, prog)):
        if isinstance(made, Lost):
            complain_line(f"{prog}: {displayed(made.path)}: {made}")
            status = max(status, made.status)
            continue
        for line in made.complaints:
            complain_line(line)
        status = max(status, made.status)
        say(made.text)
        files += made.records
    if format == "json":
        write_data(json_text({"version": 1, "files": files}, indent=2) + "\n")
    return status


class _Viewed(Record):
    """The output about one file."""

    status: int
    complaints: tuple[str, ...] = ()
    text: str = ""
    records: tuple[Any, ...] = ()


def _viewed(path: str, format: str, prog: str) -> _Viewed:
    from rlx.checker.driver.sources import displayed, source_of
    from rlx.old.two_views import as_json, rendered, views

    try:
        source, problem = source_of(path, displayed(path))
    except OSError as error:
        return _Viewed(2, (f"{prog}: {path}: {error.strerror or error}",))
    if problem is not None:
        return _Viewed(1, (str(problem),))  # as the check of such a text
    both = views(source.text, source.path)
    errors = tuple(str(each) for each in both.diagnostics if each.is_error)
    text = rendered(both) if format == "human" else ""
    return _Viewed(1 if errors else 0, errors, text, (as_json(both),))
