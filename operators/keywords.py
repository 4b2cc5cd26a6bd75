"""Which parameter a keyword that an operator does not have was meant for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlx.grammar.dialects import TYPE_KEYWORDS
from rlx.grammar.suggest import closest
from rlx.operators.foreign_names import own_parameters
from rlx.operators.parameters import Parameter


def meant(
    keyword: str, parameters: Sequence[Parameter], positional: int, given: Collection[str]
) -> list[str]:
    """The parameters that a keyword may have been meant for: what others call so, or what is
    spelled alike.

    Parameters
    ----------
    positional, given
        How many parameters the call gives by position, and which by keyword: those are not meant.
    """
    open_names = [
        p.name for p in parameters[positional:] if p.name not in given and p.kind != "types"
    ]
    if any(p.kind == "types" for p in parameters):
        open_names += TYPE_KEYWORDS
    spelled = closest(keyword, open_names)
    if spelled and len(keyword) > 2:
        return spelled
    others = own_parameters(keyword)
    named = [name for name in open_names if name in others]
    return named or spelled
