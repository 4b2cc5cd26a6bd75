"""`relax-check --types`: each binding beside its source, by both specifications."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

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
        sys.stderr.write(f"{prog}: --types has the formats {', '.join(FORMATS)}\n")
        return 2
    found, unreadable, _ = find(paths)
    status, files = 0, []
    for report in unreadable:
        sys.stderr.write(f"{prog}: {report.path}: {report.diagnostics[0].message}\n")
        status = 2
    for path in found:
        try:
            source, problem = decode(read(path), displayed(path))
        except OSError as error:
            sys.stderr.write(f"{prog}: {path}: {error.strerror or error}\n")
            status = 2
            continue
        if problem is not None:
            sys.stderr.write(f"{problem}\n")
            status = max(status, 1)  # as the check of such a text
            continue
        both = views(source.text, source.path)
        errors = [each for each in both.diagnostics if each.is_error]
        for each in errors:
            sys.stderr.write(f"{each}\n")
        status = max(status, 1 if errors else 0)
        files.append(as_json(both))
        if format == "human":
            sys.stdout.write(rendered(both))
    if format == "json":
        sys.stdout.write(json.dumps({"version": 1, "files": files}, indent=2) + "\n")
    return status
