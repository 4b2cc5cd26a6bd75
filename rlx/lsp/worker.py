"""A process that answers requests about some documents, started by :mod:`rlx.lsp.front`.

It answers one message after another; the front decides what it is sent, and ends it if a document
takes too long.
"""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial
from threading import Thread
from typing import Any

from rlx.checker.driver.time_limit import end_with
from rlx.grammar.processes import collect_seldom
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import complain_line
from rlx.lsp.features import create
from rlx.lsp.framing import BadMessage, messages
from rlx.lsp.server import Server

TRUSTED, ISOLATED = "--trust-config", "--isolated"
"""Words behind the pipe on the command line: how the configuration of projects is taken."""


def main() -> None:
    """Answer until the input is closed."""
    try:
        held = int(sys.argv[1])
    except (IndexError, ValueError):
        complain_line(f"usage: python -m rlx.lsp.worker PIPE [{TRUSTED}] [{ISOLATED}]")
        complain_line("`rlx lsp` starts this process.")
        sys.exit(2)
    reads, writes = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # what is printed does not get between the messages
    if held >= 0:
        end_with(held, group=True)
    collect_seldom()
    server = create(trusted=TRUSTED in sys.argv, isolated=ISOLATED in sys.argv)
    server.write = partial(_write, writes)
    with recursion_room():
        asyncio.run(_answer(server, reads))


async def _answer(server: Server, reads: int) -> None:
    loop = asyncio.get_running_loop()
    received: asyncio.Queue[Any] = asyncio.Queue()

    def read() -> None:
        for message in messages(reads):
            loop.call_soon_threadsafe(received.put_nowait, message)
        os._exit(0)  # whatever is being done, nobody wants it any more

    Thread(target=read, daemon=True).start()
    while True:
        message = await received.get()
        if not isinstance(message, BadMessage):
            server.handle(message)
        await asyncio.sleep(0)


def _write(end: int, data: bytes) -> None:
    while data:
        data = data[os.write(end, data) :]


if __name__ == "__main__":
    main()
