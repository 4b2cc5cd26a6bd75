"""Native code runs between guards in all tests, one of a hundred proofs is checked as it is made, and Ctrl-C is heeded: in
their own process and in those they start.
"""

import gc
import inspect
import linecache
import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

os.environ["RLX_NATIVE_GUARD"] = "1"
os.environ.setdefault("RLX_PARANOID", "100")
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as shells let what they start in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Of the profile that Hypothesis chooses (in CI the same examples each time), fewer examples: the suite runs often.
# `--hypothesis-profile default` takes a hundred. How slow the machine is says nothing about a program.
settings.register_profile(
    "rlx",
    settings(),
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rlx")

# Hypothesis reads all files of the product for constants that it may draw. This takes half a minute, and what is drawn would
# depend on which files were imported before.
setattr(providers, "is_local_module_file", lambda path: False)  # noqa: B010 - mypy knows no such name


def stack(context: int = 1) -> list[inspect.FrameInfo]:
    """The frames of the caller, as `inspect.stack` gives them, each with the line that it is at."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        path, number = frame.f_code.co_filename, frame.f_lineno
        line = linecache.getline(path, number, frame.f_globals) if context else ""
        shown = ([line], 0) if line else (None, None)
        found.append(inspect.FrameInfo(frame, path, number, frame.f_code.co_name, *shown))
        frame = frame.f_back  # type: ignore[assignment]
    return found


# TVM asks for all frames whenever it reads a function. Python's own answer looks through all loaded modules, which are
# thousands here, several times each time.
inspect.stack = stack


LONG = ("docs", "hostile", "lsp", "native", "tvm")
"""Folders in which a few tests take most of the time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run long tests first, so that at the end no process waits for the last file of another."""
    items.sort(key=lambda item: not {*item.path.parts}.intersection(LONG))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Twenty thousand tests stay in memory: the collector of garbage need not look at them each time, and seldom at all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
