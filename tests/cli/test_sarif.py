"""SARIF logs fit the standard, say what the rules are, and know a result again."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rlx.checker.explain import OUTSIDE, codes, described
from rlx.checker.render import sarif
from rlx.checker.render.files import FileReport
from rlx.commands import check as command
from rlx.grammar.diagnostic import Diagnostic, Source

from .sarif_schema import inconsistencies, violations
from .test_render import FILES

ROOT = Path(__file__).parents[2]


def log(*argv: str, capsys: pytest.CaptureFixture[str]) -> Any:
    command.main(["--format", "sarif", *argv])
    return json.loads(capsys.readouterr().out)


def rules(made: Any) -> dict[str, Any]:
    return {rule["id"]: rule for rule in made["runs"][0]["tool"]["driver"]["rules"]}


def prints(made: Any) -> list[str]:
    return [
        result["partialFingerprints"][sarif.FINGERPRINT] for result in made["runs"][0]["results"]
    ]


def test_logs_fit_the_standard(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    for paths in (
        ["examples"],
        ["examples/broken"],
        ["nowhere.rlx"],
        [str(ROOT / "examples/broken")],
    ):
        made = log(*paths, capsys=capsys)
        assert [*violations(made), *inconsistencies(made)] == []
    made = json.loads(sarif.render(FILES, described, "1.2.3", "https://docs.example/rlx"))
    assert [*violations(made), *inconsistencies(made)] == []


def test_every_rule_that_there_is_can_stand_in_a_log() -> None:
    said = [c for c in codes() if not c.startswith(("E-", "V-"))]  # of runs, which give no log
    names = {code.split("-")[0] if code in OUTSIDE else code for code in said}
    found = tuple(Diagnostic(name, "note", "said", None) for name in sorted(names))
    made = json.loads(sarif.render([FileReport("a.rlx", None, found)], described, "0"))
    assert [*violations(made), *inconsistencies(made)] == []
    for rule in rules(made).values():
        assert rule["help"]["text"] and rule["help"]["markdown"], rule["id"]


def test_a_log_names_no_folder_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "examples")
    for path in (ROOT / "examples", ROOT / "tests/cli", ROOT / "nowhere.rlx"):
        text = json.dumps(log(str(path), capsys=capsys))
        assert "file://" not in text and str(ROOT) not in text


def _changed(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Each place of a log, and a change that no log may have there."""
    if isinstance(value, dict) and "properties" not in path:
        yield "an unknown property", (*path, "nonsense")
        for key in value:
            yield from _changed(value[key], (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value[:2]):
            yield from _changed(item, (*path, at))
    else:
        yield "another type", path


def test_the_subset_of_the_schema_refuses_what_is_wrong() -> None:
    made = json.loads(sarif.render(FILES, described, "1.2.3"))
    for what, path in _changed(made):
        if "properties" in path:
            continue
        wrong = copy.deepcopy(made)
        inner = wrong
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = [None]
        assert list(violations(wrong)), (what, path)


def test_published_pages_are_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = '[tool.rlx]\ndocumentation = "https://docs.example/rlx/"\n'
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    (tmp_path / "a.rlx").write_text("@R.function\ndef f():\n    return y\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    made = log("a.rlx", capsys=capsys)
    address = "https://docs.example/rlx/well_formedness.html#WF02"
    assert rules(made)["WF02"]["helpUri"] == address
    assert made["runs"][0]["tool"]["driver"]["informationUri"] == "https://docs.example/rlx/"


def test_a_result_is_known_again_where_it_has_moved() -> None:
    def reported(text: str) -> list[str]:
        places = [at for at in range(len(text)) if text.startswith("y)", at)]
        found = tuple(Diagnostic("WF02-undefined", "error", "no", (at, at + 1)) for at in places)
        file = FileReport("a.rlx", Source(text), found)
        return prints(json.loads(sarif.render([file], described, "0")))

    before = reported("    a = f(y)\n    b = g(y)\n    a = f(y)\n")
    assert len(set(before)) == 3
    assert reported("# more\n\n        a = f(y)\n        b = g(y)\n        a = f(y)\n") == before
    assert reported("    b = g(y)\n    a = f(y)\n    a = f(y)\n") == [
        before[1],
        before[0],
        before[2],
    ]
    assert not set(reported("    a = h(y)\n")) & set(before)
