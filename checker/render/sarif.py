"""SARIF 2.1.0, the OASIS format that code-scanning services read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps
from typing import Any
from urllib.parse import quote

from rlx.checker.render.files import FileReport, region
from rlx.grammar.diagnostic import Diagnostic, Edit, Source
from rlx.grammar.node import Span

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render(files: Sequence[FileReport], titles: Mapping[str, str], version: str) -> str:
    """A log of one run.

    Parameters
    ----------
    titles
        What each rule is called, by id; a rule without an entry is described by its id.
    version
        Of the tool.
    """
    rules = sorted({d.rule for file in files for d in file.diagnostics})
    run = {
        "tool": {
            "driver": {
                "name": "relax-check",
                "semanticVersion": version,
                "rules": [
                    {"id": rule, "shortDescription": {"text": titles.get(rule, rule)}}
                    for rule in rules
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": all(f.outcome == "checked" for f in files)}],
        "artifacts": [{"location": {"uri": _uri(file.path)}} for file in files],
        "results": [
            _result(d, file, at, rules) for at, file in enumerate(files) for d in file.diagnostics
        ],
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(d: Diagnostic, file: FileReport, at: int, rules: list[str]) -> dict[str, Any]:
    text = "\n".join([d.message, *d.notes, *([d.help] if d.help else [])])
    result: dict[str, Any] = {
        "ruleId": d.code if d.code == d.rule else f"{d.rule}/{d.code}",
        "ruleIndex": rules.index(d.rule),
        "level": d.severity,
        "message": {"text": text},
        "locations": [_location(file, at, d.span)],
    }
    if d.related:
        result["relatedLocations"] = [
            {**_location(file, at, r.span), "id": number, "message": {"text": r.message}}
            for number, r in enumerate(d.related)
        ]
    if d.edit is not None and file.source is not None:
        result["fixes"] = [_fix(d, d.edit, file, file.source, at)]
    if d.counterexample is not None:
        result["properties"] = {"counterexample": dict(d.counterexample)}
    return result


def _location(file: FileReport, at: int, span: Span | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(file, at)}
    if file.source is not None and span is not None:
        physical["region"] = _region(file.source, span)
    return {"physicalLocation": physical}


def _region(source: Source, span: Span) -> dict[str, int]:
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return dict(zip(names, region(source, span), strict=True))


def _fix(d: Diagnostic, edit: Edit, file: FileReport, source: Source, at: int) -> dict[str, Any]:
    replacement = {
        "deletedRegion": _region(source, edit.span),
        "insertedContent": {"text": edit.text},
    }
    change = {"artifactLocation": _artifact(file, at), "replacements": [replacement]}
    return {"description": {"text": d.help or d.message}, "artifactChanges": [change]}


def _artifact(file: FileReport, at: int) -> dict[str, Any]:
    return {"uri": _uri(file.path), "index": at}


def _uri(path: str) -> str:
    """A relative reference for a relative path, a file URI for an absolute one."""
    encoded = quote(path.encode("utf-8", "surrogateescape"))
    if path.startswith("/"):
        return f"file://{encoded}"
    return f"./{encoded}" if ":" in encoded.split("/")[0] else encoded
