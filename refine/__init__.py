"""Refinement: whether a program means the same as another one, for all sizes and inputs.

:mod:`rlx.refine.terms` has the language in which both programs are compared.
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
    return lazy.found(__name__, name)
