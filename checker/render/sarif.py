"""SARIF 2.1.0, the OASIS format that code-scanning services read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from rlx.checker.explain import Described
from rlx.checker.render.files import FileReport
from rlx.grammar.diagnostic import Diagnostic, Edit, Source, region
from rlx.grammar.nodes.node import Span
from rlx.grammar.streams import json_text, without_links

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


FINGERPRINT = "codeAndLine/v1"
"""The key by which a result is recognised: its code and the text of its line, wherever that line has
moved.
"""


LINE = 1000
"""The most characters of a line that are looked at."""


def render(
    files: Sequence[FileReport],
    described: Callable[[str], Described | None],
    version: str,
    documentation: str | None = None,
) -> str:
    """A log of one run.

    Parameters
    ----------
    described
        What there is to say about a rule; a rule of which it knows nothing is described by its id.
    version
        Of the tool.
    documentation
        Where the pages of the specification are published; rules have no link otherwise.
    """
    rules = sorted({d.rule for file in files for d in file.diagnostics})
    driver: dict[str, Any] = {"name": "relax-check", "semanticVersion": version}
    if documentation is not None:
        driver["informationUri"] = documentation
    driver["rules"] = [_rule(rule, described(rule), documentation) for rule in rules]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": all(f.outcome == "checked" for f in files)}],
        "artifacts": [{"location": {"uri": _uri(file.path)}} for file in files],
        "results": [
            result for at, file in enumerate(files) for result in _results(file, at, rules)
        ],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: str, known: Described | None, documentation: str | None) -> dict[str, Any]:
    if known is None:
        return {"id": rule, "shortDescription": {"text": rule}}
    made: dict[str, Any] = {
        "id": rule,
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": known.statement},
        "help": {"text": known.text, "markdown": known.markdown},
    }
    if known.chapter is not None and documentation is not None:
        page = known.chapter.removesuffix(".md").replace("/", "-")
        made["helpUri"] = f"{documentation.rstrip('/')}/{page}.html#{rule}"
    return made


def _results(file: FileReport, at: int, rules: list[str]) -> Iterator[dict[str, Any]]:
    """The results of a file; those of one code on equal lines are told apart by their order."""
    seen: Counter[tuple[str, str]] = Counter()
    for d in file.diagnostics:
        key = d.code, _line(file, d)
        text = "\0".join([*key, str(seen[key])])
        seen[key] += 1
        known_by = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        yield _result(d, file, at, rules) | {"partialFingerprints": {FINGERPRINT: known_by}}


def _line(file: FileReport, d: Diagnostic) -> str:
    """The line that a diagnostic is about, without its indentation, as far as it serves to know it
    again.
    """
    if file.source is None or d.span is None:
        return ""
    number, _ = file.source.position(d.span[0])
    return file.source.line(number)[:LINE].strip()


def _result(d: Diagnostic, file: FileReport, at: int, rules: list[str]) -> dict[str, Any]:
    text = "\n".join([d.message, *d.notes, *([d.help] if d.help else [])])
    result: dict[str, Any] = {
        "ruleId": d.code if d.code == d.rule else f"{d.rule}/{d.code}",
        "ruleIndex": rules.index(d.rule),
        "level": d.severity,
        "message": {"text": without_links(text)},
        "locations": [_location(file, at, d.span)],
    }
    if d.related:
        result["relatedLocations"] = [
            {
                **_location(file, at, r.span),
                "id": number,
                "message": {"text": without_links(r.message)},
            }
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
    return {
        "description": {"text": without_links(d.help or d.message)},
        "artifactChanges": [change],
    }


def _artifact(file: FileReport, at: int) -> dict[str, Any]:
    return {"uri": _uri(file.path), "index": at}


def _bytes(path: str) -> bytes:
    """The name as the system has it; a surrogate that stands for no byte has bytes of its own."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")


def _uri(path: str) -> str:
    """A reference from the current folder on: a log is read on other machines."""
    encoded = quote(_bytes(os.path.relpath(path) if os.path.isabs(path) else path))
    return f"./{encoded}" if ":" in encoded.split("/")[0] else encoded
