"""rlx.tvm.Analyzer beside TVM's own analyzer."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tvm import ir, sym, tirx

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.solver import Context, Proved, Prover, Refuted
from rlx.solver.prim_exprs import dtype_range
from rlx.solver.question_parser import show
from rlx.tvm import Analyzer, Bound, CompareResult, Interval, Residue
from tests.tvm.analyzer_law import contradiction, value

N, M = tirx.Var("n", "int64"), tirx.Var("m", "int64")
I, U, F = tirx.Var("i", "int32"), tirx.Var("u", "uint8"), tirx.Var("f", "float32")
SIXTEEN = tirx.IntImm("int64", 16)
LOAD = tirx.BufferLoad(tirx.decl_buffer((N,), "int32", "A"), [N])


def test_random_expressions() -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        assert not contradiction(seed, seen)
    assert any(said.startswith("proved") for said in seen)
    assert any(said.startswith("refuted") for said in seen)


def test_every_public_name_of_tvm_is_there_with_its_parameters() -> None:
    for name, theirs in vars(sym.Analyzer).items():
        if name.startswith("_"):
            continue
        ours = getattr(Analyzer, name)
        assert isinstance(theirs, property) == isinstance(ours, property), name
        if not isinstance(theirs, property):
            assert list(inspect.signature(theirs).parameters) == list(
                inspect.signature(ours).parameters
            ), name


SAME_ANSWERS: list[Callable[[Any], Any]] = [
    lambda a: a.simplify(N + N - N),
    lambda a: a.rewrite_simplify(N * 3 // 3),
    lambda a: a.canonical_simplify(I * 4 // 2 + I),
    lambda a: a.simplify(tirx.Cast("int64", I) + N - tirx.Cast("int64", I)),
    lambda a: a.simplify((U + 1) - 1),
    lambda a: a.simplify(LOAD - LOAD),
    lambda a: a.simplify(tirx.clz(N) - tirx.clz(N)),
    lambda a: a.simplify(3),
    lambda a: a.simplify(True),
    lambda a: a.const_int_bound(U),
    lambda a: a.const_int_bound(I),
    lambda a: a.const_int_bound(N),
    lambda a: a.const_int_bound(N % 8 + 1),
    lambda a: a.const_int_bound(N > 3),
    lambda a: a.const_int_bound(F),
    lambda a: a.const_int_bound(3),
    lambda a: a.modular_set(N * 4 + 3),
    lambda a: a.modular_set(3),
    lambda a: a.modular_set(F),
    lambda a: a.int_set(N * 2, {N: sym.IntervalSet(0, 10)}),
    lambda a: a.int_set(N * 2),
    lambda a: (a.bind(M, SIXTEEN), a.simplify(M * 2 + N - N + 0 * N - 32 + 32)),
    lambda a: (a.bind(N, ir.Range(0, 8)), a.const_int_bound(N * 3 + 1)),
    lambda a: (a.bind(N, ir.Range(0, 8)), a.const_int_bound_is_bound(N)),
    lambda a: a.const_int_bound_is_bound(N),
    lambda a: (a.bind(N, ir.Range(0, M)), a.can_prove(N < M), a.can_prove(M < N)),
    lambda a: (a.update(N, sym.ModularSet(4, 1)), a.modular_set(N * 2)),
    lambda a: (a.update(N, sym.ConstIntBound(0, 2)), a.const_int_bound(N)),
    lambda a: (
        a.update(N, sym.ConstIntBound(0, 2)),
        a.update(N, sym.ConstIntBound(0, 5), True),
        a.const_int_bound(N),
    ),
    lambda a: (a.update(M, sym.IntervalSet(N, N + 4)), a.int_set(M * 2)),
    lambda a: (a.bind(M, SIXTEEN), a.bind(M, SIXTEEN), a.bind(M, SIXTEEN + 1, True), a.simplify(M)),
    lambda a: (a.can_prove(N), a.can_prove(0), a.can_prove(1), a.can_prove(True)),
    lambda a: (a.can_prove(F * 1 >= F), a.can_prove(I + 1 > I), a.can_prove(N * 2 >= N)),
    lambda a: (a.can_prove(N + 1 > N, sym.ProofStrength.SYMBOLIC_BOUND), a.try_compare(N, M)),
    lambda a: a.clone().can_prove_equal(N * 2, N + N),
]


@pytest.mark.parametrize("ask", SAME_ANSWERS, ids=map(str, range(len(SAME_ANSWERS))))
def test_the_answer_is_that_of_tvm_and_of_its_kind(ask: Callable[[Any], Any]) -> None:
    ours, theirs = ask(Analyzer()), ask(sym.Analyzer())
    assert str(ours) == str(theirs)
    assert type(ours) is type(theirs)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda a: a.can_prove(None), "expected an expression, .* found None"),
        (lambda a: a.can_prove("n >"), "expected a number, a name"),
        (lambda a: a.can_prove("n + 1"), "expected a condition, found the integer n"),
        (lambda a: a.can_prove(1.5), "found float 1.5"),
        (lambda a: a.can_prove_equal(N), "missing 1 required positional argument"),
        (lambda a: a.can_prove(N > 0, 7), "strength: expected 0 or 1, found int 7"),
        (lambda a: a.simplify(None), "found None"),
        (lambda a: a.simplify(N, "x"), "steps: expected an integer, found str"),
        (lambda a: a.simplify(tirx.Evaluate(N)), "found Evaluate"),
        (lambda a: a.bind(3, N), "expected a variable, .* found int 3"),
        (lambda a: a.bind(N + 1, N), "expected a variable"),
        (lambda a: a.bind(N, None), "expected an expression"),
        (lambda a: a.bind(N, N + 1), "n cannot be bound to an expression of itself"),
        (lambda a: a.bind(N, range(0, 8, 2)), "a range with the step 1"),
        (lambda a: (a.bind(N, 3), a.bind(N, 4)), "n is bound already, to 3; to bind it to 4"),
        (lambda a: (a.bind(N, range(8)), a.bind(N, range(9))), "n is bound already, to n >= 0"),
        (lambda a: a.update(N, 3), "info: expected a ConstIntBound, .* found int 3"),
        (
            lambda a: (a.update(N, Bound(0, 2)), a.update(N, Bound(0, 3))),
            "n is bound already, to the values from 0 to 2",
        ),
        (lambda a: a.constraint_scope(None), "found None"),
        (lambda a: a.set_maximum_rewrite_steps("x"), "maximum: expected an integer"),
        (lambda a: a.update(N, Bound(None, 3)), "min_value: expected an integer, found None"),  # type: ignore[arg-type]
        (lambda a: a.update(N, Residue(2, 0.5)), "base: expected an integer, found float"),  # type: ignore[arg-type]
        (lambda a: a.simplify(2**70), "expected an expression of 64 bits"),
        (lambda a: a.int_set(N, 3), "dom_map: expected intervals by variable, found int 3"),
        (lambda a: a.int_set(N, {N: 3}), "expected an IntervalSet or an Interval, found int 3"),
    ],
)
def test_misuse_is_refused(ask: Callable[[Any], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        ask(Analyzer())


def test_a_number_is_of_the_type_that_tvm_gives_it() -> None:
    assert Analyzer().int_set(5).min_value.ty == tirx.const(5).ty
    assert Analyzer().simplify(2**40).ty == tirx.const(2**40, "int64").ty


def test_texts_and_our_expressions_have_our_answers() -> None:
    analyzer = Analyzer()
    assert show(analyzer.simplify("n + n - n")) == "n"
    assert analyzer.const_int_bound("n % 8") == Bound(0, 7)
    assert analyzer.modular_set("4*n + 7") == Residue(4, 3)
    analyzer.bind("k", range(8))
    analyzer.update("j", Interval(None, tir.IntImm(9)))
    assert analyzer.const_int_bound("3*k + 1") == Bound(1, 22)
    found = analyzer.int_set("3*k + n")
    assert (show(found.min_value), show(found.max_value)) == ("n", "n + 21")
    assert analyzer.can_prove_less("j", 10)
    assert analyzer.can_prove_greater_equal("k - j", -9)
    x = tir.Var("x")
    assert not analyzer.can_prove(tir.GE(tir.Mul(x, x), x * 2))
    assert analyzer.can_prove(tir.GE(tir.Mul(x, x), x))
    assert analyzer.can_prove("x >= x")


def test_the_verdict_has_reason_counterexample_and_certificate() -> None:
    analyzer = Analyzer()
    assert analyzer.verdict is None
    assert not analyzer.can_prove(N // 4 * 4 == N)
    assert analyzer.verdict is not None
    assert analyzer.verdict.counterexample == {"n": 1}
    with analyzer.constraint_scope(N % 4 == 0):
        assert analyzer.can_prove_equal(N // 4 * 4, N)
    assert analyzer.verdict.certificate["goal"]
    assert not analyzer.can_prove(LOAD >= 0)
    assert "not integer arithmetic" in str(analyzer.verdict)


def test_loads_of_one_element_are_equal_however_it_is_written() -> None:
    table = tirx.decl_buffer((N, M), "int64", "table")

    def at(*indices: Any) -> Any:
        return tirx.BufferLoad(table, list(indices))

    analyzer = Analyzer()
    assert analyzer.can_prove_equal(at(N + M - M, M * 8 // 8), at(N, M))
    assert analyzer.can_prove_equal(at(at(N + M - M, M), M), at(at(N, M), M))
    assert not analyzer.can_prove_equal(at(N, M), at(M, N))
    assert str(analyzer.simplify(at(N + M - M, N % 1))) == "table[n, T.int64(0)]"
    s = tirx.Var("s", "int64")
    inner = tirx.Let(s, N + 1, at(s, s - N))
    assert analyzer.can_prove_equal(inner, at(N + 1, 1))
    assert str(analyzer.simplify(inner + s - s)) == "table[n + T.int64(1), T.int64(1)]"
    analyzer.bind(N, M + 1)
    assert analyzer.can_prove_equal(at(N, M), at(M + 1, M))
    assert analyzer.can_prove_equal(tirx.popcount(N), tirx.popcount(M + 1))
    assert str(analyzer.simplify(at(N, N))) == "table[m + T.int64(1), m + T.int64(1)]"


def test_literals_are_told_apart_by_value_and_type() -> None:
    """Python's hashes of -1 and -2 are equal, and so are those of numbers 2**61 - 1 apart."""
    minus_one, minus_two = (tirx.IntImm("int64", value) for value in (-1, -2))
    analyzer = Analyzer()
    assert analyzer.can_prove_equal(tirx.Sub(minus_one, minus_two), 1)
    assert analyzer.can_prove_equal(tirx.Select(N < 0, minus_one, minus_two), -1) is False
    assert not analyzer.can_prove_equal(tirx.Max(N * minus_one, N * minus_two), N * minus_one)
    near, far = tirx.IntImm("int64", 7), tirx.IntImm("int64", 2**61 + 6)
    assert analyzer.can_prove(tirx.LT(near + N, far + N))
    byte, wide = tirx.IntImm("uint8", 200), tirx.IntImm("int64", 200)
    sum_of_bytes = tirx.Cast("int64", tirx.Add(byte, tirx.Cast("uint8", wide)))
    assert analyzer.can_prove_equal(sum_of_bytes + wide, 344)


def test_vectors_are_asked_lane_by_lane() -> None:
    ramp, fours = tirx.Ramp(I * 4, 1, 4), tirx.Broadcast(tirx.IntImm("int32", 4), 4)
    analyzer = Analyzer()
    assert analyzer.can_prove(tirx.Ramp(0, 1, 4) < fours)
    assert not analyzer.can_prove(tirx.Ramp(1, 1, 4) < fours)
    assert analyzer.verdict is not None
    assert analyzer.verdict.counterexample == {"lane": 3}
    assert analyzer.can_prove_equal(ramp + fours, tirx.Ramp(I * 4 + 4, 1, 4))
    assert not analyzer.can_prove_equal(ramp, tirx.Broadcast(I * 4, 4))
    assert not analyzer.can_prove_equal(tirx.Broadcast(I, 4), tirx.Broadcast(I, 8))
    for vector in (ramp // fours, ramp % fours, ramp + ramp, ramp * 3, tirx.Ramp(I, I, 4) - I):
        assert str(analyzer.simplify(vector)) == str(sym.Analyzer().simplify(vector))
    analyzer.bind(I, ir.Range(0, 8))
    assert str(analyzer.const_int_bound(ramp)) == str(sym.ConstIntBound(0, 31))


def test_a_load_is_within_its_type() -> None:
    analyzer = Analyzer()
    byte = tirx.BufferLoad(tirx.decl_buffer((N,), "uint8", "B"), [N])
    assert analyzer.can_prove(tirx.Cast("int32", byte) * 2 < 511)
    assert not analyzer.can_prove(tirx.Cast("int32", byte) * 2 < 510)
    assert analyzer.can_prove(LOAD <= 2**31 - 1)


def test_a_certificate_tells_two_loads_apart() -> None:
    other = tirx.BufferLoad(tirx.decl_buffer((N,), "int32", "B"), [N])
    analyzer = Analyzer()
    assert analyzer.can_prove(tirx.Or(LOAD > other, LOAD <= other))
    assert isinstance(analyzer.verdict, Proved)
    assert len(analyzer.verdict.certificate["variables"]) == 2


def test_scopes_nest_and_end() -> None:
    analyzer = Analyzer()
    with analyzer.constraint_scope(N >= 2):
        with analyzer.constraint_scope(M >= N):
            assert analyzer.can_prove(M >= 2)
            assert analyzer.try_compare(M, 1) == CompareResult.GT
        assert not analyzer.can_prove(M >= 2)
        with pytest.raises(RuntimeError, match="inside"), analyzer.constraint_scope(M > 5):
            raise RuntimeError("inside")
        assert not analyzer.can_prove(M > 5)
    assert not analyzer.can_prove(N >= 2)
    with analyzer.constraint_scope(N + 1 < N):
        assert analyzer.try_compare(N, M) == CompareResult.INCONSISTENT


def test_a_scope_that_is_not_open_cannot_be_left() -> None:
    analyzer = Analyzer()
    outer, inner = analyzer.constraint_scope(N >= 1), analyzer.constraint_scope(N % 2 == 0)
    with outer, inner:
        assert analyzer.can_prove(N >= 2)
    for scope in (outer, inner, analyzer.constraint_scope(N >= 1)):
        with pytest.raises(RuntimeError, match="this scope is left, but it is not open"):
            scope.__exit__()
    inner.__enter__()
    outer.__enter__()
    inner.__exit__()  # in another order
    assert analyzer.can_prove(N >= 1)
    assert not analyzer.can_prove(N >= 2)


def test_answers_of_before_a_scope_are_remembered_behind_it() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, ir.Range.from_min_extent(0, SIXTEEN))
    for _ in range(3):
        assert analyzer.can_prove(N // 16 == 0)
        with analyzer.constraint_scope(N >= 8):
            assert analyzer.can_prove(N // 8 == 1)
    assert analyzer.rewrite_simplify_stats.means["remembered"] == 4


def test_many_variables_with_ranges() -> None:
    """A pass may bind all variables of a program, and ask about each of them."""
    analyzer = Analyzer()
    variables = [tirx.Var(f"v{i}", "int64") for i in range(3000)]
    for each in variables:
        analyzer.bind(each, ir.Range.from_min_extent(0, SIXTEEN))
    for each in variables[::300]:
        assert analyzer.can_prove(each // 16 == 0)
        with analyzer.constraint_scope(each >= 8):
            assert analyzer.can_prove(each // 8 == 1)
            assert analyzer.simplify(tirx.max(each, 8)).same_as(each)


def test_a_simplified_choice_still_guards_its_branches() -> None:
    safe = tirx.if_then_else(N != 0, 10 // N, 0)
    analyzer = Analyzer()
    for expr in (safe * 2 - safe, safe + safe + safe):
        assert value(analyzer.simplify(expr), {"n": 0}) == 0
    guarded = tirx.if_then_else(N > 0, LOAD, 0)
    assert "if_then_else" in str(analyzer.simplify(guarded + guarded))


def test_a_limit_of_steps_stops_simplification() -> None:
    analyzer = Analyzer()
    analyzer.set_maximum_rewrite_steps(5)
    with pytest.raises(RuntimeError, match="set_maximum_rewrite_steps allows 5"):
        analyzer.simplify((N + M) * (N - M) + N)
    analyzer.set_maximum_rewrite_steps(0)
    assert analyzer.simplify(N + M - M).same_as(N)


def test_a_bound_of_z3_is_kept() -> None:
    analyzer = Analyzer()
    hard = "n*n*n + m*m*m != 7*k*k*k + 3"
    analyzer.set_z3_timeout_ms(1)
    analyzer.can_prove(hard)
    assert analyzer.get_z3_stats()
    assert "(assert" in analyzer.get_smtlib2(N > 3)
    assert "(assert" in analyzer.get_smtlib2()


def test_a_name_is_one_variable_whichever_is_read_first() -> None:
    analyzer = Analyzer()
    assert analyzer.can_prove_equal("n*2", N + N)
    with analyzer.constraint_scope("m % 4 == 0"):
        assert analyzer.can_prove_equal(M // 4 * 4, M)
        assert analyzer.simplify(M // 4 * 4).same_as(M)
    other = Analyzer()
    other.bind("n", range(8))
    assert other.can_prove(N < 8)
    assert other.const_int_bound(N).max_value == 7
    context = Context()
    context.assume("n % 4 == 0")
    assert Prover(context).always((N // 4 * 4).equal(N)).proved
    # A variable of another type is another one, which no text can name then.
    assert not Analyzer().can_prove_equal("i", I)
    assert other.can_prove("i == i")
    assert other.can_prove(I + 1 > I)
    with pytest.raises(ValueError, match="i is ambiguous"):
        other.can_prove("i == i")


@pytest.mark.parametrize(
    ("written", "short"),
    [
        (lambda b, _: tirx.And(b, b), "b"),
        (lambda b, _: tirx.Or(b, b), "b"),
        (lambda b, c: tirx.Or(b, tirx.And(b, c)), "b"),
        (lambda b, c: tirx.And(b, tirx.Or(c, b)), "b"),
        (lambda b, _: tirx.Not(tirx.Not(b)), "b"),
        (lambda b, c: tirx.And(tirx.Not(b), tirx.Or(b, tirx.Not(b))), "not b"),
        (lambda b, _: tirx.And(b, tirx.Not(b)), "T.bool(False)"),
        (lambda b, _: tirx.Or(b, tirx.Not(b)), "T.bool(True)"),
    ],
)
def test_truth_values_are_simplified(written: Callable[[Any, Any], Any], short: str) -> None:
    found = Analyzer().simplify(written(tirx.Var("b", "bool"), tirx.Var("c", "bool")))
    assert str(found) == short


def test_prover_and_context_take_expressions_of_tvm_and_texts() -> None:
    context = Context()
    context.declare(N, lower=3)
    context.assume("n % 4 == 0")
    context.define("k", N * 2)
    prover = Prover(context)
    assert prover.always(N // 4 * 4 == N).proved
    assert prover.always("k >= 8").proved
    assert prover.equal("k", N + N).proved
    assert prover.never(N < 3).proved
    assert prover.relate(N, "n").kind == "always"
    assert prover.simplify(N + N - N).same_as(N)
    assert show(prover.simplify("n + n - n")) == "n"
    with pytest.raises(ValueError, match="expected"):
        context.assume("n ==")


def test_narrow_casts_and_literals_wrap_in_arithmetic() -> None:
    def wide(value: Any) -> Any:
        return tirx.Cast("int64", value)

    a, b = tirx.Cast("uint8", N), tirx.Cast("uint8", M)
    hundred, two_hundred = tirx.IntImm("uint8", 100), tirx.IntImm("uint8", 200)
    analyzer = Analyzer()
    assert analyzer.can_prove(wide(tirx.Add(a, b)) <= 255)
    assert not analyzer.can_prove_equal(wide(tirx.Add(a, b)), wide(a) + wide(b))
    assert Analyzer().can_prove_equal(wide(tirx.Add(two_hundred, hundred)), 44)
    assert Analyzer().can_prove(wide(tirx.shift_left(U, tirx.IntImm("uint8", 4))) <= 240)
    let = tirx.Let(U, a, tirx.Add(U, hundred))
    assert Analyzer().can_prove_equal(let, tirx.Cast("uint8", N + 100))


def test_a_value_that_is_bound_later_counts() -> None:
    analyzer = Analyzer()
    analyzer.bind(N, M + 1)
    with pytest.raises(ValueError, match="m cannot be bound to an expression of itself"):
        analyzer.bind(M, N * 2)
    analyzer.bind(M, 3)
    assert analyzer.can_prove_equal(N, 4)
    assert str(analyzer.simplify(N * 2)) == "T.int64(8)"
    analyzer.bind(M, 4, allow_override=True)
    assert analyzer.can_prove_equal(N, 5)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("uint8", 300), ("int8", -129), ("bool", 2), ("uint64", -1), ("int32", 2**31)],
)
def test_a_value_that_the_type_does_not_hold_is_refused(kind: str, value: int) -> None:
    """TVM takes it for a number of another type."""
    least, most = dtype_range(dtype(kind))
    mine, theirs = tir.Var("u", dtype(kind)), tirx.Var("u", kind)
    for var in (mine, theirs):
        analyzer = Analyzer()
        for wrong in (value, f"max(m, {value})" if value > 0 else f"min(m, {value})"):
            with pytest.raises(ValueError, match=f"u of type {kind} has values from {least} to"):
                analyzer.bind(var, wrong)
        analyzer.bind(var, most)  # nothing is left of the other ones
        assert analyzer.const_int_bound(var).max_value == min(most, 2**63 - 1)


def test_a_bound_that_the_type_does_not_hold_is_refused() -> None:
    byte, analyzer = tir.Var("u", dtype("uint8")), Analyzer()
    with pytest.raises(ValueError, match=r"lower=300 and upper=400 for u of type uint8"):
        analyzer.update(byte, Bound(300, 400))
    assert analyzer.const_int_bound(byte) == Bound(0, 255)
    analyzer.update(byte, Bound(-7, 7))
    assert analyzer.const_int_bound(byte) == Bound(0, 7)


def test_the_limits_of_what_grows_by_steps_need_each_step() -> None:
    analyzer = Analyzer()
    analyzer.bind("t", range(-2, 3))
    found = analyzer.int_set("0 - 8 // t")  # 4, 8, -8, -4
    assert found == Interval(None, None)
    with analyzer.constraint_scope("t % 2 == 0"):  # 2, 0, -2: not by steps of 1
        found = analyzer.int_set("(t % 2) * 100 - t")
    assert found.min_value is None or found.min_value.value <= -2


def test_bits_of_variables_that_may_be_negative_or_unsigned() -> None:
    analyzer = Analyzer()
    assert not analyzer.can_prove(tirx.bitwise_or(N, N % 4) >= -2)
    assert analyzer.verdict is not None and analyzer.verdict.refuted
    word = tirx.Var("w", "uint64")
    assert not analyzer.can_prove(tirx.bitwise_or(word, word) <= tirx.IntImm("uint64", 2**63 - 1))
    large = tirx.Add(word % 2 + tirx.IntImm("uint64", 2**63 - 1), tirx.IntImm("uint64", 1))
    assert analyzer.const_int_bound(large).max_value == 2**63 - 1  # TVM's number for no limit


def test_a_let_is_undefined_where_its_value_is() -> None:
    quotient = tirx.Let(tirx.Var("q", "int64"), tirx.FloorDiv(SIXTEEN, N), M)
    analyzer = Analyzer()
    assert not analyzer.can_prove_equal(quotient, 3)
    assert analyzer.verdict is not None and analyzer.verdict.counterexample is not None
    assert analyzer.verdict.counterexample["n"] != 0
    assert analyzer.can_prove_equal(quotient, M)


def test_a_cast_to_the_type_of_its_operand_wraps() -> None:
    a, b = tirx.Var("a", "int8"), tirx.Var("b", "int8")
    for quotient in (tirx.FloorDiv(a * b, a), tirx.FloorMod(a * b, a)):
        assert Analyzer().simplify(quotient).same_as(quotient)  # 9 * 15 is -121
    one, other = tir.Var("a", dtype("int8")), tir.Var("b", dtype("int8"))
    product = tir.Cast(dtype("int8"), tir.Mul(one, other))
    assert Prover().simplify(tir.FloorDiv(product, tir.Var("c"))).a is product


def test_what_is_simplified_keeps_its_type() -> None:
    element = tirx.BufferLoad(tirx.decl_buffer((N,), "uint8", "A"), [N])
    flag = tirx.Var("flag", "bool")
    for narrow in (U, element, flag):
        wide = tirx.Cast("int16", narrow)
        assert str(Analyzer().simplify(wide)) == str(wide)
        assert str(Analyzer().simplify(tirx.Max(wide, tirx.IntImm("int16", 0)))) == str(wide)


def test_a_divisor_of_a_branch_that_is_not_taken_may_be_zero() -> None:
    i, j = tirx.Var("i", "int32"), tirx.Var("j", "int32")
    zero = tirx.FloorMod(tirx.IntImm("int32", 0), j)
    chosen = tirx.if_then_else(tirx.NE(zero, 0), tirx.FloorDiv(tirx.IntImm("int32", 1), zero), i)
    analyzer = Analyzer()
    analyzer.bind(j, ir.Range(0, 4))
    with analyzer.constraint_scope(i >= 0):
        assert not analyzer.can_prove_less(tirx.Div(j - i - 4, j), chosen)
    assert isinstance(analyzer.verdict, Refuted)


def test_truth_values_are_written_as_numbers_where_they_are_counted_with() -> None:
    flag, other = tirx.Var("flag", "bool"), tirx.Var("other", "bool")
    one, two = tirx.Cast("int32", flag), tirx.Cast("int32", other)
    for given, short in (
        (one + I + 1 + 1, one + I + 2),
        (one * 2 + one, one * 3),
        (two + one + one - one - I + I, two + one),
        (tirx.EQ(one, 1), flag),
        (tirx.And(tirx.Cast("bool", I + I - I), flag), tirx.And(tirx.NE(I, 0), flag)),
    ):
        found = Analyzer().simplify(given)
        assert str(found) == str(short)
    lanes = tirx.Select(tirx.Broadcast(flag, 4), tirx.Ramp(I, 1, 4), tirx.Broadcast(I, 4))
    assert Analyzer().simplify(lanes).ty == lanes.ty
