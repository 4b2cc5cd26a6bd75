"""The reference evaluator of PrimFuncs, written to read like the rules."""

from __future__ import annotations

from rlx.semantics.tir.memory import SharedFuel
from rlx.semantics.tir.program import MEMORY_LIMIT, TirProgram, evaluate

__all__ = ["MEMORY_LIMIT", "SharedFuel", "TirProgram", "evaluate"]
