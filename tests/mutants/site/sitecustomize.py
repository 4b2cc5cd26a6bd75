"""Python loads this before anything else in the processes that tests start: they load `rlx` as the tests do."""

import os
import sys

if "RLX_INHERITED" in os.environ:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    sys.path.insert(0, root)
    try:
        from tests.mutants.inherited import begin
    finally:
        sys.path.remove(root)
    begin(os.environ["RLX_INHERITED"])
