"""Workers that die or hang are findings; the campaign goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.processes import Worker, examine

FAKE = (str(Path(__file__).with_name("fake_worker.py")),)


@pytest.fixture
def worker() -> object:
    made = Worker("derive", "", FAKE, patience=1.0)
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
    assert (found.kind, found.cause) == ("hang", "no answer within 1 s")
    assert worker.process is None


def test_a_chunk_goes_on_behind_them(worker: Worker) -> None:
    result = examine(worker, 1, range(1, 9))
    assert result.programs == 8
    assert [f.seed for f in result.findings] == [3, 5, 7]
    assert result.operators["relax.abs"] == 6
    assert result.rules["D01"] == 6
