"""Which tests reach which blocks: `RLX_REACH=FOLDER pytest -p tests.mutants.reach` writes it to the folder.

A probe stands at the head of each block of each function of `rlx`; it costs much less than tracing does. If the folder
has a file `wanted.json`, a list of blocks, only these have probes, and the run is as fast as any. Only tests that passed
are written, each when it ends; and where `RLX_REACH_SECONDS` says how long a test may take that is ever asked, a longer
one is left when that time is over. Loading this module puts the probes in, so it must come before any part of `rlx`. The
processes that a test starts have probes, too (`inherited`).
"""

from __future__ import annotations

import builtins
import json
import os
import signal
from pathlib import Path
from typing import Any, TextIO

import pytest

from . import hook
from .blocks import PROBE, WANTED, Probes
from .inherited import bequeath, collected, write_to

_folder = Path(os.environ["RLX_REACH"])
_others = _folder / f"processes-{os.getpid()}"
_reached: set[str] = set()
_places: dict[str, int] = {}
_bad: set[str] = set()
_shared: dict[Any, tuple[set[str], float]] = {}
"""What the setting up of a fixture reaches that several tests share, and its seconds: it is done for the first only."""
_out: list[TextIO] = []


def _wanted() -> set[str] | None:
    path = _folder / WANTED
    return set(json.loads(path.read_text("utf-8"))) if path.exists() else None


def _leave(*_: object) -> None:
    pytest.skip("it takes too long to be asked about a mutant")


_seconds = float(os.environ.get("RLX_REACH_SECONDS", "0"))
if _seconds:
    signal.signal(signal.SIGPROF, _leave)
setattr(builtins, PROBE, _reached.add)
hook.install(Probes(_wanted()))


def _time() -> float:
    """Seconds of this process and of those that it has started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Write down the blocks that one test reaches, and its seconds."""
    if (
        not _others.exists()
    ):  # here, because the process that only hands tests to others must not bequeath
        bequeath(_others, None, _wanted())
        os.register_at_fork(after_in_child=lambda: write_to(_others))
    _reached.clear()
    started = _time()
    yield
    seconds = _time() - started
    _reached.update(collected(_others))
    for fixtures in item._fixtureinfo.name2fixturedefs.values():  # type: ignore[attr-defined]
        for names, more in (_shared[each] for each in fixtures if each in _shared):
            _reached.update(names)
            seconds += more
    if item.nodeid in _bad:
        return
    new = sorted(_reached - _places.keys())
    _places.update({name: len(_places) + at for at, name in enumerate(new)})
    mask = bytearray(len(_places) // 8 + 1)
    for name in _reached:
        at = _places[name]
        mask[at >> 3] |= 1 << (at & 7)
    print(json.dumps([item.nodeid, round(seconds, 3), new, mask.hex()]), file=_file(), flush=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Any:
    """Write down what a fixture reaches that tests share."""
    before, started = set(_reached), _time()
    _reached.clear()
    yield
    if fixturedef.scope != "function":
        _reached.update(collected(_others))
        _shared[fixturedef] = set(_reached), _time() - started
    _reached.update(before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Any:
    """Leave a test that takes too long; what it shares with others is set up by then."""
    signal.setitimer(signal.ITIMER_PROF, _seconds)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0.0)


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
