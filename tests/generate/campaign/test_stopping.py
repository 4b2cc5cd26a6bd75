"""A campaign ends when it is told to, and reduces findings to programs that its oracle may be asked about."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import rlx
from rlx.generate.campaign.campaign import LocalWorkers, campaign
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.finding_file import OWN
from rlx.generate.campaign.oracles.case import Case, TimeIsUp
from rlx.generate.campaign.processes import StoppedError, Worker, examine
from rlx.generate.campaign.shrinking import reduce
from rlx.generate.campaign.state import CampaignState

SLEEPS = "import sys, time\nprint('{\"ready\": 1}', flush=True)\ntime.sleep(3600)\n"
ORACLE = """
def no_subtraction(module):
    import rlx

    assert "R.subtract" not in rlx.show(module), "a subtraction"
"""
PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float16"), y: R.Tensor((3,), "float16")) -> R.Tensor((2, 3), "float16"):
        a = R.add(x, y)
        b = R.nn.relu(a)
        c = R.subtract(b, y)
        d = R.multiply(c, c)
        return d
"""


def test_a_worker_that_is_stopped_answers_nobody() -> None:
    worker = Worker("check", "", ("-c", SLEEPS))
    said: list[BaseException] = []

    def wait() -> None:
        try:
            examine(worker, 0, range(5))
        except ChildProcessError as error:
            said.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while worker.process is None:
        time.sleep(0.01)
    worker.stop()
    waiting.join()
    worker.close()
    assert [type(error) for error in said] == [StoppedError]


def test_no_second_program_is_begun_after_the_deadline() -> None:
    workers = LocalWorkers("check", "", 1, deadline=time.monotonic())
    try:
        assert workers.run(0).programs == 1
        state = CampaignState()
        assert campaign(state, workers.submit, 1, 0.0, 1, lambda *_: None) == []
        assert state.programs == 0
    finally:
        workers.close()


def test_an_own_oracle_is_reduced_to_legal_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `y` the program would be smaller, and the oracle would say the same of it."""
    (tmp_path / "own.py").write_text(ORACLE)
    monkeypatch.chdir(tmp_path)
    name = "own.py:no_subtraction"
    words = "AssertionError: a subtraction"
    found = Finding(OWN, name, "no_subtraction", words, words, "", rlx.show(rlx.parse(PROGRAM)), 0)
    worker = Worker(name, "")
    try:
        small, minimal = reduce(found, worker, 600.0)
    finally:
        worker.close()
    assert minimal and rlx.check(small.text).ok
    assert "R.subtract" in small.text and "R.add" not in small.text


def test_a_program_ends_between_stages_when_the_time_is_up() -> None:
    begun: list[str] = []
    case = Case("", 0, "", begun.append, deadline=time.monotonic())
    with pytest.raises(TimeIsUp):
        for stage in "abcd":
            case.begin(stage)
    assert begun == ["a", "b"]
