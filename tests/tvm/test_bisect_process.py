"""The blamed pass for sequences of a process's answers and its end; TVM itself is not needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rlx.bisect.blame import Blame, Fine, Pipeline
from rlx.bisect.process import Process, UnusableError
from rlx.bisect.worker import OURS, PARSER

Said = dict[str, object]
READ: list[Said] = [{"begin": PARSER}]
FIRST: list[Said] = [*READ, {"text": "one"}, {"begin": OURS}, {"begin": "First"}]
MADE: list[Said] = [*FIRST, {"text": "two"}, {"begin": OURS}]
SECOND: list[Said] = [*MADE, {"end": "First"}, {"begin": "Second"}]
INNER: list[Said] = [*SECOND, {"begin": "Inner"}]


def examined(said: list[Said], last: str = "sys.exit(7)", patience: float = 60.0) -> str:
    """The answer where a process says these lines of each program, and then does the last."""
    lines = [f"print({json.dumps(each)!r}, flush=True)" for each in said]
    loop = "".join(f"    {line}\n" for line in ["x = sys.stdin.readline()", *lines, last])
    code = f"import sys, time\nprint('{{\"ready\": 1}}', flush=True)\nwhile True:\n{loop}"
    with Process(Pipeline(), patience) as process:
        process.command = [sys.executable, "-c", code]
        found = process.examine("text")
        assert repr(process.examine("text")) == repr(found)  # it, or its replacement, goes on
        return repr(found)


@pytest.mark.parametrize(
    ("said", "name", "done", "text"),
    [
        ([], PARSER, (), ""),
        (READ, PARSER, (), ""),
        (FIRST, "First", (), "one"),
        ([*MADE, {"end": "First"}], PARSER, ("First",), "two"),
        (SECOND, "Second", ("First",), "two"),
        (INNER, "Inner", ("First",), "two"),
        ([*INNER, {"end": "Inner"}], "Second", ("First", "Inner"), "two"),
        (
            [*INNER, {"end": "Inner"}, {"end": "Second"}],
            PARSER,
            ("First", "Inner", "Second"),
            "two",
        ),
    ],
)
def test_a_process_that_dies(said: list[Said], name: str, done: tuple[str, ...], text: str) -> None:
    blame = Blame(name, "crash", "exit status 7", "exit status 7", done, text)
    assert examined(said) == repr(blame)
    raised: Said = {"raised": "ValueError", "message": "words"}
    blame = Blame(name, "raises", "ValueError", "words", done, text)
    assert examined([*said, raised], "") == repr(blame)


def test_our_own_failure_is_no_pass() -> None:
    why = "the check or the run of rlx itself ended with exit status 7"
    assert examined(MADE) == repr(Fine(0, (why,)))
    assert examined([*INNER, {"begin": OURS}]) == repr(Fine(0, (why,)))
    said: Said = {
        "fine": 3,
        "not_compared": ["Pass: why"],
        "known": ["by-choice/A.rlx"],
        "refined": [],
    }
    assert examined([*READ, said], "") == repr(Fine(3, ("Pass: why",), ("by-choice/A.rlx",)))


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_process_that_others_end_says_nothing_about_a_pass(name: str) -> None:
    for said in (SECOND, MADE, READ):
        with pytest.raises(UnusableError, match=f"ended from outside .{name}"):
            examined(said, f"import os, signal; os.kill(os.getpid(), signal.{name})")


def test_what_is_under_way_when_others_end_a_process_is_done_again(tmp_path: Path) -> None:
    marker = tmp_path / "ended once"
    last = f"import os, signal, pathlib; p = pathlib.Path({str(marker)!r})"
    last += "; p.exists() or (p.touch(), os.kill(os.getpid(), signal.SIGKILL))"
    last += '; print(\'{"fine": 1, "not_compared": [], "known": [], "refined": []}\', flush=True)'
    assert examined(SECOND, last) == repr(Fine(1))


def test_a_process_that_says_nothing_more() -> None:
    words = "no answer within 0.5 s"
    blame = Blame("Second", "hang", words, words, ("First",), "two")
    assert examined(SECOND, "time.sleep(60)", 0.5) == repr(blame)


def test_what_the_check_finds() -> None:
    problem: Said = {"problem": "First", "kind": "illegal", "cause": "D14", "message": "words"}
    blame = Blame("First", "illegal", "D14", "words", (), "one", "two")
    assert examined([*MADE, {**problem, "before": "one", "after": "two"}], "") == repr(blame)


def test_a_process_that_is_not_ready() -> None:
    with Process(Pipeline()) as process:
        process.command = [sys.executable, "-c", 'print(\'{"unusable": "no such pass"}\')']
        with pytest.raises(UnusableError, match="no such pass"):
            process.examine("text")
        process.command = [sys.executable, "-c", ""]
        with pytest.raises(UnusableError, match="the worker process ended before the first pass"):
            process.examine("text")
