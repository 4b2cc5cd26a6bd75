"""TVM's own expressions as questions to the prover."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import tvm
from tvm import tirx

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Proved, prove
from rlx.solver.proofs.checker import check
from rlx.solver.question_parser import parse, show
from tests.solver.arith.test_spelling import Written, agree


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
    assert prove((n << m) == n).counterexample == {"n": 1, "m": 1}


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
    with pytest.raises(TypeError, match=r"expected a condition on integers, found .* float32"):
        prove(tirx.FloatImm("float32", 1.5))
    with pytest.raises(TypeError, match="expected a condition on integers, found h of type handle"):
        prove(tirx.Var("h", "handle"))
    with pytest.raises(TypeError, match="found float"):
        prove(3.5)
    with pytest.raises(TypeError, match=r"expected an expression, .* found Evaluate"):
        prove(tirx.Evaluate(tirx.Var("n", "int64")))


def test_what_is_no_integer_arithmetic_is_an_unknown_value() -> None:
    n, f = tirx.Var("n", "int64"), tirx.Var("f", "float32")
    buffer = tirx.decl_buffer((n,), "int32", "A")
    load = tirx.BufferLoad(buffer, [n])
    for value in (
        *(load, tirx.clz(n), tirx.Cast("int64", f), tirx.call_pure_extern("int64", "g", n)),
        tirx.vscale(),
    ):
        assert prove(value + 1 > value).proved, value
        assert prove(value >= 0).unknown, value
    assert prove((tirx.bitwise_not(n) & n) == 0).proved
    assert prove(tirx.EQ(load, tirx.BufferLoad(buffer, [n]))).proved
    assert prove(tirx.EQ(load, tirx.BufferLoad(buffer, [n + 1]))).unknown
    for known in (load + 1 > load, tirx.Or(f > 0, tirx.Not(f > 0)), tirx.Or(n < 3, n * n >= 3 * n)):
        verdict = prove(known)
        assert isinstance(verdict, Proved)
        check(verdict.certificate)
    assert prove(f * 1 >= f).unknown  # a NaN is not
    effect = tirx.call_extern("int64", "f", n)
    assert prove(tirx.EQ(effect, effect)).unknown
    assert prove(tirx.Ramp(n, 1, 4) >= tirx.Broadcast(n, 4)).unknown
    assert prove(effect == 3, assume=[n > 0]).unknown


def test_arithmetic_on_other_types_than_those_of_indices_wraps() -> None:
    u, v = tirx.Var("u", "uint32"), tirx.Var("v", "uint32")
    assert prove(u - v <= u).counterexample == {"u": 0, "v": 1}
    assert prove(tirx.EQ(u - v + v, u)).proved
    assert prove(u - v <= u, assume=[v <= u]).proved


def test_a_let_is_its_body_with_the_value() -> None:
    n, m = tirx.Var("n", "int64"), tirx.Var("m", "int64")
    assert prove(tirx.Let(m, n + 1, m > n)).proved
    assert prove(tirx.And(tirx.Let(m, n + 1, m > n), tirx.Let(m, n + 2, m > n + 1))).proved
    assert prove(tirx.And(tirx.Let(m, n + 1, m > n), m > n)).refuted


_MADE: dict[type[PrimExpr], Any] = {
    kind: getattr(tirx, kind.__name__)
    for kind in (
        *(tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod, tir.Min, tir.Max),
        *(tir.EQ, tir.NE, tir.LT, tir.LE, tir.GT, tir.GE, tir.And, tir.Or),
    )
} | {tir.TruncDiv: tirx.Div, tir.TruncMod: tirx.Mod}


def to_tvm(expr: PrimExpr, variables: dict[tir.Var, Any]) -> Any:
    """Our expression as TVM's node by node, so that nothing is folded."""
    parts = [to_tvm(child, variables) for child in tir.children(expr)]
    match expr:
        case tir.Var():
            return variables[expr]
        case tir.IntImm(value=value, dtype=kind):
            return tirx.IntImm(str(kind), value)
        case tir.Not():
            return tirx.Not(*parts)
        case tir.Select():
            return tirx.Select(*parts)
        case tir.Cast(dtype=kind):
            return tirx.Cast(str(kind), *parts)
        case tir.Call(op=op):
            return getattr(tirx, op)(*parts)
    return _MADE[type(expr)](*parts)


def in_64_bits(node: PrimExpr) -> PrimExpr | None:
    """A narrow value as one of 64 bits, since TVM's operators take one type; large literals are cut."""
    match node:
        case tir.Cast(dtype=kind):
            return tir.Cast(INT64, tir.Cast(kind, node.value))
        case tir.IntImm(value=value) if abs(value) >= 2**63:
            return tir.IntImm(7)
    return None


def test_what_tvm_prints_is_read_with_the_same_meaning() -> None:
    """``str()`` and TVMScript of random expressions."""
    written = 0
    for number in range(600):
        rng = random.Random(number)
        goal = Written(rng)
        expr = goal.integer(3) if number % 2 else tir.Not(goal.comparison(2))
        (expr,) = tir.transform([expr], in_64_bits)
        theirs = to_tvm(expr, {v: tirx.Var(v.name, "int64") for v in goal.variables})
        try:
            script = theirs.script(show_meta=False)
        except tvm.error.InternalError:  # its printer computes quotients of literals, also by zero
            continue
        written += 1
        for text in (str(theirs), script):
            read = parse(text, {v.name: v for v in goal.variables})
            assert agree(expr, read, goal.variables, rng), (number, text, show(read))
    assert written > 550


def test_spellings_of_tvm() -> None:
    n, m, b = tirx.Var("n", "int64"), tirx.Var("m", "int64"), tirx.Var("b", "bool")
    goals = [
        tirx.ceildiv(n, 4) * 4 >= n,
        (n << 2) == n * 4,
        tirx.truncdiv(n, m) * m + tirx.truncmod(n, m) == n,
        tirx.any(b, tirx.Not(b)),
        tirx.all(n >= 0, m >= 0),
        tirx.likely(n >= 0),
        tirx.Cast("int64", tirx.Cast("int32", n)) <= 2**31 - 1,
        tirx.Select(b, n, m) <= tirx.max(n, m),
        tirx.abs(n) >= n,
    ]
    for goal in goals:
        assert prove(goal).status == "proved", goal
        shown = goal.asobject() if hasattr(goal, "asobject") else goal
        assert prove(str(shown)).status == "proved", shown


@pytest.mark.parametrize(
    "make",
    [
        lambda n, f: f + f == f,
        lambda n, f: tirx.Cast("int64", f) == n,
        lambda n, f: tirx.isnan(f),
        lambda n, f: tirx.Broadcast(n, 4) == tirx.Broadcast(n, 4),
    ],
)
def test_floats_and_vectors_of_tvm_are_never_decided(make: Callable[[Any, Any], Any]) -> None:
    goal = make(tirx.Var("n", "int64"), tirx.Var("f", "float32"))
    try:
        assert prove(goal).status == "unknown"
    except TypeError as error:
        assert "expected" in str(error)
