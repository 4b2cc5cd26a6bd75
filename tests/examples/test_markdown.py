"""Programs in Markdown files, each followed by what the checker says of it.

A fenced block ``rlx`` holds a program; the block ``diagnostics`` after it holds one line for each
diagnostic, in order of position::

    LINE: SEVERITY[CODE]

The tests of the rooms keep the words. An empty block means a clean program. `RLX_UPDATE_SNAPSHOTS=1 pytest tests/examples` writes the blocks anew.
"""

import os
import re
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Source, region

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.md"))

CASE = re.compile(
    r"^```rlx\n(?P<program>.*?)^```\n(?P<between>\s*)^```diagnostics\n(?P<expected>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def heading_before(text: str, offset: int) -> str:
    """The title of the section that an offset lies in."""
    return str(HEADING.findall(text[:offset])[-1])


def found(program: str) -> str:
    """The diagnostics of a program, in the form of the block."""
    report = check_text(program, "program.rlx")
    source = Source(program)
    return "".join(
        f"{region(source, d.span)[0]}: {d.severity}[{d.code}]\n" for d in report.diagnostics
    )


def cases() -> list[tuple[str, str, str]]:
    """Name, program and expected diagnostics of every case."""
    listed = []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        for match in CASE.finditer(text):
            name = f"{path.stem}: {heading_before(text, match.start())}"
            listed.append((name, match["program"], match["expected"]))
    return listed


CASES = cases()


def update() -> None:
    """Write what is found into the files."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        for match in reversed(list(CASE.finditer(text))):
            start, end = match.span("expected")
            text = text[:start] + found(match["program"]) + text[end:]
        path.write_text(text, encoding="utf-8")


if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
    update()
    CASES = cases()


@pytest.mark.parametrize(("program", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_program(program: str, expected: str) -> None:
    assert found(program) == expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_program_lacks_its_diagnostics(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("```rlx\n") == len(CASE.findall(text)) > 0
    names = [name for name, _, _ in CASES if name.startswith(f"{path.stem}: ")]
    assert len(names) == len(set(names)), "two sections have one title"
