"""Native code runs between guards in all tests, in their own process and in those they start."""

import os

os.environ["RLX_NATIVE_GUARD"] = "1"
