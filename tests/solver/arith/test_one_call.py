"""The one-call form: what belongs together in a question, and what is refused."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Context, Prover, prove


def at_least(var: tir.Var, value: int) -> PrimExpr:
    return tir.GE(var, tir.IntImm(value))


def at_most(var: tir.Var, value: int) -> PrimExpr:
    return tir.LE(var, tir.IntImm(value))


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("int32", -(2**31), 2**31 - 1),
        ("int8", -128, 127),
        ("uint8", 0, 255),
        ("uint32", 0, 2**32 - 1),
        ("bool", 0, 1),
    ],
)
def test_a_smallest_value_does_not_lift_the_limits_of_the_type(
    kind: str, least: int, most: int
) -> None:
    i = tir.Var("i", dtype(kind))
    for lower in (None, 0, least - 1):
        limits = {"i": lower}
        assert prove(at_most(i, most), lower=limits).status == "proved"
        assert prove(at_most(i, most - 1), lower=limits).counterexample == {"i": most}
        first = max(least, least if lower is None else lower)
        assert prove(at_least(i, first), lower=limits).status == "proved"
        assert prove(at_least(i, first + 1), lower=limits).counterexample == {"i": first}
    context = Context()
    context.declare(i, lower=1, upper=2**40)
    assert Prover(context).always(at_most(i, most)).status == "proved"


def test_64_bits_stand_for_exact_integers() -> None:
    n, u = tir.Var("n"), tir.Var("u", dtype("uint64"))
    assert prove(at_most(n, 2**63 - 1), lower={"n": 0}).status == "refuted"
    assert prove(at_least(u, 0), lower={"u": None}).status == "proved"


def test_a_name_in_a_text_is_the_variable_of_the_expressions() -> None:
    n = tir.Var("n")
    positive = at_least(n, 1)
    assert prove("n >= 1", [positive]).status == "proved"
    assert prove(positive, ["n >= 1"]).status == "proved"
    found = prove("n >= m", ["m >= 3", positive])
    assert found.counterexample == {"n": 1, "m": 3}


def test_two_variables_of_one_name_cannot_be_named() -> None:
    twice = tir.EQ(tir.Var("n"), tir.Var("n"))
    assert prove(twice, ["m >= 3"]).status == "refuted"
    for goal, fact in (("n >= 0", twice), (twice, "n >= 0")):
        with pytest.raises(ValueError, match="n is ambiguous"):
            prove(goal, [fact])


@pytest.mark.parametrize("value", ["1", 1.5, [1]])
def test_a_smallest_value_is_an_integer(value: object) -> None:
    with pytest.raises(TypeError, match="expected an integer or None for 'n', found"):
        prove("n >= 0", lower={"n": value})  # type: ignore[dict-item]


def test_a_smallest_value_of_no_variable_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"no variable 'N'; did you mean 'n'\?"):
        assert prove("n >= 0", lower={"N": 1}).status == "proved"
    with pytest.warns(UserWarning, match="no variable 'x'; its variables are height, width"):
        prove("height >= width", lower={"x": 1})
    assert prove("height >= 0", ["width >= 0"], lower={"width": -1}).status == "proved"


def test_a_context_and_a_prover_read_texts() -> None:
    context = Context()
    n = tir.Var("n")
    context.declare(n, lower=2)
    context.define("m", "n * 2")
    context.assume("k < m")
    prover = Prover(context)
    assert prover.always("n >= 2 and m >= 4").status == "proved"
    assert prover.always(tir.GE(n, tir.IntImm(2))).status == "proved"
    assert prover.never("k >= 2*n").status == "proved"
    assert prover.equal("m", "n + n").status == "proved"
    assert prover.relate("m", "n").kind == "never"
    assert prover.simplify("n + 0") is n
    assert context.copy().read("n") is n


def test_a_declared_again_variable_is_the_one_that_a_text_names() -> None:
    context = Context()
    context.declare("n", lower=5)
    context.assume("m == n")
    context.declare("n")
    assert Prover(context).always("m >= 5").status == "proved"
    assert Prover(context).always("n >= 5").counterexample == {"n": 0}
