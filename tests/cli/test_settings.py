"""The settings of a project and of the command line: codes, files and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.commands.check import main

BAD = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.add(x, z)\n    return y\n'
RESULT = (
    '@R.function\ndef main(x: R.Tensor((2,), "float32"), s: R.Shape(["n"])) ->'
    ' R.Tensor((n,), "float32"):\n    return x\n'
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("new", "legacy"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.rlx").write_text(BAD, encoding="utf-8")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[str]]:
    """The codes that are reported of each file."""
    main([".", "--format", "json", *words])
    files = json.loads(capsys.readouterr().out)["files"]
    return {f["path"].removeprefix("./"): [d["code"] for d in f["diagnostics"]] for f in files}


@pytest.mark.parametrize(
    ("table", "words", "new", "legacy"),
    [
        ("", [], ["WF02-undefined"], ["WF02-undefined"]),
        ('[tool.rlx.per-file-ignores]\n"legacy/*" = ["WF"]', [], ["WF02-undefined"], []),
        ("", ["--per-file-ignores", "legacy/*:D14,WF02"], ["WF02-undefined"], []),
        ('[tool.rlx]\nignore = ["WF"]', ["--extend-select", "WF02"], *[["WF02-undefined"]] * 2),
        ('[tool.rlx]\nextend-ignore = ["WF"]', ["--select", "WF02"], [], []),
        ("", ["--extend-ignore", "WF02"], [], []),
        ('[tool.rlx]\nextend-exclude = ["legacy"]', [], ["WF02-undefined"], None),
        ("", ["--extend-exclude", "legacy"], ["WF02-undefined"], None),
    ],
)
def test_which_codes_are_reported_where(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    table: str,
    words: list[str],
    new: list[str],
    legacy: list[str] | None,
) -> None:
    (project / "pyproject.toml").write_text(table, encoding="utf-8")
    found = told(capsys, *words)
    assert (found["new/a.rlx"], found.get("legacy/a.rlx")) == (new, legacy)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[tool.rlx]\nextend_igore = []", "did you mean 'extend-ignore'?"),
        ("[tool.rlx]\nper-file-ignore = {}", "did you mean 'per-file-ignores'?"),
        ('[tool.rlx.per-file-ignores]\na = "WF"', "must be a table of lists of codes"),
        ('[tool.rlx.per-file-ignores]\na = ["XY9"]', "no rule has the name XY9"),
        ('[tool.rlx.per-file-ignores]\nWF02 = ["a/*"]', "the pattern first: 'a/*', then 'WF02'"),
    ],
)
def test_a_wrong_table_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], table: str, words: str
) -> None:
    (project / "pyproject.toml").write_text(table, encoding="utf-8")
    assert main(["."]) == 2
    assert words in capsys.readouterr().err


def test_comments_are_added_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([".", "--add-ignores"]) == 0
    text = (project / "new" / "a.rlx").read_text(encoding="utf-8")
    assert text == BAD.replace("z)", "z)  # rlx: ignore[WF02-undefined]")
    assert main([".", "--add-ignores", "--strict"]) == 0
    assert (project / "new" / "a.rlx").read_text(encoding="utf-8") == text
    with pytest.raises(SystemExit):
        main([".", "--add-ignores", "--fix"])
    assert "--add-ignores takes files" in capsys.readouterr().err


def test_the_report_in_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([".", "--output-file", "report.txt", "--exit-zero"]) == 0
    assert capsys.readouterr().out == ""
    assert "2 files checked: 2 errors" in (project / "report.txt").read_text(encoding="utf-8")
    assert main([".", "--output-file", "no/report.txt"]) == 2
    assert main([".", "--show-files"]) == 0
    assert "a.rlx\n" in capsys.readouterr().out
    assert main([".", "no", "--show-files"]) == 2
    assert "no: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(("when", "coloured"), [("always", True), ("never", False)])
def test_colours(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    when: str,
    coloured: bool,
) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("FORCE_COLOR", "")
    main([".", "--color", when])
    assert ("\x1b[" in capsys.readouterr().out) == coloured


def test_what_changes_the_program_is_fixed_on_request(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "new" / "a.rlx"
    path.write_text(RESULT, encoding="utf-8")
    main(["new", "--format", "json"])
    ((found,),) = [f["diagnostics"] for f in json.loads(capsys.readouterr().out)["files"]]
    assert (found["code"], found["edit"]["safe"]) == ("D15-result", False)
    main(["new", "--fix"])
    assert path.read_text(encoding="utf-8") == RESULT
    main(["new", "--fix", "--unsafe-fixes"])
    assert "R.match_cast" in path.read_text(encoding="utf-8")
