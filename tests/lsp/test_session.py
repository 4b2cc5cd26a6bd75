"""The process `rlx lsp` as an editor meets it: every request has one answer, whatever is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from rlx.checker.check import check_text

from .wire import TEXTS, Message, Session, Wire, framed

URI = "file:///work/model.rlx"
GOOD, WRONG = TEXTS[0], TEXTS[1]
PLACE = {"textDocument": {"uri": URI}, "position": {"line": 2, "character": 4}}

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED, CANCELLED, FAILED = -32002, -32800, -32803


@pytest.fixture
def wire() -> Iterator[Wire]:
    made = Wire()
    yield made
    made.close()


def code(message: dict[str, Any]) -> int:
    found: int = message["error"]["code"]
    assert message["error"]["message"]
    return found


def test_a_session_with_every_tenth_message_malformed(wire: Wire) -> None:
    """``python -m tests.lsp.test_session COUNT SEED`` runs longer ones."""
    random_session(wire, 150, 0)


def random_session(wire: Wire, count: int, seed: int) -> None:
    wire.start()
    session = Session(wire, seed)
    session.run(count)
    session.settle()
    for uri, text in session.texts.items():
        session.version += 1
        wire.change(uri, text, session.version)
        plain = text.replace("\r\n", "\n").replace("\r", "\n")
        expected = [d.code for d in check_text(plain).diagnostics if d.code != "PARSE-nothing"]
        assert wire.told(uri, session.version) == expected, (uri, text)
    assert wire.end() == 0
    assert {
        number: len(found) for number, found in wire.answers.items() if number in session.owed
    } == dict(session.owed)
    assert len(wire.without_id) == session.owed_without_id


def test_before_initialize_and_after_shutdown(wire: Wire) -> None:
    assert code(wire.answer(wire.ask("textDocument/hover", PLACE))) == NOT_INITIALIZED
    wire.open(URI, GOOD)  # ignored
    wire.start()
    again: Message = {"processId": None, "rootUri": None, "capabilities": {}}
    assert code(wire.answer(wire.ask("initialize", again))) == INVALID_REQUEST
    assert code(wire.answer(wire.ask("textDocument/hover", PLACE))) == INVALID_PARAMS
    wire.answer(wire.ask("shutdown", None))
    for method in ("textDocument/hover", "initialize", "shutdown", "x"):
        assert code(wire.answer(wire.ask(method, PLACE))) == INVALID_REQUEST
    wire.notify("exit", None)
    assert wire.wait() == 0


def test_wrong_parameters_of_initialize_can_be_corrected(wire: Wire) -> None:
    wrong: tuple[Any, ...] = (
        None,
        [],
        {},
        {"capabilities": 5},
        {"capabilities": {"textDocument": 5}},
    )
    for params in wrong:
        assert code(wire.answer(wire.ask("initialize", params))) == INVALID_PARAMS
    wire.start()
    assert wire.end() == 0


def test_exit_without_shutdown_has_status_1(wire: Wire) -> None:
    wire.start()
    wire.notify("exit", None)
    assert wire.wait() == 1


@pytest.mark.parametrize("begun", [False, True])
def test_a_closed_input_ends_the_process_and_its_children(begun: bool, wire: Wire) -> None:
    if begun:
        wire.start()
        wire.open(URI, GOOD)
        wire.told(URI, 1)
    children = descendants(wire.process.pid)
    assert bool(children) == begun
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert wire.wait() == 1
    assert_gone(children)


def test_a_killed_server_leaves_no_process(wire: Wire) -> None:
    wire.start()
    wire.open(URI, GOOD)
    wire.told(URI, 1)
    children = descendants(wire.process.pid)
    wire.process.kill()
    assert_gone(children)


def test_the_server_ends_with_the_editor(wire: Wire) -> None:
    """The editor of the session is another process than the one that holds its input."""
    editor = subprocess.Popen(["sleep", "600"])
    params: Message = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
    wire.answer(wire.ask("initialize", params))
    editor.kill()
    editor.wait()
    assert wire.wait() == 1


def test_requests_are_answered_before_a_closed_input_ends_the_session(wire: Wire) -> None:
    wire.start()
    wire.open(URI, WRONG)
    number = wire.ask("textDocument/hover", PLACE)
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    answer = wire.answer(number)  # as far as there is time for it
    assert "result" in answer or code(answer) == CANCELLED
    assert wire.wait() == 1


def test_a_wrong_length_does_not_hide_the_next_request(wire: Wire) -> None:
    wire.start()
    body = json.dumps({"jsonrpc": "2.0", "id": "late", "method": "x"}).encode()
    wire.raw(b"Content-Length: 30\r\n\r\n{}" + framed(body))  # too long
    assert code(wire.answer("late")) == NO_METHOD
    body = json.dumps({"jsonrpc": "2.0", "id": "next", "method": "x"}).encode()
    wire.raw(b"Content-Length: 3\r\n\r\n" + body + b"\n" + framed(body))  # too short
    assert code(wire.answer("next")) == NO_METHOD
    assert len(wire.answers["next"]) == 1
    assert [code(found) for found in wire.without_id] == [PARSE_ERROR] * 3
    assert wire.end() == 0


def test_edits_count_utf_16_units_and_may_be_reversed(wire: Wire) -> None:
    wire.start()
    text = GOOD.replace("y = R.add", "y = R.add").replace(
        "return y\n", "return y  # \U0001f600zz\n"
    )
    wire.open(URI, text, 1)
    assert wire.told(URI, 1) == []

    def edit(start: tuple[int, int], end: tuple[int, int], new: str, version: int) -> list[str]:
        places = [{"line": line, "character": at} for line, at in (start, end)]
        change = {"range": {"start": places[0], "end": places[1]}, "text": new}
        wire.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": URI, "version": version}, "contentChanges": [change]},
        )
        return wire.told(URI, version)

    at = text.split("\n")[3].index("\U0001f600")
    wire.change(URI, text, 3)
    assert wire.told(URI, 3) == []
    # behind the character, which has two units, and with the ends exchanged
    assert edit((3, at + 4), (3, at + 2), "", 4) == []
    number = wire.ask(
        "textDocument/formatting",
        {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}},
    )
    (change,) = wire.answer(number)["result"] or [{"newText": text.replace("zz", "")}]
    assert "\U0001f600" in change["newText"] and "z" not in change["newText"].split("#")[1]
    # the halves of a character may come one by one
    assert edit((3, at + 2), (3, at + 2), "\ud83d", 5) == []
    assert edit((3, at + 3), (3, at + 3), "\ude00", 6) == []
    assert edit((10**6, 0), (2**31 - 1, 2**31 - 1), "\n", 1_000_000) == []
    assert wire.end() == 0


SLOW = "@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n    return x\n"


@pytest.fixture
def slow_uri(tmp_path: Path) -> Iterator[tuple[Wire, str]]:
    """A server in which the check of any text with the word `endless` does not end."""
    (tmp_path / "sitecustomize.py").write_text(
        "import ctypes, sys\n"
        "if 'rlx.lsp.worker' in ' '.join(sys.orig_argv):\n"
        "    import rlx.checker.check as check\n"
        "    before = check.check_text\n"
        "    def check_text(text, path='<text>', target=None):\n"
        "        if 'endless' in text:\n"
        "            ctypes.PyDLL(None).sleep(1000)  # in C: Python interrupts nothing\n"
        "        return before(text, path)\n"
        "    check.check_text = check_text\n"
    )
    made = Wire({"PYTHONPATH": str(tmp_path), "RLX_FILE_TIMEOUT": "20"})
    yield made, "file:///work/slow.rlx"
    made.close()


LAYER = """\
    @R.function
    def f{}(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        y = R.exp( x)
        return y
"""
OPTIONS = {"options": {"tabSize": 4, "insertSpaces": True}}
HELD = ("diagnostic", "formatting")
"""What is asked of a long text that is answered only when it has been checked."""


def test_a_slow_document_does_not_stop_the_others(slow_uri: tuple[Wire, str]) -> None:
    wire, slow = slow_uri
    wire.start()
    wire.open(slow, f"{GOOD}# endless\n", 1)
    number = wire.ask("textDocument/hover", {**PLACE, "textDocument": {"uri": slow}})
    cancelled = wire.ask("textDocument/hover", {**PLACE, "textDocument": {"uri": slow}})
    wire.notify("$/cancelRequest", {"id": cancelled})
    assert code(wire.answer(cancelled)) == CANCELLED
    wire.open(URI, WRONG, 1)
    assert wire.told(URI, 1) != []
    assert "result" in wire.answer(wire.ask("textDocument/hover", PLACE))
    long, at = {"textDocument": {"uri": "file:///work/long.rlx"}}, {"line": 4, "character": 19}
    layers = map(LAYER.format, [*range(200), "endless"])
    text = f"@I.ir_module\nclass M:\n{''.join(layers)}"
    wire.open(long["textDocument"]["uri"], text, 1)
    held = [wire.ask(f"textDocument/{method}", long | OPTIONS) for method in HELD]
    for method in ("hover", "definition", "inlayHint", "rangeFormatting", "documentSymbol"):
        around = {"range": {"start": at, "end": at}, "position": at}
        assert wire.answer(wire.ask(f"textDocument/{method}", long | around | OPTIONS))["result"]
    assert not any(number in wire.answers for number in held)
    assert slow not in wire.diagnostics  # it still takes its time
    assert wire.told(slow, 1) == ["TIME"]
    assert wire.told(long["textDocument"]["uri"], 1) == ["TIME"]
    report, layout = (wire.answer(number)["result"] for number in held)
    assert [d["code"] for d in report["items"]] == ["TIME"] and "R.exp(x)" in layout[0]["newText"]
    assert code(wire.answer(number)) == FAILED
    assert "RLX_FILE_TIMEOUT" in wire.answers[number][0]["error"]["message"]
    wire.change(slow, GOOD, 2)
    assert wire.told(slow, 2) == []
    assert "result" in wire.answer(
        wire.ask("textDocument/hover", {**PLACE, "textDocument": {"uri": slow}})
    )
    assert wire.end() == 0


def test_work_on_an_old_text_is_ended(slow_uri: tuple[Wire, str]) -> None:
    wire, slow = slow_uri
    wire.start()
    wire.open(slow, f"{GOOD}# endless\n", 1)
    wire.change(slow, WRONG, 2)
    assert wire.told(slow, 2) == [d.code for d in check_text(WRONG).diagnostics]
    assert wire.end() == 0


def test_a_process_that_is_killed_is_no_bug(slow_uri: tuple[Wire, str]) -> None:
    wire, slow = slow_uri
    wire.start()
    wire.open("file:///first.rlx", GOOD, 1)
    assert wire.told("file:///first.rlx", 1) == []  # a process is there
    wire.open(slow, f"{GOOD}# endless\n", 1)
    number = wire.ask("textDocument/hover", {**PLACE, "textDocument": {"uri": slow}})
    with killing(wire.process.pid):  # whichever of its processes takes the text up, and when
        assert wire.told(slow, 1) == ["KILLED"]
    assert code(wire.answer(number)) == FAILED
    assert "killed from outside (SIGKILL)" in wire.answers[number][0]["error"]["message"]
    wire.change(slow, GOOD, 2)
    assert wire.told(slow, 2) == []
    assert wire.end() == 0


@contextmanager
def killing(parent: int) -> Iterator[None]:
    """Meanwhile, every process below another one is killed."""
    over = Event()

    def kill() -> None:
        while not over.wait(0.2):
            with suppress(ProcessLookupError, FileNotFoundError):  # it ends by itself meanwhile
                for process in descendants(parent):
                    os.kill(process, signal.SIGKILL)

    thread = Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def descendants(process: int) -> list[int]:
    found = []
    for entry in Path(f"/proc/{process}/task").glob("*/children"):
        for child in entry.read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def assert_gone(processes: list[int]) -> None:
    for _ in range(1000):
        left = [
            p
            for p in processes
            if Path(f"/proc/{p}/stat").exists()
            and "Z" not in Path(f"/proc/{p}/stat").read_text().rpartition(")")[2][:3]
        ]
        if not left:
            return
        time.sleep(0.01)
    pytest.fail(f"processes {left} are left")


if __name__ == "__main__":
    count, seed = (int(word) for word in (*sys.argv[1:], "1000", "0")[:2])
    begun = time.monotonic()
    random_session(Wire(), count, seed)
    print(f"{count} messages, each request answered once, {time.monotonic() - begun:.1f} s")
    os._exit(0)
