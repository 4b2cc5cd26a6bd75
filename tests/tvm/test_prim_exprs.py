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
    with pytest.raises(TypeError):
        prove(tirx.FloatImm("float32", 1.5))
