"""Modules of TVM in memory: checks of them and of each pass's result; and TVM's arithmetic analyzer
on the prover.

Nothing here needs TVM to be imported; :class:`Analyzer`, :class:`Instrument` and :func:`check` take
what TVM gives them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.tvm.analyzer import Analyzer, Bound, CompareResult, Interval, Residue
    from rlx.tvm.checking import check
    from rlx.tvm.instrument import Instrument
    from rlx.tvm.watch import Problem

__all__ = [
    "Analyzer",
    "Bound",
    "CompareResult",
    "Instrument",
    "Interval",
    "Problem",
    "Residue",
    "check",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
