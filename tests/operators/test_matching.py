"""Which argument each parameter gets."""

from __future__ import annotations

from rlx.operators.binding import matched
from rlx.operators.parameters import Parameter

X = Parameter("x", "tensor")
AXIS = Parameter("axis", "int", default=-1)
REST = Parameter("values", "expr", variadic=True)
TYPES = Parameter("out_sinfo", "types")


def sources(parameters: list[Parameter], given: int, *keywords: str) -> list[str]:
    return [match.source for match in matched(parameters, given, keywords)]


def test_by_position_by_keyword_by_default() -> None:
    assert sources([X, AXIS], 2) == ["positional", "positional"]
    assert sources([X, AXIS], 1, "axis") == ["positional", "keyword"]
    assert sources([X, AXIS], 0, "x") == ["keyword", "default"]
    assert sources([X, AXIS], 0) == ["missing", "default"]


def test_the_rest_leaves_nothing_positional() -> None:
    assert sources([X, REST, AXIS], 4) == ["positional", "rest", "default"]
    assert sources([REST, AXIS], 0, "axis") == ["rest", "keyword"]


def test_types_stand_apart() -> None:
    assert sources([X, TYPES], 1) == ["positional", "types"]
    assert [match.twice for match in matched([X, TYPES], 2, ())] == [False, True]


def test_what_is_given_twice_is_said() -> None:
    assert [match.twice for match in matched([X, AXIS], 2, ("axis",))] == [False, True]
