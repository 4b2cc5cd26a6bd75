"""The checks that a run makes, and which of them could be left out.

Every check of a module (a MatchCast, a parameter at the entry of a function, its result) is said to
be redundant, impossible or needed; :class:`DynamicCheck` says what that means and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.checker.dynamic_checks.model import CheckPart, DynamicCheck

if TYPE_CHECKING:
    from rlx.grammar.ast import IRModule

__all__ = ["CheckPart", "DynamicCheck", "analyse"]


def analyse(
    module: IRModule, *, trusting: bool = False, public: bool = True
) -> tuple[DynamicCheck, ...]:
    """Judge every run-time check of a module.

    Parameters
    ----------
    module
        Well-formed and without errors. The checks refer to its nodes if it is in normal form, and
        else to those of ``normalize(module)``.
    trusting
        Whether to believe what nobody checks: what a call says of the result of a packed function,
        and annotations that are not proved. A compiler that believes them leaves out more checks,
        and a packed function that breaks its word then goes unnoticed.
    public
        Whether to judge the entries of functions of which not all calls are seen: some call there
        fits, and another does not, so that they are always needed.

    Returns
    -------
    tuple of DynamicCheck
        In the order of the text; checks without a place come first.

    Notes
    -----
    Integers are exact: that an intermediate value of a dimension may need more than 64 bits makes
    no check needed.
    """
    from rlx.checker.dynamic_checks.report import judged
    from rlx.checker.normalize import normalize
    from rlx.grammar.visit import recursion_room

    with recursion_room():
        return judged(normalize(module), trusting, public)
