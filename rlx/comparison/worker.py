"""Runs programs by TVM's virtual machine in a process of its own: `python -m rlx.comparison.worker`.

A task is a line of JSON on standard input: the path of a text, the entry and the arguments. The answers are lines of JSON; tensors are in `.npy` files that the reader removes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rlx.comparison.exchange import read, written
from rlx.comparison.probes import PROBE
from rlx.comparison.weights import Weights, shared
from rlx.generate.campaign.child import answers, end_with_parent
from rlx.generate.campaign.oracles.run import from_peer, to_peer
from rlx.generate.campaign.peer import Peer
from rlx.grammar.nodes.encoded import files_in

ROOM = 1 << 30
"""Bytes of values that may wait for their reader."""


def main() -> int:
    """Serve until the input ends."""
    end_with_parent()
    say = answers()
    try:
        peer = Peer()
    except ModuleNotFoundError as error:
        if error.name != "tvm":
            raise
        say(unusable="this needs TVM: install the extra `tvm`")
        return 0
    say(ready=True)
    for line in sys.stdin:
        task = json.loads(line)
        tell = partial(say, number=task["number"])
        try:
            _run(peer, task, tell)
        except Exception as error:  # noqa: BLE001 - whatever TVM raises is what is looked for
            from rlx.generate.campaign.oracles.case import raised

            tell(raised=raised(error))
    return 0


def _run(peer: Peer, task: dict[str, Any], say: Callable[..., None]) -> None:
    folder = Path(task["text"]).parent
    waiting: list[Path] = []

    def put(value: Any) -> Any:
        while sum(map(_size, waiting)) > ROOM:
            time.sleep(0.01)
        waiting[:] = [path for path in waiting if path.exists()]
        found = from_peer(peer, value)
        return None if found is None else written(found, folder, waiting)

    def probe(value: Any, number: int) -> Any:
        say(probe=int(number), value=put(value))
        return _copied(peer, value)

    peer.tvm.register_global_func(PROBE, probe, override=True)
    say(begin="parser")
    text = Path(task["text"]).read_text("utf-8")
    with files_in(str(folder)):
        module = Weights(folder).read(text, peer.read)
    say(begin="build")
    machine = peer.compiled(module)
    say(begin="run")
    given = [to_peer(peer, read(each, remove=True), shared) for each in task["args"]]
    say(returned=True, value=put(machine[task["entry"]](*given)))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # its reader has removed it
        return 0


def _copied(peer: Peer, value: Any) -> Any:
    """A value in memory of its own: the memory plan may give that of the original away."""
    if hasattr(value, "numpy"):
        return peer.tvm.runtime.tensor(value.numpy())
    return peer.ffi.convert([_copied(peer, field) for field in value])


if __name__ == "__main__":
    sys.exit(main())
