"""`docs/reference/schemas.json`: what the commands print with `--format json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "docs" / "reference" / "schemas.json").read_text("utf-8")
)


def unlike(command: str, found: Any) -> list[str]:
    """The places where the output of a command does not fit its schema."""
    schema = {"$defs": SCHEMAS["$defs"], "$ref": f"#/$defs/{command}"}
    return [
        f"{error.json_path}: {error.message[:300]}"
        for error in Draft202012Validator(schema).iter_errors(found)
    ]
