"""TVM's own expressions as questions to the prover."""

from __future__ import annotations

import pytest
from tvm import tirx

from rlx.solver import prove


def test_expressions_of_tvm_are_questions() -> None:
    n, m = tirx.Var("n", "int64"), tirx.Var("m", "int64")
    assert prove(tirx.floordiv(n + 3, 4) * 4 >= n).status == "proved"
    assert prove(tirx.EQ(tirx.floormod(n * m, m), tirx.IntImm("int64", 0))).status == "proved"
    assert prove(tirx.EQ(n, m)).counterexample == {"n": 0, "m": 1}
    assert prove(tirx.EQ(n, m), assume=[n <= m, m <= n]).status == "proved"
    assert prove(tirx.LT(n, m), lower={"n": None, "m": 0}, assume=[n < 0]).status == "proved"


def test_variables_of_tvm_have_identity() -> None:
    first, second = tirx.Var("n", "int64"), tirx.Var("n", "int64")
    assert prove(tirx.EQ(first, second)).status == "refuted"


def test_comparisons_as_python_writes_them() -> None:
    n, m = tirx.Var("n", "int64"), tirx.Var("m", "int64")
    assert prove(n * 2 == n + n).status == "proved"
    assert prove(n == m).counterexample == {"n": 0, "m": 1}
    assert prove(n != m, assume=[n + 1 == m]).status == "proved"
    assert prove(tirx.Not(n + 1 == n)).status == "proved"


def test_text_and_expressions_of_tvm_share_their_variables() -> None:
    n = tirx.Var("n", "int64")
    assert prove("n >= 1", assume=[n >= 1]).status == "proved"
    assert prove(n >= 1, assume=["n >= 1"]).status == "proved"


def test_narrow_variables_keep_their_limits() -> None:
    i = tirx.Var("i", "int32")
    for lower in ({}, {"i": 0}, {"i": None}):
        assert prove(i <= 2**31 - 1, lower=lower).status == "proved"
    assert prove(i > -(2**31), lower={"i": None}).counterexample == {"i": -(2**31)}


def test_shifts() -> None:
    n, m = tirx.Var("n", "int64"), tirx.Var("m", "int64")
    assert prove((n << 2) >> 1 == n * 2).status == "proved"
    assert "shift_left" in str(prove((n << m) == n))


def test_casts_selects_and_intrinsics_of_tvm() -> None:
    n = tirx.Var("n", "int64")
    narrow = tirx.Cast("int64", tirx.Cast("int32", n))
    assert prove(tirx.EQ(narrow, n)).counterexample == {"n": 2**31}
    chosen = tirx.if_then_else(n > 3, n, tirx.IntImm("int64", 3))
    assert prove(tirx.EQ(chosen, tirx.max(n, 3))).status == "proved"
    assert (
        prove(tirx.EQ(tirx.Select(n > 3, n, tirx.IntImm("int64", 3)), tirx.max(n, 3))).status
        == "proved"
    )
    assert prove(tirx.EQ(tirx.truncdiv(n, 2), tirx.floordiv(n, 2))).status == "proved"
    assert prove(tirx.EQ(tirx.abs(n), n)).status == "proved"
    assert prove(tirx.EQ(n << 3, n * 8)).status == "proved"


def test_other_objects_are_refused() -> None:
    n = tirx.Var("n", "int64")
    with pytest.raises(TypeError, match=r"shifts by literals\), found FloatImm"):
        prove(tirx.FloatImm("float32", 1.5))
    with pytest.raises(TypeError, match="found BitwiseAnd"):
        prove((n & 3) == 0)
    with pytest.raises(TypeError, match="found the variable h, which is no number"):
        prove(tirx.Var("h", "handle"))
    with pytest.raises(TypeError, match="found float"):
        prove(3.5)
