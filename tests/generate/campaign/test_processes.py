"""Workers that die or hang are findings; the campaign goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.generate.campaign.child import Child, Silence, processor_time, state
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.processes import EARLIER, Worker, culprit, examine
from rlx.grammar.nodes.node import replace

FAKE = (str(Path(__file__).with_name("fake_worker.py")),)


ECHO = r"""
import json, os, sys, time
for line in sys.stdin:
    print(json.dumps({"told": json.loads(line)}), flush=True)
    match json.loads(line):
        case "twice":
            print('{"again": "\u00e9"}\n{"and": "again"}', end="", flush=True)
            time.sleep(0.05)
            print("", flush=True)
        case "leave":
            sys.exit(7)
        case "abort":
            os.abort()
        case "sleep":
            time.sleep(60)
        case "work":
            any(iter(int, 1))
        case "tell":
            print(json.dumps({"is": os.environ.get("SAID")}), flush=True)
"""


@pytest.fixture
def child() -> Iterator[Child]:
    made = Child([sys.executable, "-c", ECHO], {"SAID": "so"})
    yield made
    made.close()


def heard(child: Child, what: object, patience: float, most: int = 9) -> list[dict[str, object]]:
    assert child.tell(what)
    found = []
    for said in child.answers(patience):
        found.append(said)
        if len(found) == most:
            break
    return found


def test_what_is_told_comes_back_line_by_line(child: Child) -> None:
    assert heard(child, "twice", 20.0, 3) == [{"told": "twice"}, {"again": "é"}, {"and": "again"}]
    assert heard(child, {"a": [1, None]}, 20.0, 1) == [{"told": {"a": [1, None]}}]
    assert heard(child, "tell", 20.0, 2)[1] == {"is": "so"}


def test_a_long_line_comes_back_whole(child: Child) -> None:
    told = "x" * (32 << 20)
    assert heard(child, told, 60.0, 1) == [{"told": told}]


@pytest.mark.parametrize(
    ("what", "kind", "how"),
    [
        ("leave", "crash", "exit status 7"),
        ("abort", "crash", "SIGABRT"),
        ("sleep", "hang", "no answer within 0.25 s"),
        ("work", "hang", "no answer within 0.25 s"),
    ],
)
def test_how_a_child_ends(what: str, kind: str, how: str, child: Child) -> None:
    assert heard(child, "ready", 20.0, 1) == [{"told": "ready"}]
    assert heard(child, what, 0.25) == [{"told": what}]
    assert child.ending() == (kind, how)


def test_who_has_left_is_not_told(child: Child) -> None:
    heard(child, "leave", 20.0)
    assert not child.tell("more")
    assert child.ending() == ("crash", "exit status 7")


def test_silence_counts_what_is_computed_and_slept_not_what_is_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, computed, letter = [0.0], [5.0], ["S"]
    monkeypatch.setattr("rlx.generate.campaign.child.time.monotonic", lambda: clock[0])
    monkeypatch.setattr("rlx.generate.campaign.child.processor_time", lambda _: computed[0])
    monkeypatch.setattr("rlx.generate.campaign.child.state", lambda _: letter[0])
    silence = Silence(1)

    def after(seconds: float, work: float, how: str, patience: float) -> bool:
        clock[0] += seconds
        computed[0] += work
        letter[0] = how
        return silence.longer_than(patience)

    assert not after(100.0, 0.0, "R", 1.0)  # the processor is busy with others
    assert not after(100.0, 0.0, "D", 1.0)
    assert not after(100.0, 1.0, "S", 1.0)  # exactly so long it computed
    assert after(1.0, 0.5, "R", 1.0)
    silence = Silence(1)
    assert not after(3.0, 0.0, "S", 4.0)
    assert not after(1.0, 0.0, "S", 4.0)
    assert after(0.5, 0.0, "", 4.0)  # where the system tells nothing, the clock counts


@pytest.fixture
def worker() -> object:
    made = Worker("derive", "", FAKE, patience=0.2)
    yield made
    made.close()


def test_a_process_that_dies_is_a_finding_at_its_stage(worker: Worker) -> None:
    found = worker.examine(3)
    assert isinstance(found, Finding)
    assert (found.kind, found.stage, found.cause) == ("crash", "SomePass", "signal SIGSEGV")
    assert found.text == "program 3"
    assert not isinstance(worker.examine(4), Finding)


def test_a_process_that_nobody_waited_for_is_ended(child: Child) -> None:
    assert child.ending() == ("hang", "no answer within 0 s")


def test_a_process_that_hangs_is_ended(worker: Worker) -> None:
    found = worker.examine(5)
    assert isinstance(found, Finding)
    assert (found.kind, found.cause) == ("hang", "no answer within 0.2 s")
    assert worker.process is None


def test_the_time_of_a_process_is_that_of_the_processor() -> None:
    before = processor_time(os.getpid())
    time.sleep(0.2)
    waited = processor_time(os.getpid())
    while processor_time(os.getpid()) <= before:
        sum(range(10_000))
    assert waited - before < 0.2
    assert processor_time(-1) == 0.0
    assert (state(os.getpid()), state(-1)) == ("R", "")


def test_a_chunk_goes_on_behind_them(worker: Worker) -> None:
    result = examine(worker, 1, range(1, 9))
    assert result.programs == 8
    assert [f.seed for f in result.findings] == [3, 5, 7]
    assert result.operators["relax.abs"] == 6
    assert result.rules["D01"] == 6


def test_who_breaks_the_memory_is_found(worker: Worker) -> None:
    """Program 10 ends the process over program 12; alone program 12 does not, and 10 does."""
    result = examine(worker, 8, range(8, 14))
    assert result.programs == 6
    [found] = result.findings
    assert (found.seed, found.text, found.cause) == (10, "program 10", "signal SIGABRT")
    assert found.sentence.endswith("At first it ended over a later program.")


def test_whom_nobody_ends_again(worker: Worker) -> None:
    lost = Finding("crash", "derive", "SomePass", "signal SIGBUS", "It ended.", "", "text", 1)
    found = culprit(worker, lost)
    assert found.sentence == "It ended. Alone the program does not end it."
    assert found.like(lost) and found.text == "text"
    hung = replace(lost, kind="hang", cause="no answer")
    assert culprit(worker, hung) is hung


def test_a_process_remembers_its_latest_programs(worker: Worker) -> None:
    for seed in (1, 2, *range(20, 20 + EARLIER)):
        worker.examine(seed)
    assert list(worker.earlier) == [(s, f"program {s}") for s in range(20, 20 + EARLIER)]
    worker.examine(3)
    worker.examine(4)
    assert list(worker.earlier) == [(4, "program 4")]


@pytest.mark.parametrize("asked", ["", "1"])
def test_what_a_process_says_of_its_errors_is_shown_if_asked(
    asked: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RLX_TRACEBACK", asked)
    made = Child([sys.executable, "-c", "import sys; sys.exit('this is wrong')"])
    assert [*made.answers(60)] == []
    made.close()
    assert capfd.readouterr().err.strip() == ("this is wrong" if asked else "")


PARENT = """
import sys
from rlx.generate.campaign.child import Child
ENDLESS = '''
import json, os
from rlx.generate.campaign.child import end_with_parent
end_with_parent()
print(json.dumps({"pid": os.getpid()}), flush=True)
10 ** 10 ** 10  # no Python runs meanwhile
'''
child = Child([sys.executable, "-c", ENDLESS])
for said in child.answers(600):
    print(said["pid"], flush=True)
"""


def test_a_process_ends_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert state(pid) == "R"
        parent.kill()
    until = time.monotonic() + 30
    while state(pid) not in ("", "Z") and time.monotonic() < until:
        time.sleep(0.05)
    assert state(pid) in ("", "Z")


KILLED = """
import json, os, signal, sys
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    seed = json.loads(line)["seed"]
    if seed == 2 and sys.argv[1] == "early":
        os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"text": f"program {seed}"}), flush=True)
    print(json.dumps({"stage": "SomePass"}), flush=True)
    if seed == 2 and (sys.argv[1] == "always" or not os.path.exists(sys.argv[1])):
        open(sys.argv[1], "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"done": seed, "findings": [], "operators": [], "rules": []}), flush=True)
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    script = tmp_path / "worker.py"
    script.write_text(KILLED)
    return script


def test_a_process_that_somebody_kills_is_no_finding(killed: Path, tmp_path: Path) -> None:
    """The program is examined again, and nothing is said against it."""
    worker = Worker("derive", "", (str(killed), str(tmp_path / "done")))
    result = examine(worker, 0, range(5))
    worker.close()
    assert (tmp_path / "done").exists()
    assert (result.programs, result.findings) == (5, [])


def test_a_program_over_which_each_process_is_killed_is_a_finding(
    killed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    worker = Worker("derive", "", (str(killed), "always"))
    result = examine(worker, 0, range(5))
    worker.close()
    assert result.programs == 5
    assert [(found.cause, found.text) for found in result.findings] == [
        ("signal SIGKILL", "program 2")
    ]


def test_a_process_that_is_lost_before_it_has_a_program(killed: Path) -> None:
    worker = Worker("derive", "", (str(killed), "early"))
    with pytest.raises(ChildProcessError, match="before it had a program: signal SIGKILL"):
        examine(worker, 0, range(5))
    worker.close()
