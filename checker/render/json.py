"""The format for programs: one object, whose keys are the command's contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.checker.render.files import FileReport, summarise
from rlx.grammar.diagnostic import Diagnostic, Source, region
from rlx.grammar.nodes.node import Span
from rlx.grammar.streams import json_text

VERSION = 1
"""Grows when a key changes its meaning or goes; a new key does not change it."""


def render(files: Sequence[FileReport]) -> str:
    """One JSON object, in ASCII so that any encoding of the stream carries it."""
    summary = summarise(files)
    held = summary.obligations
    return (
        json_text(
            {
                "version": VERSION,
                "files": [
                    {
                        "path": file.path,
                        "diagnostics": [_diagnostic(d, file.source) for d in file.diagnostics],
                        **_dynamic_checks(file),
                        **_derivations(file),
                    }
                    for file in files
                ],
                **_statistics(files),
                "summary": {
                    "files": summary.files,
                    "errors": summary.errors,
                    "warnings": summary.warnings,
                    "modules": summary.read.modules,
                    "functions": summary.read.functions,
                    "prim_funcs": summary.read.prim_funcs,
                    "obligations": {
                        "proved": held.proved,
                        "refuted": held.refuted,
                        "unknown": held.unknown,
                    },
                },
            },
            indent=2,
        )
        + "\n"
    )


def _statistics(files: Sequence[FileReport]) -> dict[str, Any]:
    """The key that `--statistics` adds."""
    if all(file.questions is None for file in files):
        return {}
    from rlx.checker.render.statistics import as_json

    return {"statistics": as_json(files)}


def _dynamic_checks(file: FileReport) -> dict[str, Any]:
    """The key that `--dynamic-checks` adds."""
    if file.dynamic_checks is None:
        return {}
    from rlx.checker.render.dynamic_checks import as_json

    return {"dynamic_checks": [as_json(check) for check in file.dynamic_checks]}


def _derivations(file: FileReport) -> dict[str, Any]:
    """The key that `--derivations` adds."""
    return {} if file.derivations is None else {"derivations": dict(file.derivations)}


def _diagnostic(diagnostic: Diagnostic, source: Source | None) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(source, diagnostic.span),
        "related": [{"message": r.message, **_place(source, r.span)} for r in diagnostic.related],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "edit": _edit(diagnostic, source),
        "counterexample": None
        if diagnostic.counterexample is None
        else dict(diagnostic.counterexample),
    }


def _edit(diagnostic: Diagnostic, source: Source | None) -> dict[str, Any] | None:
    """The text that replaces what is at a place, as `--fix` may apply it."""
    edit = diagnostic.edit
    if edit is None or source is None:
        return None
    return {**_place(source, edit.span), "text": edit.text, "safe": edit.is_safe}


def _place(source: Source | None, span: Span | None) -> dict[str, int]:
    names = ("line", "column", "end_line", "end_column")
    return dict(zip(names, region(source, span), strict=True))
