"""The output of the commands with `--format json`: one object, as `docs/reference/schemas.json` describes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rlx.cli import COMMANDS
from rlx.completion import parser_of
from tests.json_schemas import SCHEMAS, unlike

ROOT = Path(__file__).parents[2]
MLP = str(ROOT / "examples" / "mlp.rlx")
BROKEN = str(ROOT / "examples" / "broken" / "unbound.rlx")
PROGRAMS = {
    "add.rlx": "R.add(x, x)",
    "double.rlx": 'R.multiply(x, R.const(2, "float32"))',
    "sum.rlx": "R.sum(x)",
    "turned.rlx": "R.sum(R.flip(x, 0))",
    "triple.rlx": 'R.multiply(x, R.const(3, "float32"))',
    "three_rows.rlx": "R.reshape(x, (3, 4))",
    "nan.rlx": "R.log(R.subtract(x, x))",
}
"""What each program makes of a tensor `x` of n rows and 4 columns."""
RELAY = """\
#[version = "0.0.5"]
def @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
  add(%x, %x)
}
"""

LINES: dict[str, tuple[list[str], int]] = {
    "check": ([MLP], 0),
    "check of errors": ([BROKEN, "--statistics"], 1),
    "check for TVM": (["--for", "tvm", MLP], 0),
    "check at run time": (["--dynamic-checks", "--derivations", "add.rlx"], 0),
    "compare": (["add.rlx", "triple.rlx", "--out", "cut"], 1),
    "compare what is not finite": (["nan.rlx", "nan.rlx"], 1),
    "fmt": (["--check", MLP, BROKEN], 1),
    "fmt with a difference": (["--diff", MLP], 0),
    "prove": (["n + 1 > n", "--explain"], 0),
    "prove what is false": (["n // 2 * 2 == n"], 1),
    "prove in another language": (["n > 3", "--smtlib"], 0),
    "prove to a file": (["n + 1 > n", "--certificate", "proof.json"], 0),
    "verify-proof": (["proof.json", MLP], 1),
    "diff": (["add.rlx", "triple.rlx"], 1),
    "refines": (["add.rlx", "add.rlx", "--explain"], 0),
    "refines what is unknown": (["sum.rlx", "turned.rlx"], 3),
    "memory": ([MLP, "--at", "n=2"], 0),
    "memory as a chart": ([MLP, "--chart", "n=1:8"], 0),
    "graph": ([MLP], 0),
    "graph of two": (["add.rlx", "double.rlx"], 0),
    "why": ([f"{MLP}:20"], 0),
    "run": ([MLP], 0),
    "run with a fault": (["three_rows.rlx"], 1),
    "run by the machine": (["add.rlx", "--backend", "vm"], 0),
    "relay": (["run", "add.relay"], 0),
    "step": ([MLP], 0),
    "step with a fault": (["three_rows.rlx"], 1),
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

ELSEWHERE = {"bisect"}
"""Its objects are looked at where TVM is at hand: in tests/tvm/test_bisect_report.py."""


def test_every_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in PROGRAMS.items():
        head = '@R.function\ndef main(x: R.Tensor(("n", 4), "float32")):'
        Path(name).write_text(f"{head}\n    y = {value}\n    return y\n")
    Path("add.relay").write_text(RELAY)
    wrong = []
    for name, (words, status) in LINES.items():
        command = name.partition(" ")[0]
        main = import_module(COMMANDS[command][0]).main
        assert main([*words, "--format", "json"], f"rlx {command}") == status, name
        printed = capsys.readouterr()
        assert printed.out, (name, printed.err)
        found = json.loads(printed.out)
        wrong += [f"{name}: {said}" for said in unlike(command, found)]
    assert not wrong


def test_the_table_of_exit_statuses_has_every_command_and_what_it_returns() -> None:
    page = (ROOT / "docs/reference/stable.md").read_text("utf-8")
    rows: dict[str, list[str]] = {}
    for line in page[page.index("## Exit statuses") :].splitlines():
        names, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name in re.findall(r"`([a-z-]+)`", names):
            rows.setdefault(name, cells)
    assert not COMMANDS.keys() - rows
    wrong = [name for name, (_, status) in LINES.items() if not rows[name.split()[0]][status]]
    assert not wrong


def test_every_key_is_described() -> None:
    def bare(schema: Any, path: str) -> Iterator[str]:
        if isinstance(schema, dict):
            for name, each in schema.get("properties", {}).items():
                if not each.get("description"):
                    yield f"{path}.{name}"
            for key, each in schema.items():
                yield from bare(each, f"{path}.{key}")
        elif isinstance(schema, list):
            for each in schema:
                yield from bare(each, path)

    Draft202012Validator.check_schema(SCHEMAS)
    assert not [*bare(SCHEMAS["$defs"], "$")]


def test_a_wrong_object_is_noticed() -> None:
    right = {"version": 1, "seed": 7, "programs": [{"name": "a", "path": None, "text": ""}]}
    assert not unlike("generate", right)
    for change in ({"version": 2}, {"seed": "7"}, {"programs": [{"name": "a"}]}, {"more": 1}):
        assert unlike("generate", right | change), change


def test_every_command_that_has_the_format_is_described() -> None:
    with_json = {
        name
        for name in COMMANDS
        for action in parser_of(name)._actions
        if "--format" in action.option_strings
    }
    assert with_json - ELSEWHERE <= {name.partition(" ")[0] for name in LINES}
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
