"""Which argument of a call each parameter gets: the one answer of checking and of running."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from rlx.grammar.node import Record
from rlx.operators.parameters import REQUIRED, Parameter

Source = Literal["types", "rest", "positional", "keyword", "default", "missing"]


class ArgumentMatch(Record):
    """Where the value of a parameter comes from.

    Attributes
    ----------
    parameter, index
        The parameter and its position.
    source
        ``"positional"``: the argument of that position; ``"rest"``: all from there on;
        ``"keyword"``: the one of its name; ``"types"``: the type arguments; ``"default"``;
        ``"missing"``: nothing gives it one.
    twice
        Whether a keyword gives it another value.
    """

    parameter: Parameter
    index: int
    source: Source
    twice: bool = False


def matched(
    parameters: Sequence[Parameter], given: int, keywords: Collection[str]
) -> Iterator[ArgumentMatch]:
    """Where each parameter's value comes from, in the parameters' order.

    Parameters
    ----------
    given
        How many arguments are positional; those that no parameter takes are left over.
    keywords
        The names of the others.
    """
    for index, parameter in enumerate(parameters):
        named = parameter.name in keywords
        if parameter.kind == "types":
            yield ArgumentMatch(parameter, index, "types", index < given)
        elif parameter.variadic and not named:
            yield ArgumentMatch(parameter, index, "rest")
            given = index  # nothing positional is left for the parameters behind it
        elif index < given:
            yield ArgumentMatch(parameter, index, "positional", named)
        elif named:
            yield ArgumentMatch(parameter, index, "keyword")
        else:
            known = parameter.default is not REQUIRED
            yield ArgumentMatch(parameter, index, "default" if known else "missing")
