"""`relax-check --dynamic-checks`: the list for people, and the one for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.commands.check import CLEAN, FOUND, main

TEXT = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    n = T.int64()
    k = T.int64()
    y = R.match_cast(x, R.Tensor((k, 4), "float32"))
    z = R.match_cast(y, R.Tensor((8, 4), "float32"))
    R.match_cast(z, R.Tensor((8, 5), "float32"))
    return y
"""


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with a check of each kind and status."""
    monkeypatch.chdir(tmp_path)
    Path("one.rlx").write_text(TEXT, encoding="utf-8")
    return "one.rlx"


EXPECTED = [
    "one.rlx:2:13: needed: parameter 'x' of main: 'main' may be called from outside the module",
    "one.rlx:2:47: redundant: the result of main",
    "one.rlx:5:25: redundant: cast of 'x' of main: dimension 0: it binds k, which is already known to be n",
    (
        "one.rlx:6:25: needed: cast of 'y' of main: "
        "dimension 0: 8 is expected, but k is known (they differ for n = 0)"
    ),
    "one.rlx:7:21: impossible: cast of 'z' of main: dimension 1: 5 is expected, but 4 is known",
    "5 checks at run time: 2 redundant, 1 impossible, 2 needed",
]


def test_for_people(one: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dynamic-checks", one]) == CLEAN
    report, _, listing = capsys.readouterr().out.rpartition("\n\n")
    assert listing.splitlines() == EXPECTED
    assert main([one]) == CLEAN
    assert capsys.readouterr().out == f"{report}\n"


def test_for_programs(one: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One key more for each file, and no other change."""
    main(["--format", "json", one])
    without = json.loads(capsys.readouterr().out)
    assert main(["--format", "json", "--dynamic-checks", one]) == CLEAN
    found = json.loads(capsys.readouterr().out)
    checks = found["files"][0].pop("dynamic_checks")
    assert found == without
    assert [check["status"] for check in checks] == [
        *("needed", "redundant", "redundant", "needed", "impossible")
    ]
    assert checks[3] == {
        "kind": "cast",
        "function": "main",
        "subject": "y",
        "status": "needed",
        "reason": "dimension 0: 8 is expected, but k is known (they differ for n = 0)",
        "parts": [
            {
                "place": "dimension 0",
                "premise": "dimension",
                "status": "needed",
                "wanted": "8",
                "found": "k",
            }
        ],
        "counterexample": {"n": 0},
        "line": 6,
        "column": 25,
        "end_line": 6,
        "end_column": 52,
    }


def test_other_formats_stay_as_they_are(one: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--format", "sarif", one])
    plain = capsys.readouterr()
    main(["--format", "sarif", "--dynamic-checks", one])
    found = capsys.readouterr()
    assert found.out == plain.out
    assert found.err.splitlines() == EXPECTED


def test_a_file_with_errors_has_no_list(one: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.rlx").write_text(TEXT.replace("match_cast(y", "match_cast(w"), encoding="utf-8")
    assert main(["--dynamic-checks", one, "bad.rlx"]) == FOUND
    listing = capsys.readouterr().out.rpartition("\n\n")[2].splitlines()
    assert listing == [
        "bad.rlx: its checks are not listed, because it has errors",
        *EXPECTED,
    ]
    main(["--format", "json", "--dynamic-checks", "bad.rlx"])
    assert json.loads(capsys.readouterr().out)["files"][0]["dynamic_checks"] == []
