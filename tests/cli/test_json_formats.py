"""What the commands print with `--format json`: one object, as `docs/reference/schemas.json` describes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rlx.cli import COMMANDS
from rlx.completion import parser_of

ROOT = Path(__file__).parents[2]
MLP = str(ROOT / "examples" / "mlp.rlx")
SCHEMAS: dict[str, Any] = json.loads(
    (ROOT / "docs" / "reference" / "schemas.json").read_text("utf-8")
)["$defs"]
BROKEN = str(ROOT / "examples" / "broken" / "unbound.rlx")

LINES: dict[str, tuple[list[str], int]] = {
    "check": ([MLP], 0),
    "check of errors": ([BROKEN], 1),
    "check for TVM": (["--for", "tvm", MLP], 0),
    "fmt": (["--check", MLP, BROKEN], 1),
    "fmt with a difference": (["--diff", MLP], 0),
    "prove": (["n + 1 > n"], 0),
    "prove to a file": (["n + 1 > n", "--certificate", "proof.json"], 0),
    "verify-proof": (["proof.json", MLP], 1),
    "diff": ([MLP, MLP], 0),
    "refines": ([MLP, MLP], 0),
    "memory": ([MLP], 0),
    "graph": ([MLP], 0),
    "why": ([f"{MLP}:20"], 0),
    "run": ([MLP], 0),
    "step": ([MLP], 0),
    "lower": ([MLP, "--legalize", "--to", "ToNonDataflow"], 0),
    "build": ([MLP, "-o", "mlp.rlxexe"], 0),
    "disasm": (["mlp.rlxexe"], 0),
    "explain": (["D14", "R.concat"], 0),
    "explain all": ([], 0),
    "generate": (["--seed", "7", "-n", "2", "--size", "3"], 0),
    "generate into a folder": (["--seed", "7", "--size", "3", "--out", "made"], 0),
    "reduce": ([MLP, "--test", "true"], 0),
    "fuzz": (["--time", "0.2s", "--jobs", "1", "--seed", "1"], 0),
}
"""Command lines, each with its exit status; a later one may read what an earlier one wrote."""

ELSEWHERE = {"bisect": "tests/tvm", "compare": "tests/tvm", "relay": "tests/relay"}
"""The commands whose objects are looked at where TVM, or a program in Relay, is at hand."""

TYPES = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def unlike(value: Any, schema: dict[str, Any], path: str = "$") -> Iterator[str]:
    """Where a value is not what a JSON Schema says, which uses no other words than these."""
    assert schema.keys() <= {
        *("type", "properties", "required", "additionalProperties", "items", "enum", "const"),
    }
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and type(value) not in [TYPES[kind] for kind in kinds]:
        yield f"{path}: {value!r} is not of type {', '.join(kinds)}"
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{path}: no {key}" for key in schema.get("required", ()) if key not in value)
        for key, each in value.items():
            if key in known:
                yield from unlike(each, known[key], f"{path}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{path}: {key} is not described"
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from unlike(each, schema.get("items", {}), f"{path}[{number}]")


def test_every_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = []
    for name, (words, status) in LINES.items():
        command = name.partition(" ")[0]
        main = import_module(COMMANDS[command][0]).main
        assert main(["--format", "json", *words], f"rlx {command}") == status, name
        found = json.loads(capsys.readouterr().out)
        wrong += [f"{name}: {said}" for said in unlike(found, SCHEMAS[command])]
    assert not wrong


def test_every_command_that_has_the_format_is_described() -> None:
    with_json = {
        name
        for name in COMMANDS
        for action in parser_of(name)._actions
        if "--format" in action.option_strings
    }
    assert with_json - ELSEWHERE.keys() == {name.partition(" ")[0] for name in LINES}
    text = (ROOT / "docs" / "reference" / "formats.md").read_text("utf-8")
    described = set(re.findall(r"`rlx ([\w -]+?) --format json`", text)) | {"check"}
    assert {name.partition(" ")[0] for name in described} >= with_json


def test_the_items_of_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    main = import_module(COMMANDS["graph"][0]).main
    assert main(["--format", "json", MLP], "rlx graph") == 0
    for function in json.loads(capsys.readouterr().out)["functions"]:
        for place, item in enumerate(function["items"]):
            assert item["key"] == place
            assert all(used < place for used in item["uses"])
            assert function["groups"][item["group"]]
