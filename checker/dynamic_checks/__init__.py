"""The run-time checks of a program, and those that could be left out.

Every check of a module (a MatchCast, a parameter at the entry of a function, its result) is said to
be redundant, impossible or needed; :class:`DynamicCheck` says what that means and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.checker.dynamic_checks.model import CheckPart, DynamicCheck

if TYPE_CHECKING:
    from rlx.grammar.nodes.ast import IRModule

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
        Whether to trust unchecked facts: the declared result of a packed function, and annotations
        without a proof. A compiler that trusts them removes more checks; it then does not notice a
        packed function that returns another value.
    public
        Whether to include the entry checks of functions with unknown callers; they are always
        needed.

    Returns
    -------
    tuple of DynamicCheck
        In the order of the text; checks without a place come first.

    Notes
    -----
    Integers are exact: an intermediate value beyond 64 bits does not make a check needed.
    """
    from rlx.checker.dynamic_checks.analysis import dynamic_checks
    from rlx.checker.normalize import normalize
    from rlx.grammar.stack import recursion_room

    with recursion_room():
        return dynamic_checks(normalize(module), trusting, public)
