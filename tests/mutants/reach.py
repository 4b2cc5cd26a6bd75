"""Which tests reach which blocks: `RLX_REACH=FOLDER pytest -p tests.mutants.reach` writes it to the folder.

A probe stands at the head of each block of each function of `rlx`; it costs much less than tracing does. If the folder
has a file `wanted.json`, a list of blocks, only these have probes, and the run is as fast as any. Only tests that passed
are written, each when it ends. Loading this module puts the probes in, so it must come before any part of `rlx`. What a
test does in processes that it starts is not seen.
"""

from __future__ import annotations

import builtins
import json
import os
import time
from collections.abc import Collection
from pathlib import Path
from types import CodeType
from typing import Any, TextIO

import pytest

from . import hook
from .blocks import PROBE, WANTED, with_probes

_folder = Path(os.environ["RLX_REACH"])
_reached: set[str] = set()
_places: dict[str, int] = {}
_bad: set[str] = set()
_out: list[TextIO] = []


def _wanted() -> Collection[str] | None:
    path = _folder / WANTED
    return set(json.loads(path.read_text("utf-8"))) if path.exists() else None


def _probes(wanted: Collection[str] | None) -> hook.Change:
    files = None if wanted is None else {name.partition(":")[0] for name in wanted}

    def change(path: Path, text: str) -> CodeType | None:
        if files is not None and path.as_posix() not in files:
            return None
        return hook.compiled(with_probes(path, text, wanted), path)

    return change


setattr(builtins, PROBE, _reached.add)
hook.install(_probes(_wanted()))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Write down the blocks that one test reaches, and its seconds."""
    _reached.clear()
    started = time.process_time()
    yield
    if item.nodeid in _bad:
        return
    new = sorted(_reached - _places.keys())
    _places.update({name: len(_places) + at for at, name in enumerate(new)})
    mask = bytearray(len(_places) // 8 + 1)
    for name in _reached:
        at = _places[name]
        mask[at >> 3] |= 1 << (at & 7)
    seconds = round(time.process_time() - started, 3)
    print(json.dumps([item.nodeid, seconds, new, mask.hex()]), file=_file(), flush=True)


def _file() -> TextIO:
    """What this process writes to: the numbers of the blocks are its own."""
    if not _out:
        _folder.mkdir(parents=True, exist_ok=True)
        name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-{os.getpid()}.jsonl"
        _out.append((_folder / name).open("w", encoding="utf-8"))
    return _out[0]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Leave out what does not pass."""
    if report.outcome != "passed":
        _bad.add(report.nodeid)
