"""The reports on the checker's own rules: places, labels, notes, help and counterexamples, in `reports/`.

A fenced block ``rlx`` holds a program with mistakes, the block ``report`` after it what people are told; `RLX_UPDATE_SNAPSHOTS=1
pytest tests/checker/test_reports.py` writes the reports anew. What grammar and operators say is kept in their rooms.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.checker.render import human
from rlx.checker.render.files import FileReport

FILES = sorted((Path(__file__).parent / "reports").glob("*.md"))
CASE = re.compile(
    r"^```rlx\n(?P<program>.*?)^```$(?:\n+```report\n(?P<report>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


def told(program: str) -> str:
    """The report, as people see it."""
    report = check_text(program, "program.rlx")
    file = FileReport("program.rlx", report.source, tuple(report.diagnostics))
    parts = [human.render_diagnostic(each, file) for each in report.diagnostics]
    return "\n\n".join(parts) + "\n" * bool(parts)


def renewed(text: str) -> str:
    """A file's text with the reports of today."""
    return CASE.sub(
        lambda case: f"```rlx\n{case['program']}```\n\n```report\n{told(case['program'])}```", text
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_people_see_this_report(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    cases = list(CASE.finditer(text))
    assert cases and set(re.findall(r"^```(\w+)$", text, re.MULTILINE)) <= {"rlx", "report"}
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        path.write_text(renewed(text), encoding="utf-8")
        return
    changed = [(case["program"], case["report"], told(case["program"])) for case in cases]
    assert [each for each in changed if each[1] != each[2]] == []
