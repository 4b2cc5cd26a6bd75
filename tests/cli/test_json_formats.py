"""What the commands print with `--format json`: one object, with a version, and keys of these types."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rlx.cli import COMMANDS

EXAMPLES = Path(__file__).parents[2] / "examples"
MLP = str(EXAMPLES / "mlp.rlx")

FORMATS: dict[str, tuple[list[str], dict[str, type]]] = {
    "check": ([MLP], {"files": list, "summary": dict}),
    "check for TVM": (["--for", "tvm", MLP], {"files": list, "summary": dict}),
    "prove": (["n + 1 > n"], {}),
    "diff": ([MLP, MLP], {"a": str, "b": str, "status": str, "functions": list}),
    "refines": ([MLP, MLP], {}),
    "memory": ([MLP], {"functions": list}),
    "graph": ([MLP], {"files": list, "functions": list}),
    "why": ([f"{MLP}:20"], {}),
}
"""For each command, its arguments, and the keys beside `version` that docs/reference/formats.md describes."""

ITEM = {
    "key": int, "kind": str, "name": str, "value": str, "info": str, "group": int,
    "uses": list, "callees": list, "binds": list, "change": str,
}


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    command = name.partition(" ")[0]
    main = import_module(COMMANDS[command][0]).main
    assert main(["--format", "json", *FORMATS[name][0]], f"rlx {command}") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_one_object_with_a_version(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(name, capsys)
    assert isinstance(found["version"], int)
    for key, kind in FORMATS[name][1].items():
        assert isinstance(found[key], kind), key


def test_the_items_of_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    for function in printed("graph", capsys)["functions"]:
        for place, item in enumerate(function["items"]):
            assert item["key"] == place
            assert all(isinstance(item[key], kind) for key, kind in ITEM.items())
            assert all(used < place for used in item["uses"])
            assert function["groups"][item["group"]]
