"""Native code runs between guards in all tests, and Ctrl-C is heeded: in their own process and in those they start."""

import gc
import os
import signal

import pytest
from hypothesis import settings

os.environ["RLX_NATIVE_GUARD"] = "1"
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as shells let what they start in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

if not os.environ.get("CI"):  # there Hypothesis has a profile of its own, without deadlines, too
    settings.register_profile("rlx", deadline=None)
    settings.load_profile("rlx")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Twenty thousand tests stay in memory: the collector of garbage need not look at them each time."""
    gc.collect()
    gc.freeze()
