"""A campaign on a cluster whose worker is killed: no chunk is lost, none counts twice."""

from __future__ import annotations

import logging
import os
import signal
import time
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import pytest

from rlx.generate.campaign.campaign import CHUNK, campaign
from rlx.generate.campaign.cluster import ClearTextError, connect, refuse_clear_text
from rlx.generate.campaign.state import CampaignState, ChunkResult

AFTER = 3
"""So many chunks are done when a worker is killed."""
JOBS = 2
UNDER_WAY = 2 * JOBS
LONG = 300.0
"""Seconds after which the campaign ends; they are over as soon as enough is done."""


@pytest.mark.parametrize(
    "address",
    [
        *("tcp://127.0.0.1:8786", "127.0.0.1:8786", "localhost:8786", "tcp://[::1]:8786"),
        *("tls://scheduler:8786", "wss://scheduler:8786", "ws://127.8.9.1:80/path", "tcp://[::1]"),
    ],
)
def test_a_scheduler_here_or_behind_encryption_is_taken(address: str) -> None:
    refuse_clear_text(address)


@pytest.mark.parametrize(
    "address",
    [
        *("tcp://scheduler:8786", "scheduler:8786", "10.0.0.7:8786", "tcp://0.0.0.0:8786"),
        *("ws://example.org:80", "ucx://10.0.0.7:1", "tcp://[2001:db8::1]:8786", "http://a:1"),
        *("tcp://localhost.example.org:1", "tcp://127.0.0.1.example.org:1", "tcp://", "[::]:8786"),
        *("tcp://127.0.0.1@evil:1", "tcp://2130706433:1", "TLS://scheduler:1"),
    ],
)
def test_another_machine_without_encryption_is_refused(address: str) -> None:
    with pytest.raises(ClearTextError, match=r"not encrypted.*--dask-unencrypted"):
        refuse_clear_text(address)


def test_a_killed_worker_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make: Any = distributed.LocalCluster
    state, killed = CampaignState(tmp_path / "state.json"), list[int]()
    begun: list[tuple[int, Future[ChunkResult]]] = []
    passed = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed[0])
    monkeypatch.setattr("rlx.generate.campaign.campaign.time", clock)
    # What a cluster says of a worker that dies is no news to who killed it.
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": None, "host": "127.0.0.1"}
    with make(n_workers=JOBS, threads_per_worker=1, **quiet) as cluster:

        def progress(state: CampaignState, _: float) -> None:
            if len(state.done) >= AFTER and not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)
            if len(state.done) > AFTER + UNDER_WAY:
                passed[0] = LONG

        submit, close = connect(cluster.scheduler_address, "check", "")

        def noted(first: int) -> Future[ChunkResult]:
            begun.append((first, submit(first)))
            return begun[-1][1]

        campaign(state, noted, 11, LONG, JOBS, progress)
        close()
    assert killed
    # What was under way when the time was up may be missing, nothing else that was begun.
    cut_off = {first for first, future in begun if future.cancelled()}
    assert len(cut_off) <= UNDER_WAY
    assert {first for first, _ in begun} == state.done.keys() | cut_off
    assert len(state.done) > AFTER + UNDER_WAY
    assert set(state.done.values()) == {CHUNK}
    assert CampaignState(tmp_path / "state.json").programs == state.programs
