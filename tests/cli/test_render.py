"""Every format, held to a snapshot; `RLX_UPDATE_SNAPSHOTS=1 pytest tests/cli` writes them anew."""

import io
import json
import os
from pathlib import Path

import pytest

from rlx.checker.explain import Described
from rlx.checker.questions import Asked, Questions
from rlx.checker.render import github, human, sarif, statistics
from rlx.checker.render import json as as_json
from rlx.checker.render.files import FileReport, Obligations, summarise
from rlx.checker.render.human import ANSI, PLAIN, show, theme_for, width
from rlx.grammar.diagnostic import Diagnostic, Edit, Label, Source
from rlx.grammar.streams import harmless
from rlx.grammar.wording import counted
from tests.markdown import assert_example

HOSTILE = [
    *("\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\u2028", "\x85", "\ufeff"),
    "\U000e0041",
]

SNAPSHOTS = Path(__file__).parent / "snapshots"
DRAWN = Path(__file__).with_name("drawn.md")

TEXT = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
\tz = R.add(x, y)
    字符 = R.call_packed("漢字", z)
    both = R.concat(
        (x, y),
        axis=0,
    )
    if c:
        a = 1
        b = 2
        c = 3
        d = 4
        e = 5
        f = 6
    return z
    q = R.tuple({})
""".format(", ".join(f"v{i}" for i in range(120)))

SOURCE = Source(TEXT, "models/one.rlx")


def span(words: str, nth: int = 0) -> tuple[int, int]:
    """The positions of the words in the text."""
    at = -1
    for _ in range(nth + 1):
        at = TEXT.index(words, at + 1)
    return at, at + len(words)


def between(first: str, last: str) -> tuple[int, int]:
    return span(first)[0], span(last)[1]


CASES = {
    "labels": Diagnostic(
        "D14-argument",
        "warning",
        "`x` is Tensor((n, 4)) and `y` is Tensor((m, 4))",
        span("R.add(x, y)"),
        "the shapes differ unless n == m",
        (Label(span("x: R.Tensor"), "n is here"), Label(span("y: R.Tensor"), "m is here")),
        ("a first note\nof two lines", "a second one"),
        "cast one of them",
        Edit(span("x, y)"), "x, y_cast)"),
        {"n": 1, "m": 2},
    ),
    "nested": Diagnostic(
        "D14-arity",
        "error",
        "three marks in one line",
        span("R.add(x, y)"),
        "the call",
        (Label(span("x, y"), "its arguments"), Label(span("y)"), "the last one")),
    ),
    "wide": Diagnostic(
        "D05", "error", "a string of two columns a letter", span('"漢字"'), "a string"
    ),
    "from-the-middle": Diagnostic(
        "D14", "error", "a span of lines", between("R.concat", "=0,\n    )"), "ends"
    ),
    "whole-lines": Diagnostic(
        "WF07-if",
        "error",
        "a span of many lines",
        between("if c", "f = 6"),
        "this `if`",
        (
            Label(span("return z"), "a mark outside"),
            Label(span("c = 3"), "one in the part left out"),
        ),
    ),
    "far-apart": Diagnostic(
        "WF02-unbound",
        "error",
        "nothing binds `v100`",
        span("v100"),
        "used here",
        (Label(span("q = "), "bound here"),),
    ),
    "long": Diagnostic(
        "NF4", "note", "a span longer than the window", between("R.tuple", "v119)"), "all of it"
    ),
    "end-of-file": Diagnostic(
        "PARSE", "error", "something is missing", (len(TEXT), len(TEXT)), "here"
    ),
    "no-place": Diagnostic(
        "READ", "error", "cannot read this file: No such file", None, help="look again"
    ),
    "steering": Diagnostic("D01", "error", "\x1b[31mred\u202e and\tback", span("z ="), "\x07 bell"),
}

FILES = [
    FileReport("models/one.rlx", SOURCE, tuple(CASES.values()), Obligations(41, 1, 2)),
    FileReport("models/100%, really: two.rlx", None, (), Obligations(7, 0, 0)),
    FileReport("gone.rlx", None, (CASES["no-place"],), outcome="unreadable"),
]


def assert_snapshot(name: str, text: str) -> None:
    """The text is what the snapshot of that name holds."""
    path = SNAPSHOTS / name
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_human(name: str) -> None:
    file = FileReport("models/one.rlx", SOURCE, (CASES[name],))
    assert_example(DRAWN, name.replace("-", " "), human.render_diagnostic(CASES[name], file))


def test_human_colours_say_the_same() -> None:
    """The coloured text is the plain one once the escape sequences are gone."""
    import re

    coloured = harmless(human.render(FILES, ANSI))
    assert "\x1b[1;31merror[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == human.render(FILES)


@pytest.mark.parametrize(
    ("files", "verdict"),
    [
        ([FileReport("a", None)], "1 file checked: no problems\n"),
        (
            [FileReport("a", None, (), Obligations(2, 0, 1)), FileReport("b", None)],
            "2 files checked: no problems; 3 proof obligations: 2 proved, 1 open\n",
        ),
        (
            [FileReport("a", None, tuple(CASES.values()))],
            "1 file checked: 8 errors, 1 warning, 1 note\n",
        ),
    ],
)
def test_human_ends_with_a_verdict(files: list[FileReport], verdict: str) -> None:
    assert human.render(files).splitlines(keepends=True)[-1] == verdict


def test_json() -> None:
    text = as_json.render(FILES)
    assert text.isascii()
    assert list(json.loads(text)) == ["version", "files", "summary"]
    assert_snapshot("report.json", text)


CALLS = Described("Calls", "A call fits.", "A call fits.", "A **call** fits.", "derivation.md")


def test_sarif() -> None:
    text = sarif.render(FILES, {"D14": CALLS}.get, "1.2.3", "https://docs.example/rlx/")
    assert_snapshot("report.sarif", text)
    (run,) = json.loads(text)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        # §3.27.5-6: the identifier is the rule's, or starts with it and a slash; the index points at the rule
        assert result["ruleId"].split("/")[0] == rules[result["ruleIndex"]]
        assert result["level"] in ("error", "warning", "note")
        for location in result["locations"]:
            artifact = location["physicalLocation"]["artifactLocation"]
            assert run["artifacts"][artifact["index"]]["location"]["uri"] == artifact["uri"]
    assert not run["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/c#d.rlx", "a%20b/c%23d.rlx"),
        (os.path.abspath("ä.rlx"), "%C3%A4.rlx"),
        (os.path.abspath("../ä.rlx"), "../%C3%A4.rlx"),
        ("bad\udcff.rlx", "bad%FF.rlx"),
        ("c:d/e.rlx", "c%3Ad/e.rlx"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_sarif_locations_are_uris(path: str, uri: str) -> None:
    log = json.loads(sarif.render([FileReport(path, None)], lambda _: None, "0"))
    assert log["runs"][0]["artifacts"][0]["location"]["uri"] == uri


def test_github() -> None:
    text = github.render(FILES)
    assert len(text.splitlines()) == len(CASES) + 1
    assert_snapshot("report.github.txt", text)


def test_github_escapes() -> None:
    found = Diagnostic("D01", "error", "100%\r\nof: a, b", (0, 1))
    file = FileReport("100%, a:b.rlx", Source("x"), (found,))
    assert github.render([file]) == (
        "::error title=D01,file=100%25%2C a%3Ab.rlx,line=1,endLine=1,col=1,endColumn=2"
        "::100%25%0D%0Aof: a, b\n"
    )


def test_statistics() -> None:
    asked = [
        FileReport("one.rlx", None, questions=Questions(MEANS, (SLOW[0], SLOW[2]))),
        FileReport("two.rlx", None, questions=Questions({"points": 1}, (SLOW[1], SLOW[3]))),
    ]
    assert_snapshot("statistics.txt", statistics.render([*FILES, *asked]))
    assert statistics.render([FileReport("a", None)]) == ""
    nothing = FileReport("a", None, questions=Questions({}, ()))
    assert statistics.render([nothing]) == "no questions to the prover\n"
    found = json.loads(as_json.render(asked))["statistics"]
    assert found["codes"] == {}
    assert found["questions"]["asked"] == 159
    assert found["questions"]["means"] == {"identical": 120, "remembered": 38, "points": 1}
    assert [slow["path"] for slow in found["questions"]["slowest"]] == [
        "one.rlx",
        "two.rlx",
        "one.rlx",
    ]
    assert found["questions"]["slowest"][0] == {
        "seconds": 0.25,
        "question": "n * m // m == n",
        "path": "one.rlx",
        "line": 3,
        "column": 5,
    }
    assert "statistics" not in json.loads(as_json.render([FileReport("a", None)]))


MEANS = {"remembered": 38, "identical": 120}
SLOW = [
    Asked(0.25, "n * m // m == n", 3, 5),
    Asked(0.0123, "n == m", 7, 1),
    Asked(0.001, "n >= 1", 1, 1),
    Asked(0.0001, "m >= 1", 1, 1),
]


def test_a_line_of_50_million_characters_is_cropped() -> None:
    text = "x = R.add(" + "a" * 50_000_000 + "!"
    found = Diagnostic("PARSE", "error", "unexpected `!`", (len(text) - 1, len(text)), "here")
    report = human.render([FileReport("big.rlx", Source(text), (found,))])
    assert max(map(len, report.splitlines())) < 140
    assert report.splitlines()[4].endswith("^ here")


@pytest.mark.parametrize(
    ("character", "columns"), [("a", 1), ("ä", 1), ("字", 2), ("\u0301", 0), ("\uff21", 2)]
)
def test_width(character: str, columns: int) -> None:
    assert width(character) == columns


@pytest.mark.parametrize("at", [0, 1, 50, 99, 150, 298, 299, 300])
def test_the_window_holds_what_it_is_for(at: int) -> None:
    line = "".join(chr(ord("a") + i % 26) for i in range(300))
    shown = show(line, at, at + 1, 60)
    assert len(shown.text) <= 60
    assert shown.first <= at <= shown.last
    if at < 300:
        assert shown.text[shown.column(at)] == line[at]


def test_summary_counts_files_and_severities() -> None:
    summary = summarise(FILES)
    assert (summary.files, summary.errors, summary.warnings, summary.notes) == (3, 9, 1, 1)
    assert summary.obligations.proved == 48
    assert [counted(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


@pytest.mark.parametrize("character", HOSTILE)
def test_marks_stand_below_what_they_mean(character: str) -> None:
    """A character that is shown escaped takes the columns of its escape, a wide one takes two."""
    text = f'x = "字{character}" + yy'
    place = text.index("yy")
    found = Diagnostic("X", "error", "wrong", (place, place + 2), "here")
    lines = human.render_diagnostic(found, FileReport("a", Source(text, "a"), (found,))).split("\n")
    (shown,) = [line for line in lines if line.startswith("1 | ")]
    (marks,) = [line for line in lines if line.endswith("^^ here")]
    assert sum(map(width, shown[: shown.index("yy")])) == marks.index("^")
    assert character not in "\n".join(lines)


@pytest.mark.parametrize("at_terminal", [False, True])
@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
@pytest.mark.parametrize("refused", ["", "1"])
@pytest.mark.parametrize("forced", ["", "0", "false", "1", "true"])
def test_colours_are_for_terminals_that_nothing_keeps_from_them(
    monkeypatch: pytest.MonkeyPatch, forced: str, refused: str, terminal: str, at_terminal: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", refused)
    monkeypatch.setenv("FORCE_COLOR", forced)
    monkeypatch.setenv("TERM", terminal)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: at_terminal, raising=False)
    wanted = forced in ("1", "true") if forced else at_terminal and terminal == "xterm"
    assert theme_for(stream) is (ANSI if wanted and not refused else PLAIN)
