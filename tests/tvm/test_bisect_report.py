"""The report of `rlx bisect`, as Markdown and as JSON; TVM itself is not needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.bisect import report
from rlx.bisect.blame import INPUT, Blame, Fine, Pipeline
from rlx.bisect.process import Process, UnusableError
from rlx.commands import bisect
from rlx.grammar.processes import UNABLE
from tests.json_schemas import unlike
from tests.markdown import assert_example

PROGRAM = "@R.function\ndef main(x: R.Object):\n    return x\n"
EXAMPLES = Path(__file__).parent / "bisect_reports.md"
REPORTS = {
    "A pass that makes an illegal module": (
        Blame("FuseOps", "illegal", "D14-arity", "what is\nwrong", ("CSE",), PROGRAM, "after\n"),
        Pipeline(),
        4,
    ),
    "The program itself, on another pipeline and target": (
        Blame(INPUT, "raises", "InternalError", "what is\nwrong", (), "", ""),
        Pipeline("zero", "cuda"),
        3,
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "version", lambda package: "1.0")
    blame, pipeline, lines = REPORTS[name]
    assert_example(EXAMPLES, name, report.markdown(blame, pipeline, PROGRAM, lines))


@pytest.mark.parametrize("name", REPORTS)
def test_a_record_says_what_the_report_says(name: str) -> None:
    blame, pipeline, _ = REPORTS[name]
    found = json.loads(report.record(blame, pipeline, "f.rlx", PROGRAM))
    assert not unlike("bisect", found)
    assert (found["path"], found["pipeline"]) == ("f.rlx", pipeline.expression)
    assert (found["target"], found["version"]) == (pipeline.target, report.VERSION)
    said = found["blame"]
    assert (said["pass"], said["kind"], said["cause"]) == (blame.pass_name, blame.kind, blame.cause)
    assert (said["message"], said["done"]) == (blame.message, [*blame.done])
    assert (said["before"], said["after"]) == (blame.before, blame.after)
    assert said["program"] == PROGRAM


def test_a_record_without_blame() -> None:
    fine = Fine(2, ("Pass: why",), ("by-choice/A.rlx",))
    found = json.loads(report.record(fine, Pipeline(), "f.rlx", PROGRAM))
    assert not unlike("bisect", found)
    assert found["blame"] is None and found["compared"] == 2
    assert (found["not_compared"], found["known"]) == (["Pass: why"], ["by-choice/A.rlx"])


@pytest.mark.parametrize(
    ("fine", "lines"),
    [
        (Fine(3), ["f.rlx: no pass of default did anything wrong"]),
        (
            Fine(0, ("out of memory", "out of memory")),
            [
                "f.rlx: no pass of default did anything wrong, as far as the checks show: no run was compared",
                "  not compared: out of memory",
            ],
        ),
        (
            Fine(1, ("BindParams: why",), ("by-choice/A.rlx",)),
            [
                "f.rlx: no pass of default did anything wrong",
                "  not compared: BindParams: why",
                "  different by choice: by-choice/A.rlx",
            ],
        ),
    ],
)
def test_what_is_said_if_nobody_is_to_blame(fine: Fine, lines: list[str]) -> None:
    assert report.nothing(fine, Pipeline(), "f.rlx").splitlines() == lines
    unrun = report.nothing(fine, Pipeline(sizes=()), "f.rlx").splitlines()
    assert unrun[0] == "f.rlx: no pass of default did anything wrong"


def test_a_pipeline_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unusable(self: Process, text: str) -> Blame:
        raise UnusableError("TVM is not installed")

    monkeypatch.setattr(Process, "examine", unusable)
    (tmp_path / "f.rlx").write_text(PROGRAM)
    assert bisect.main([str(tmp_path / "f.rlx"), "--pipeline", "zero"]) == UNABLE
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "rlx bisect: TVM is not installed\n")
