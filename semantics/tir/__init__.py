"""The reference evaluator of PrimFuncs: what a program in TIR means, in Python that reads like the
rules.
"""

from __future__ import annotations

from rlx.semantics.tir.program import MEMORY_LIMIT, TirProgram, evaluate

__all__ = ["MEMORY_LIMIT", "TirProgram", "evaluate"]
