"""The campaign: chunks of seeds to workers, what they find to the state, until the time is up."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.processes import Worker, examine
from rlx.generate.campaign.state import CampaignState, ChunkResult

CHUNK = 5
"""As many programs are examined before their results are taken in."""

ATTEMPTS = 10
"""So often a chunk is begun again: workers die, but what fails always is a mistake."""

Examine = Callable[[int], ChunkResult]
"""Examines the chunk with that first seed."""


def chunks(state: CampaignState, seed: int) -> Iterator[int]:
    """The first seeds of the chunks that are not done yet."""
    first = seed * 1_000_000_000
    while True:
        if first not in state.done:
            yield first
        first += CHUNK


def local(
    oracle: str, against: str, jobs: int, memory: int | None = None
) -> tuple[ThreadPoolExecutor, Examine]:
    """Worker processes on this machine: threads that each keep one."""
    own = threading.local()

    def run(first: int) -> ChunkResult:
        if not hasattr(own, "worker"):
            own.worker = Worker(oracle, against, memory=memory)
        return examine(own.worker, first, range(first, first + CHUNK))

    return ThreadPoolExecutor(jobs), run


def campaign(
    state: CampaignState,
    submit: Callable[[int], Future[ChunkResult]],
    seed: int,
    seconds: float,
    jobs: int,
    progress: Callable[[CampaignState, float], None],
) -> list[Finding]:
    """Examine programs until the time is up; the findings that are new.

    Parameters
    ----------
    state
        Where results go; it is saved after each chunk.
    submit
        Begins with a chunk. A chunk that fails is begun again.

    Raises
    ------
    Exception
        What a chunk failed with more than :data:`ATTEMPTS` times.
    """
    started, before = time.monotonic(), state.seconds
    new: list[Finding] = []
    todo = chunks(state, seed)
    failed: Counter[int] = Counter()
    running: dict[Future[ChunkResult], int] = {}
    while time.monotonic() - started < seconds or running:
        while len(running) < 2 * jobs and time.monotonic() - started < seconds:
            first = next(todo)
            running[submit(first)] = first
        if time.monotonic() - started >= seconds:
            running = {future: first for future, first in running.items() if not future.cancel()}
        finished, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
        for future in finished:
            first = running.pop(future)
            error = future.exception()
            if error is not None:
                failed[first] += 1
                if failed[first] > ATTEMPTS:
                    raise error
                running[submit(first)] = first
                continue
            new += state.merge(future.result())
        if finished:
            state.seconds = before + time.monotonic() - started
            state.save()
        progress(state, time.monotonic() - started)
    state.seconds = before + time.monotonic() - started
    state.save()
    return new
