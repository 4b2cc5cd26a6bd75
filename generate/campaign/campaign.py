"""The campaign: workers get chunks of seeds and report findings until the time is up."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.processes import Worker, examine
from rlx.generate.campaign.state import CampaignState, ChunkResult

CHUNK = 5
"""The programs of a chunk, whose results are taken in together."""

ATTEMPTS = 10
"""The most further attempts at a chunk: workers may die, but one that always fails is a bug."""

FOR_REDUCTION = 0.25
"""The share of the time in which findings are reduced."""

GRACE = 0.04
"""The share of the time, at its end, in which programs under way may end and none is begun."""

ENDING = 0.2
"""Seconds in which a chunk that is ended gives its results."""

FIRST = 15.0
"""Seconds that the very first program may take in a campaign that is shorter: workers must start."""


def chunks(state: CampaignState, seed: int) -> Iterator[int]:
    """The first seeds of the chunks that are not done yet."""
    first = seed * 1_000_000_000
    while True:
        if first not in state.done:
            yield first
        first += CHUNK


class LocalWorkers:
    """Worker processes on this machine, each kept by one thread.

    Parameters
    ----------
    deadline
        After this time of ``time.monotonic``, only the first program of a chunk is begun.
    """

    def __init__(
        self,
        oracle: str,
        against: str,
        jobs: int,
        memory: int | None = None,
        deadline: float = math.inf,
    ) -> None:
        self.oracle, self.against, self.memory, self.deadline = oracle, against, memory, deadline
        self.pool = ThreadPoolExecutor(jobs)
        self._own = threading.local()
        self._all: list[Worker] = []

    def submit(self, first: int) -> Future[ChunkResult]:
        """Begin with the chunk that has this first seed."""
        return self.pool.submit(self.run, first)

    def run(self, first: int) -> ChunkResult:
        """Examine a chunk in this thread."""
        if not hasattr(self._own, "worker"):
            self._own.worker = Worker(self.oracle, self.against, memory=self.memory)
            self._all.append(self._own.worker)
        return examine(self._own.worker, first, range(first, first + CHUNK), self.deadline)

    def finish(self) -> None:
        """End the processes that have examined programs; their chunks give the results so far."""
        for worker in self._all:
            if worker.earlier:
                worker.stop()

    def close(self) -> None:
        """End the processes at once, whatever they are doing."""
        for worker in self._all:
            worker.stop()
        self.pool.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.close()


def campaign(
    state: CampaignState,
    submit: Callable[[int], Future[ChunkResult]],
    seed: int,
    seconds: float,
    jobs: int,
    progress: Callable[[CampaignState, float], None],
    finish: Callable[[], object] = lambda: None,
) -> list[Finding]:
    """Examine programs until the time is up; the findings that are new.

    If there are findings without a file, the last :data:`FOR_REDUCTION` of the time is left for
    them. None is begun in the last :data:`GRACE` of the time, and what is not done at its end is
    given up; the very first has :data:`FIRST` seconds.

    Parameters
    ----------
    state
        Where results go; it is saved after each chunk.
    submit
        Begins with a chunk. A chunk that fails is begun again.
    finish
        Ends chunks under way with the programs that are examined.

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
    while True:
        share = 1 - FOR_REDUCTION if state.findings.keys() - state.kept else 1
        left = seconds * (share - GRACE) - (time.monotonic() - started)
        while len(running) < 2 * jobs and left > 0:
            first = next(todo)
            running[submit(first)] = first
        if left <= 0 and (state.programs or len(running) > jobs):
            running = {future: first for future, first in running.items() if not future.cancel()}
        grace = left + GRACE * seconds
        late = left + max(GRACE * seconds, 0 if state.programs else FIRST - seconds * share)
        if grace < 0:
            finish()
        if not running:
            break
        pause = min(1.0, next((each for each in (left, grace, late) if each > 0), ENDING))
        finished, _ = wait(running, pause, FIRST_COMPLETED if late > 0 else ALL_COMPLETED)
        for future in finished:
            first = running.pop(future)
            error = future.exception()
            if error is not None:
                failed[first] += 1
                if failed[first] > ATTEMPTS:
                    raise error
                if left > 0:
                    running[submit(first)] = first
                continue
            new += state.merge(future.result())
        if finished:
            state.seconds = before + time.monotonic() - started
            state.save()
        progress(state, time.monotonic() - started)
        if late <= 0:
            break
    state.seconds = before + time.monotonic() - started
    state.save()
    return new
