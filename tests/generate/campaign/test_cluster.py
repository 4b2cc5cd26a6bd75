"""A campaign on a cluster whose worker is killed: no chunk is lost, none counts twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import distributed

from rlx.generate.campaign.campaign import CHUNK, campaign
from rlx.generate.campaign.cluster import connect
from rlx.generate.campaign.state import State

AFTER = 3
"""So many chunks are done when a worker is killed."""
JOBS = 2
UNDER_WAY = 2 * JOBS


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    make: Any = distributed.LocalCluster
    state, killed = State(tmp_path / "state.json"), list[int]()
    with make(n_workers=JOBS, threads_per_worker=1, dashboard_address=None) as cluster:

        def progress(state: State, _: float) -> None:
            if len(state.done) >= AFTER and not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        submit, close = connect(cluster.scheduler_address, "check", "")
        campaign(state, submit, 11, 8.0, JOBS, progress)
        close()
    assert killed
    numbers = sorted((first - 11_000_000_000) // CHUNK for first in state.done)
    assert len(numbers) > AFTER + UNDER_WAY
    # What was under way when the time was up may be missing, nothing before it.
    begun = numbers[: len(numbers) - UNDER_WAY]
    assert begun == list(range(len(begun)))
    assert set(state.done.values()) == {CHUNK}
    assert State(tmp_path / "state.json").programs == state.programs
