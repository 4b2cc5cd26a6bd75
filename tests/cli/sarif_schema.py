"""The part of the SARIF 2.1.0 schema that our logs use: names, types, what is required, what is limited.

It was written by hand from the standard (OASIS, errata 01), since the schema is not ours to ship. Nothing else may stand in a log of
ours: an object has the properties of its table and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Table = dict[str, str]

OBJECTS: dict[str, Table] = {
    # a `!` stands behind what is required; `[…]` is a list of such; `{…}` an object with such values
    "log": {"$schema": "uri", "version": "2.1.0!", "runs": "[run]!"},
    "run": {
        "tool": "tool!",
        "invocations": "[invocation]",
        "artifacts": "[artifact]",
        "results": "[result]",
        "columnKind": "utf16CodeUnits|unicodeCodePoints",
    },
    "tool": {"driver": "component!"},
    "component": {
        "name": "text!",
        "semanticVersion": "text",
        "informationUri": "uri",
        "rules": "[descriptor]",
    },
    "descriptor": {
        "id": "text!",
        "shortDescription": "multiformat",
        "fullDescription": "multiformat",
        "help": "multiformat",
        "helpUri": "uri",
    },
    "multiformat": {"text": "text!", "markdown": "text"},
    "message": {"text": "text!"},
    "invocation": {"executionSuccessful": "bool!"},
    "artifact": {"location": "artifactLocation"},
    "artifactLocation": {"uri": "uri-reference", "index": "natural"},
    "result": {
        "ruleId": "text",
        "ruleIndex": "natural",
        "level": "none|note|warning|error",
        "message": "message!",
        "locations": "[location]",
        "relatedLocations": "[location]",
        "fixes": "[fix]",
        "partialFingerprints": "{text}",
        "properties": "anything",
    },
    "location": {
        "id": "natural",
        "physicalLocation": "physicalLocation",
        "message": "message",
    },
    "physicalLocation": {"artifactLocation": "artifactLocation", "region": "region"},
    "region": {
        "startLine": "positive",
        "startColumn": "positive",
        "endLine": "positive",
        "endColumn": "positive",
    },
    "fix": {"description": "message", "artifactChanges": "[artifactChange]!"},
    "artifactChange": {
        "artifactLocation": "artifactLocation!",
        "replacements": "[replacement]!",
    },
    "replacement": {"deletedRegion": "region!", "insertedContent": "content"},
    "content": {"text": "string"},
}

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[\w\-.~:/?#\[\]@!$&'()*+,;=%]+", re.ASCII)
_REFERENCE = re.compile(r"(?:[\w\-.~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def violations(value: Any, kind: str = "log", place: str = "log") -> Iterator[str]:
    """The places where a value does not fit the schema, one line each."""
    if kind.startswith(("[", "{")):
        made = list if kind[0] == "[" else dict
        if not isinstance(value, made):
            yield f"{place}: not a {made.__name__}"
            return
        items = enumerate(value) if isinstance(value, list) else value.items()
        for key, item in items:
            yield from violations(item, kind[1:-1], f"{place}[{key}]")
    elif kind in OBJECTS:
        yield from _object(value, OBJECTS[kind], place)
    elif not _fits(value, kind):
        yield f"{place}: {value!r} is not {kind}"


def _object(value: Any, table: Table, place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place}: not an object"
        return
    for name in value.keys() - table.keys():
        yield f"{place}: {name} is not one of its properties"
    for name, kind in table.items():
        if name in value:
            yield from violations(value[name], kind.rstrip("!"), f"{place}.{name}")
        elif kind.endswith("!"):
            yield f"{place}: {name} is missing"


def _fits(value: Any, kind: str) -> bool:
    match kind:
        case "anything":
            return isinstance(value, dict)
        case "bool":
            return isinstance(value, bool)
        case "natural" | "positive":
            return type(value) is int and value >= (kind == "positive")
    if not isinstance(value, str):
        return False
    match kind:
        case "string":
            return True
        case "text":
            return value != ""
        case "uri":
            return _URI.fullmatch(value) is not None
        case "uri-reference":
            head = value.split("/")[0]
            sound = ":" not in head or _SCHEME.match(value) is not None
            return sound and _REFERENCE.fullmatch(value) is not None
    return value in kind.split("|")


def inconsistencies(log: Any) -> Iterator[str]:
    """The demands of the standard beyond the schema that the runs of a valid log do not meet."""
    for run in log["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"].get("rules", ())]
        if len(set(rules)) != len(rules):
            yield "two rules have one id"
        artifacts = [each["location"]["uri"] for each in run.get("artifacts", ())]
        for number, result in enumerate(run["results"]):
            if result["ruleId"].split("/")[0] != rules[result["ruleIndex"]]:
                yield f"result {number}: the index is that of another rule"
            for location in _locations(result):
                named = location["artifactLocation"]
                if artifacts[named["index"]] != named["uri"]:
                    yield f"result {number}: the index is that of another artifact"
                region = location.get("region")
                if region is not None and not _ordered(region):
                    yield f"result {number}: the region ends before it starts"


def _locations(result: Any) -> list[Any]:
    places = [*result["locations"], *result.get("relatedLocations", ())]
    return [place["physicalLocation"] for place in places]


def _ordered(region: dict[str, int]) -> bool:
    first, last = ((region[f"{which}Line"], region[f"{which}Column"]) for which in ("start", "end"))
    return first <= last
