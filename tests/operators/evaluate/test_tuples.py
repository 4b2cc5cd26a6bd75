"""A keyword argument that is a tuple of the program means what the same elements mean; an empty one is null where null is legal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.operators import lookup
from rlx.operators.evaluation import OperatorFault, Plain
from tests.operators.cases import LEGAL
from tests.operators.context import argument
from tests.operators.evaluate.awkward import arrays
from tests.operators.evaluate.concrete import POINTS, Concrete, Unknown


def outcome(call: Concrete, word: str, value: Any) -> tuple[str, list[Plain]]:
    """The struct info and the value of a call with this keyword argument."""
    name, args, attrs = call.case
    call.case = name, args, {**attrs, word: value}
    info = str(call.derive())
    try:
        values = list(arrays(call.evaluate()))
    except OperatorFault as fault:
        values = [fault.code]
    call.case = name, args, attrs
    return info, values


def keywords() -> Iterator[tuple[Concrete, str, Any]]:
    """Calls, with each optional parameter to which they give a tuple."""
    for case in LEGAL:
        operator = lookup(f"relax.{case[0]}")
        assert operator is not None
        optional = {parameter.name for parameter in operator.parameters if parameter.optional}
        words = [word for word in case[2].keys() & optional if isinstance(case[2][word], list)]
        if not words or operator.compute is None:
            continue
        try:
            call = Concrete(case, POINTS[0])
        except Unknown:
            continue
        for word in sorted(words):
            yield call, word, call.case[2][word]


def test_a_tuple_of_the_program_is_the_tuple_of_its_fields() -> None:
    count = 0
    for call, word, value in keywords():
        there = ast.Tuple(tuple(map(argument, value)))
        info, wanted = outcome(call, word, value if value else None)
        other, found = outcome(call, word, there)
        assert other == info, call.case
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
        count += 1
    assert count > 40
