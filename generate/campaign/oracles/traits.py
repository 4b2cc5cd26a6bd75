"""What is special about the input on which values differ: the part of a cause that no message names."""

from __future__ import annotations

import re

EMPTY, ELEMENT_TYPE, SHAPE, KIND, NAN, INFINITE, ONE = (
    "empty",
    "element type",
    "shape",
    "kind of value",
    "NaN",
    "infinity",
    "length 1",
)


def trait(difference: str, size: int, text: str) -> str:
    """What is special where two values differ; empty if nothing can be said.

    Parameters
    ----------
    difference
        What :func:`rlx.generate.campaign.oracles.meaning.compare` says.
    size
        The number that the shape variables have. Larger ones come first, so that what differs with 0 differs with no
        other.
    text
        The program.
    """
    if size == 0 or _NOTHING.search(text):
        return EMPTY
    types = _TYPES.search(difference)
    if types is not None:
        return ELEMENT_TYPE if types[1] != types[2] else SHAPE
    if " became a " in difference:
        return KIND
    for word, special in (("nan", NAN), ("inf", INFINITE)):
        before, _, after = difference.rpartition(": ")[2].partition(" became ")
        if (word in before) != (word in after):
            return special
    if size == 1:
        return ONE
    elements = _ELEMENTS.search(difference)
    return elements[1] if elements is not None else ""


_NOTHING = re.compile(r"(?:\(|\[|, )0(?=[,)\]])[^\n]*(?:dtype|\]\))")
"""A dimension 0 in a tensor's annotation or in a shape."""
_TYPES = re.compile(r"(\w+)\([\d, ]*\) became (\w+)\([\d, ]*\)")
_ELEMENTS = re.compile(r"elements of (\w+)")
