"""`relax-check --types`: each binding beside its source, by both specifications."""

from __future__ import annotations

from collections.abc import Sequence

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
    from rlx.checker.driver.sources import decode, displayed, find, read
    from rlx.old.two_views import as_json, rendered, views

    if format not in FORMATS:
        complain_line(f"{prog}: --types has the formats {', '.join(FORMATS)}")
        return 2
    found, unreadable, _ = find(paths)
    status, files = 0, []
    for report in unreadable:
        complain_line(f"{prog}: {report.path}: {report.diagnostics[0].message}")
        status = 2
    for path in found:
        try:
            source, problem = decode(read(path), displayed(path))
        except OSError as error:
            complain_line(f"{prog}: {path}: {error.strerror or error}")
            status = 2
            continue
        if problem is not None:
            complain_line(f"{problem}")
            status = max(status, 1)  # as the check of such a text
            continue
        both = views(source.text, source.path)
        errors = [each for each in both.diagnostics if each.is_error]
        for each in errors:
            complain_line(f"{each}")
        status = max(status, 1 if errors else 0)
        files.append(as_json(both))
        if format == "human":
            say(rendered(both))
    if format == "json":
        write_data(json_text({"version": 1, "files": files}, indent=2) + "\n")
    return status
