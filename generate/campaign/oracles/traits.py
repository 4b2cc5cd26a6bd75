"""Special properties of the input on which values differ, which the message does not name."""

from __future__ import annotations

import re
from collections.abc import Callable

EMPTY = "empty"
ELEMENT_TYPE = "element type"
SHAPE = "shape"
KIND = "kind of value"
NAN = "NaN"
INFINITE = "infinity"
ONE = "length 1"
SHAPE_OF_NOTHING = "shape of nothing"
"""Shapes differ, and neither tensor has elements."""
MEMORY_PLAN = "memory plan"
"""Values differ only while TVM plans where tensors are."""


def trait(
    difference: str,
    size: int,
    text: str,
    *,
    meets_nan: Callable[[], bool] = lambda: False,
    alone: bool = False,
) -> str:
    """The special traits where two values differ, separated by commas; empty if there is none.

    Parameters
    ----------
    difference
        What :func:`rlx.generate.campaign.oracles.meaning.compare` says.
    size
        The number that the shape variables have. Larger ones come first, so that what differs with
        0 differs with no other, unless 0 stands alone.
    text
        The program.
    meets_nan
        Whether the run has a NaN on its way. It is asked where the result cannot show it: an index
        or a comparison.
    alone
        Whether no larger number gave values to compare.
    """
    types = _TYPES.search(difference)
    if types is not None:
        if types[1] != types[3]:
            return ELEMENT_TYPE
        return SHAPE_OF_NOTHING if 0 in _sizes(types[2]) and 0 in _sizes(types[4]) else SHAPE
    if " became a " in difference:
        return KIND
    if size == 0 and not alone:
        return EMPTY
    found = [EMPTY] if size == 0 or _NOTHING.search(text) else []
    found += [ONE] if size == 1 else []
    before, _, after = difference.rpartition(": ")[2].partition(" became ")
    found += [special for word, special in _NUMBERS if (word in before) != (word in after)]
    elements = _ELEMENTS.search(difference)
    if elements is not None:
        found += [NAN] if _HIDES_NAN.match(elements[1]) and meets_nan() else []
        found.append("integers" if "int" in elements[1] else elements[1])
    return ", ".join(found)


_NUMBERS = (("nan", NAN), ("inf", INFINITE))
_NOTHING = re.compile(r"(?:R\.Tensor\(\(|R\.shape\(\[)(?:[^()\[\]]*, )?0(?=[,)\]])")
"""A dimension 0 in a tensor's annotation or in a shape."""
_TYPES = re.compile(r"(\w+)\(([\d, ]*)\) became (\w+)\(([\d, ]*)\)")
_ELEMENTS = re.compile(r"elements of (\w+)")
_HIDES_NAN = re.compile("u?int|bool")


def _sizes(shape: str) -> list[int]:
    return [int(size) for size in re.findall(r"\d+", shape)]
