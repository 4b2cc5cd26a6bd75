"""Native code runs between guards in all tests, and Ctrl-C is heeded: in their own process and in those they start."""

import os
import signal

from hypothesis import settings

os.environ["RLX_NATIVE_GUARD"] = "1"
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as shells let what they start in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

if not os.environ.get("CI"):  # there Hypothesis has a profile of its own, without deadlines, too
    settings.register_profile("rlx", deadline=None)
    settings.load_profile("rlx")
