"""What `rlx bisect` reports of each kind of blame and pipeline, as Markdown and as JSON; TVM itself is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.bisect import report
from rlx.bisect.blame import INPUT, KINDS, Blame, Pipeline
from rlx.bisect.process import Process, UnusableError
from rlx.commands import bisect
from tests.snapshots import assert_digest

PROGRAM = "@R.function\ndef main(x: R.Object):\n    return x\n"
SNAPSHOT = Path(__file__).parent / "snapshots" / "bisect_report.txt"
PIPELINES = (
    Pipeline(),
    Pipeline("zero", "cuda"),
    Pipeline("lambda module: module"),
    Pipeline("relax.transform.LambdaLift()", sizes=()),
)


def reports() -> Iterator[str]:
    """Each kind of blame, of passes and of the program itself, with and without texts around it."""
    for at, kind in enumerate(KINDS):
        for name, before, after in (
            ("FuseOps", "", ""),
            ("LambdaLift", PROGRAM, "after\n\n"),
            (INPUT, f"\n{PROGRAM}", ""),
            ("CSE", "before", ""),
        ):
            done = ("Normalize", "LegalizeOps")[: at % 3]
            blame = Blame(name, kind, f"cause {at}", "what is\nwrong", done, before, after)
            pipeline = PIPELINES[at % len(PIPELINES)]
            for lines in (2, 3, 4):
                yield report.markdown(blame, pipeline, PROGRAM, lines)
            yield report.record(blame, pipeline, "f.rlx", PROGRAM)
    yield from (report.record(None, each, "f.rlx", PROGRAM) for each in PIPELINES)


def test_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "version", lambda package: f"1.{len(package)}")
    assert_digest(SNAPSHOT, "reports", "\n\n".join(reports()))


def test_packages_that_are_not_installed_have_no_version() -> None:
    assert report._version("no-such-package") == "of unknown version"


def test_a_pipeline_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unusable(self: Process, text: str) -> Blame:
        raise UnusableError("TVM is not installed")

    monkeypatch.setattr(Process, "examine", unusable)
    (tmp_path / "f.rlx").write_text(PROGRAM)
    assert bisect.main([str(tmp_path / "f.rlx"), "--pipeline", "zero"]) == bisect.UNABLE
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "rlx bisect: --pipeline zero: TVM is not installed\n")
