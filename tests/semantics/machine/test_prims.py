"""Scalars as the machine evaluates them, against the evaluator that counterexamples are replayed with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import rlx
from rlx.grammar.nodes import tir
from rlx.semantics.faults import FaultStop
from rlx.semantics.machine.configuration import Code, Frame, ScopeSlots
from rlx.semantics.machine.prim_exprs import prepare
from rlx.semantics.outcome import Fault
from rlx.solver.evaluate import UndefinedError, evaluate

VARS = (tir.Var("n"), tir.Var("m"))
NUMBERS = st.one_of(st.integers(-9, 9), st.sampled_from([2**62, -(2**63), 2**63 - 1]))
OPERATIONS = (
    *(tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod),
    *(tir.Min, tir.Max),
)


def exprs() -> st.SearchStrategy[tir.PrimExpr]:
    leaves = st.one_of(st.sampled_from(VARS), NUMBERS.map(tir.IntImm))

    def larger(part: st.SearchStrategy[tir.PrimExpr]) -> st.SearchStrategy[tir.PrimExpr]:
        chosen = st.builds(
            lambda a, b, c, d: tir.Call("if_then_else", (tir.LE(a, b), c, d)),
            part,
            part,
            part,
            part,
        )
        truth = st.builds(
            lambda kind, a, b: kind(a, b), st.sampled_from((tir.LE, tir.EQ)), part, part
        )
        beside = st.builds(  # a truth value counts as 0 or 1
            lambda op, sides: op(*sides),
            st.sampled_from((tir.Add, tir.Sub, tir.Mul, tir.Min, tir.Max)),
            st.tuples(part, truth) | st.tuples(truth, part),
        )
        both = st.builds(lambda op, a, b: op(a, b), st.sampled_from(OPERATIONS), part, part)
        return both | chosen | beside

    return st.recursive(leaves, larger, max_leaves=12)


@given(exprs(), NUMBERS, NUMBERS)
def test_the_machine_agrees_with_the_evaluator(expr: tir.PrimExpr, n: int, m: int) -> None:
    scope = ScopeSlots()
    for var in VARS:
        scope.add(var, None)
    frame = Frame(Code(None, scope, None, None), [n, m], None, None, None)  # type: ignore[arg-type]
    wanted: int | str
    try:
        wanted = evaluate(expr, dict(zip(VARS, (n, m), strict=True)), int64=True)
    except UndefinedError as error:
        wanted = "E-prim-overflow" if error.overflow else "E-prim-divide"
    found: int | str
    try:
        found = prepare(expr, scope)(frame)
    except FaultStop as fault:
        found = fault.code
    assert found == wanted


def test_an_overflow_of_a_shift_says_the_number() -> None:
    found = rlx.run(SHIFTED, "main", {"s": (8,)}, backend="steps")
    assert isinstance(found, Fault)
    assert found.message == f"{8 << 61} does not fit into int64"


SHIFTED = """
@R.function
def main(s: R.Shape(["n"])):
    n = T.int64()
    y = R.prim_value(T.shift_left(n, T.int64(61)))
    return y
"""
