"""A pytest plugin (`-p rlx.spec.plugin`) that records which rules the tests apply and which premises fail.

It must be imported before any other part of rlx, since rules are traced from their registration on.
Workers of pytest-xdist hand their counts to the main process, which writes them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

os.environ["RLX_TRACE_RULES"] = "1"

from rlx.spec import registry
from rlx.spec.coverage import RESULT

_applied: Counter[str] = Counter()
_failed: Counter[str] = Counter()


def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over what a worker counted."""
    counted = getattr(node, "workeroutput", {}).get("rlx_rules")
    if counted is not None:
        _applied.update(counted[0])
        _failed.update(counted[1])


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Hand the counts on (a worker) or write them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["rlx_rules"] = [
            dict(registry.applied),
            dict(registry.failed),
        ]
        return
    _applied.update(registry.applied)
    _failed.update(registry.failed)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(
        json.dumps({"applied": dict(_applied), "failed": dict(_failed)}, indent=1, sort_keys=True)
    )
