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


def chunk(oracle: str, against: str, memory: int | None, first: int) -> ChunkResult:
    """Examine one chunk, in a process of its own beside the cluster's worker."""
    workers: dict[tuple[str, str, int | None], Worker] = getattr(_own, "workers", {})
    _own.workers = workers
    made = Worker(oracle, against, memory=memory)
    worker = workers.setdefault((oracle, against, memory), made)
    return examine(worker, first, range(first, first + CHUNK))


ENCRYPTED = ("tls", "wss")
"""The protocols of Dask that authenticate and encrypt."""


class ClearTextError(ValueError):
    """The scheduler is on another machine, and the connection to it would not be encrypted."""


def refuse_clear_text(address: str) -> None:
    """Refuse a scheduler on another machine to which a connection would not be encrypted.

    Dask sends pickled functions: who can change what is sent, or answer in place of the scheduler,
    runs code on this machine and on the workers.

    Raises ClearTextError if the protocol is not encrypted and the host is not a loopback address.
    """
    scheme, separator, rest = address.partition("://")
    if not separator and ":" not in address:
        return  # there is no port: Dask refuses it
    if not separator:
        scheme, rest = "tcp", address  # as Dask reads it
    if scheme in ENCRYPTED or scheme == "inproc" or _is_loopback(_host(rest)):
        return
    raise ClearTextError(
        f"{scheme}:// to another machine is not encrypted: whoever is on the way can run code here"
        " and on the workers; use tls://, or a tunnel to 127.0.0.1, or add --dask-unencrypted in a"
        " network that you trust"
    )


def _host(rest: str) -> str:
    """The host in ``host:port``; an IPv6 address stands in brackets."""
    authority = rest.partition("/")[0]
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.rpartition(":")[0] or authority


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine without asking any name server."""
    from ipaddress import ip_address

    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def connect(
    address: str, oracle: str, against: str, memory: int | None = None
) -> tuple[Callable[[int], Future[ChunkResult]], Callable[[], None]]:
    """The function that begins a chunk on the cluster, and the one that leaves it. Raises OSError
    if there is no scheduler at the address.
    """
    import distributed

    make: Any = distributed.Client
    client = make(address, timeout="10s")
    executor = client.get_executor(pure=False, retries=RETRIES)

    def submit(first: int) -> Future[ChunkResult]:
        future: Future[ChunkResult] = executor.submit(chunk, oracle, against, memory, first)
        return future

    return submit, client.close
