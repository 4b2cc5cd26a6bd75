"""Arguments are matched with parameters."""

from __future__ import annotations

from rlx.operators.binding import matched, similar_parameters
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


def test_what_a_keyword_was_meant_to_be() -> None:
    """Other libraries' names say more than spelling where a word is so short that spelling says nothing."""
    x, x2, low, lhs = (Parameter(name, "tensor") for name in ("x", "x2", "low", "lhs"))
    assert similar_parameters("x1", [x2, x, low], 0, ()) == ["x"]
    assert similar_parameters("x1", [x2, low], 0, ()) == ["x2"]
    assert (
        similar_parameters("lhx", [x, lhs], 0, ())
        == similar_parameters("lh", [lhs, x], 0, ())
        == ["lhs"]
    )
    assert similar_parameters("lhs", [x, low], 0, ()) == ["x"]
    assert similar_parameters("lhs", [x, Parameter("lhx", "tensor")], 0, ()) == ["lhx"]
    assert (
        similar_parameters("x1", [x2, x, low], 0, ("x",))
        == similar_parameters("x1", [x, x2, low], 1, ())
        == ["x2"]
    )
