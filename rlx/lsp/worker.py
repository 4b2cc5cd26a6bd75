"""A process that answers requests about some documents, started by :mod:`rlx.lsp.front`.

It answers one message after another; the front decides what it is sent, and ends it if a document
takes too long.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from threading import Thread
from typing import Any

from pygls.exceptions import JsonRpcException

from rlx.checker.driver.time_limit import end_with
from rlx.grammar.processes import collect_seldom
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import complain_line
from rlx.lsp.features import create
from rlx.lsp.framing import BadMessage, messages
from rlx.lsp.server import Server

TRUSTED, ISOLATED = "--trust-config", "--isolated"
"""Words behind the pipe on the command line: how the configuration of projects is taken."""


class _Output:
    """Where pygls writes messages."""

    def __init__(self, end: int) -> None:
        self.end = end

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.end, data) :]

    def close(self) -> None:
        os.close(self.end)


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
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # the client is told what was wrong
    collect_seldom()
    server = create(trusted=TRUSTED in sys.argv, isolated=ISOLATED in sys.argv)
    server.protocol.set_writer(_Output(writes))
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
            _handle(server, message)
        await asyncio.sleep(0)


def _handle(server: Server, message: dict[str, Any]) -> None:
    protocol = server.protocol
    try:
        read = protocol.structure_message(message)
    except (JsonRpcException, RecursionError) as error:
        if "id" in message:
            words = f"{message['method']}: invalid parameters: {_why(error)}"
            number = message["id"]
            server.protocol._send_data(
                {"jsonrpc": "2.0", "id": number, "error": {"code": -32602, "message": words}}
            )
        return
    with contextlib.suppress(SystemExit):
        protocol.handle_message(read)


def _why(error: BaseException) -> str:
    """The innermost reasons that cattrs gives."""
    cause = error.__cause__ or error
    while isinstance(cause, ExceptionGroup) and cause.exceptions:
        cause = cause.exceptions[0]
    if isinstance(cause, KeyError):
        return f"{cause} is missing"
    return str(cause) or type(cause).__name__


if __name__ == "__main__":
    main()
