"""Printed text cannot command: hostile text through commands, formats and the server. `printed.py` has the law."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from rlx.bisect.blame import Blame, Pipeline
from rlx.bisect.report import markdown
from rlx.checker.check import check_text
from rlx.checker.render import sarif
from rlx.checker.render.files import FileReport
from rlx.generate.campaign.finding_file import FindingFile, parse_entry, show
from rlx.generate.campaign.index import page
from rlx.grammar.diagnostic import Diagnostic, Label, Source
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.formatting import format_text
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

from .printed import (
    EVIL,
    LINES,
    RAW,
    RETURNS,
    SHORT,
    WORD,
    answered,
    documented,
    filled,
    hidden,
    literal,
    markdown_wrong,
    page_wrong,
    programs,
    spoiled,
    trial,
    wrong,
)

PROGRAMS = list(programs())


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_programs(number: int, tmp_path: Path) -> None:
    suffix, text = PROGRAMS[number]
    assert trial(suffix, text, tmp_path, random.Random(number)) == []


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_notes_and_helps_of_programs_are_one_line(number: int) -> None:
    """A renderer cannot know who began a second line, so nothing of a program may begin one."""
    suffix, text = PROGRAMS[number]
    for found in check_text(text).diagnostics if suffix == ".rlx" else ():
        assert not any("\n" in told for told in (*found.notes, found.help or ""))


@pytest.mark.parametrize("seed", range(6))
def test_programs_of_all_diagnostics(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    text = spoiled(rng.choice(documented()), rng)
    assert trial(".rlx", text, tmp_path, rng) == []


@pytest.mark.parametrize("number", range(len(LINES)))
@pytest.mark.parametrize("at_terminal", [False, True])
def test_command_lines(
    number: int, at_terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert answered(LINES[number], at_terminal) == []


@pytest.mark.parametrize("text", [EVIL, f"a {SHORT}", f"{WORD}\n::error::x"])
def test_the_law_sees(text: str) -> None:
    assert wrong(text) and markdown_wrong(f"```text\n{text}\n```")
    assert wrong("first\n##[error]x") and wrong(" ::error::x") and hidden("\x7f")
    assert page_wrong("<p><script>alert(1)</script>")


@pytest.mark.parametrize(
    "text", [EVIL, SHORT, "\U000e0041\u200d", "##vso[x] ###[y]", "\\\\##[x", "👩\u200d👩"]
)
def test_a_printed_literal_reads_back(text: str) -> None:
    program = filled(RETURNS).replace(literal(EVIL), literal(text))
    printed = print_module(parse(program).modules[0])
    assert wrong(printed) == []
    assert print_module(parse(printed).modules[0]) == printed
    assert literal(text) in program and any(
        getattr(node, "value", None) == text for node in _nodes(parse(printed).modules[0])
    )


def _nodes(module: object) -> list[object]:
    return [node for function in module.functions.values() for node in expressions(function)]  # type: ignore[attr-defined]


def test_formatting_keeps_comments(tmp_path: Path) -> None:
    """Comments stay as they are in place and in a pipe; only a terminal gets them escaped
    (`tests/grammar/test_streams.py`).
    """
    program = f"# {RAW}\n{filled(RETURNS)}"
    made = format_text(program, "p.rlx").text
    assert made is not None and RAW in made
    path = tmp_path / "p.rlx"
    path.write_text(program, encoding="utf-8")
    assert answered(["fmt", str(path)]) == []
    assert path.read_text(encoding="utf-8") == made
    piped = subprocess.run(
        [sys.executable, "-m", "rlx", "fmt", "-"],
        input=program.encode(),
        capture_output=True,
        check=True,
    )
    assert piped.stdout.decode() == made


def report_of(path: str) -> FileReport:
    source = Source(f'x = "{RAW}"', path)
    message = f"{EVIL} [a link](https://example.org)"
    found = Diagnostic(
        "WF02-undefined",
        "error",
        message,
        (0, 1),
        EVIL,
        (Label((0, 1), EVIL),),
        (EVIL,),
        EVIL,
        source=source,
    )
    return FileReport(path, source, (found,))


@pytest.mark.parametrize(
    "path",
    [
        "a b.rlx",
        "a%20b#c?d.rlx",
        "/a/\x1b\n:.rlx",
        "c:d.rlx",
        "\udcff.rlx",
        "\ud800x.rlx",
        "字.rlx",
    ],
    ids=ascii,
)
def test_sarif(path: str) -> None:
    log = sarif.render([report_of(path)], lambda _: None, "1")
    (run,) = json.loads(log.encode("utf-8").decode("utf-8"))["runs"]
    (result,) = run["results"]
    texts = [result["message"]["text"], *(r["message"]["text"] for r in result["relatedLocations"])]
    for text in texts:
        assert "\\[x](command:evil)" in text
    address = run["artifacts"][0]["location"]["uri"]
    assert address.isascii() and address.isprintable() and " " not in address
    decoded = unquote(urlsplit(address).path, errors="surrogateescape")
    if "\ud800" not in path:
        assert os.path.abspath(decoded) == os.path.abspath(path)


def test_the_report_of_bisect() -> None:
    blame = Blame("FuseOps", "raises", EVIL, EVIL, (SHORT,), EVIL, EVIL)
    pipeline = Pipeline(f"`{SHORT}`", SHORT, (1,), 0)
    text = markdown(blame, pipeline, filled(RETURNS), 10)
    assert hidden(text) == []
    outside = [bad for bad in markdown_wrong(text) if bad.startswith("markup")]
    assert outside == [] and not re.search(r"^\s*::", text, re.MULTILINE)


def test_findings() -> None:
    told = " ".join(EVIL.split())
    entry = FindingFile(
        "crash", "a", "x = 1", told, "x", "D01", "parser", "none", "any|x", "0", "read", error="x"
    )
    text = show(entry)
    assert wrong(text) == []
    again = parse_entry("crash", "a", text)
    assert show(again) == text
    made = [
        child
        for token in MarkdownIt().enable("table").parse(page([entry]))
        for child in token.children or ()
    ]
    links = {child.attrs["href"] for child in made if child.type == "link_open"}
    assert links == {entry.path, "#crash", "../generate/README.md"}
    assert not any(child.type in ("html_inline", "image") for child in made)


def test_errors_of_the_system(tmp_path: Path) -> None:
    """By the installed command, with bytes in file names that are no text."""
    folder = os.fsencode(tmp_path) + b"/a\xff\x1b[2J\n::error::x"
    os.mkdir(folder)
    locked = folder + b"/p.rlx"
    with open(locked, "wb") as file:
        file.write(b"@R.function\n\xff")
    for words in (
        [b"check", locked],
        [b"check", folder],
        [b"run", folder],
        [b"check", locked, b"--format", b"sarif"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "rlx", *words], capture_output=True, check=False
        )
        assert wrong(done.stdout.decode("utf-8")) == [] and wrong(done.stderr.decode("utf-8")) == []
