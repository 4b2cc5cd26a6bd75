"""Workers that die or hang are findings; the campaign goes on."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.processes import Worker, examine, processor_time

FAKE = (str(Path(__file__).with_name("fake_worker.py")),)


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


def test_a_chunk_goes_on_behind_them(worker: Worker) -> None:
    result = examine(worker, 1, range(1, 9))
    assert result.programs == 8
    assert [f.seed for f in result.findings] == [3, 5, 7]
    assert result.operators["relax.abs"] == 6
    assert result.rules["D01"] == 6
