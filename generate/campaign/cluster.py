"""A campaign on the workers of a Dask cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from rlx.generate.campaign.campaign import CHUNK
from rlx.generate.campaign.processes import Worker, examine
from rlx.generate.campaign.state import ChunkResult

_own = threading.local()

RETRIES = 5
"""A chunk whose worker is lost is begun so many times again by the scheduler; then the campaign
begins it again.
"""


def chunk(oracle: str, against: str, first: int) -> ChunkResult:
    """Examine one chunk, in a process of its own beside the cluster's worker."""
    workers: dict[tuple[str, str], Worker] = getattr(_own, "workers", {})
    _own.workers = workers
    worker = workers.setdefault((oracle, against), Worker(oracle, against))
    return examine(worker, first, range(first, first + CHUNK))


def connect(
    address: str, oracle: str, against: str
) -> tuple[Callable[[int], Future[ChunkResult]], Callable[[], None]]:
    """How to begin a chunk on the cluster, and how to leave it.

    Raises
    ------
    OSError
        If there is no scheduler at the address.
    """
    import distributed

    make: Any = distributed.Client
    client = make(address, timeout="10s")
    executor = client.get_executor(pure=False, retries=RETRIES)

    def submit(first: int) -> Future[ChunkResult]:
        future: Future[ChunkResult] = executor.submit(chunk, oracle, against, first)
        return future

    return submit, client.close
