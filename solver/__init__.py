"""Shape arithmetic: a three-valued prover for integer expressions, and the order of StructInfo.

>>> from rlx.solver import prove
>>> prove("(n + 3)//4*4 == n + (-n) % 4").status
'proved'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.solver.api import explain, prove, to_smtlib
    from rlx.solver.context import Context
    from rlx.solver.prover import Prover
    from rlx.solver.verdict import Proved, Refuted, Relation, Unknown, Verdict

__all__ = [
    "Context",
    "Proved",
    "Prover",
    "Refuted",
    "Relation",
    "Unknown",
    "Verdict",
    "explain",
    "prove",
    "to_smtlib",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
