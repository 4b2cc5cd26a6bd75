"""The list of run-time checks that `--dynamic-checks` adds to a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlx.checker.dynamic_checks.listing import Listed, counts
from rlx.checker.render.files import FileReport
from rlx.checker.render.human import PLAIN, paint
from rlx.grammar.streams import visible
from rlx.grammar.wording import counted

_ROLES = {"redundant": "help", "impossible": "error", "needed": "strong"}


def render(files: Sequence[FileReport], theme: Mapping[str, str] = PLAIN) -> str:
    """The checks of each file by place, then how many there are of each kind."""
    lines = [line for file in files for line in _file(file, theme)]
    checks = [check for file in files for check in file.dynamic_checks or ()]
    number = ", ".join(f"{count} {status}" for status, count in counts(checks).items())
    lines.append(f"{counted(len(checks), 'check')} at run time: {number}")
    return "\n".join(lines) + "\n"


def _file(file: FileReport, theme: Mapping[str, str]) -> Iterator[str]:
    if any(found.is_error for found in file.diagnostics):
        yield f"{visible(file.path)}: its checks are not listed, because it has errors"
        return
    for check in file.dynamic_checks or ():
        yield _line(file.path, check, theme)


def _line(path: str, check: Listed, theme: Mapping[str, str]) -> str:
    line, column, _, _ = check.region
    status = paint(theme, _ROLES[check.status], check.status)
    reason = f": {visible(check.reason)}" if check.reason else ""
    return f"{visible(path)}:{line}:{column}: {status}: {visible(check.what)}{reason}"


def as_json(check: Listed) -> dict[str, Any]:
    """One check, for the format for programs."""
    line, column, end_line, end_column = check.region
    return {
        "kind": check.kind,
        "function": check.function,
        "subject": check.subject,
        "status": check.status,
        "reason": check.reason,
        "parts": [dict(part) for part in check.parts],
        "counterexample": None if check.counterexample is None else dict(check.counterexample),
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }
