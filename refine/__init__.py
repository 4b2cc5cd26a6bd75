"""Refinement: whether a program means the same as another one, for all sizes and inputs.

A :mod:`question <rlx.refine.question>` is answered in four steps. Both programs are :mod:`run on terms <rlx.refine.execute>`
instead of values, calls of operators by their :mod:`definitions <rlx.refine.definitions>` and PrimFuncs by their
:mod:`loops <rlx.refine.loops>`. :mod:`Runs <rlx.refine.runs>` on small inputs look for a difference. What is equal inside of both is found
from the arguments upwards (:mod:`cut points <rlx.refine.cut_points>`), by :mod:`matching <rlx.refine.matching>` of
:mod:`normal forms <rlx.refine.normal_forms>`; sums are compared as :mod:`real numbers <rlx.refine.real_sums>`, and
integers as :mod:`bits <rlx.refine.bit_cases>`. :mod:`rlx.refine.terms` has the language of all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.refine.answer import Counterexample, Refinement
    from rlx.refine.contracts import InterfaceError
    from rlx.refine.question import compare

__all__ = ["Counterexample", "InterfaceError", "Refinement", "compare"]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
