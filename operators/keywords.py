"""Suggestions for unknown keywords of operators."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlx.grammar.dialects import TYPE_KEYWORDS
from rlx.grammar.suggest import closest
from rlx.operators.foreign_names import own_parameters
from rlx.operators.parameters import Parameter


def meant(
    keyword: str, parameters: Sequence[Parameter], positional: int, given: Collection[str]
) -> list[str]:
    """The parameters similar to an unknown keyword: those with this name in other libraries, or
    with a similar spelling.

    Parameters
    ----------
    positional, given
        The number of parameters given by position, and the keywords; these parameters are not
        suggested.
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
