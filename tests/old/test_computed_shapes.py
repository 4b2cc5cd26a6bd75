"""Shapes that a call computes when the program runs: trees that Python builds, for no text of today has them."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.old.check import check_modules
from rlx.old.evaluation import run
from rlx.old.expansion import check_annotation, expanded
from rlx.old.shape_exprs import UNKNOWN, can_prove_equal, can_prove_not_equal, dims_of, text
from rlx.old.substitution import substitute_shape, substitute_vars
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Ended, Returned
from rlx.solver.prover import Prover

F32 = dtype("float32")
N = tir.Var("n")
X = ast.Var("x", ast.TensorStructInfo(ast.ShapeExpr((N,)), F32, 1))
SHAPE_OF_X = ast.Call(ast.op("relax.shape_of"), (X,))


def module(shape: ast.Expr, body: ast.Expr | None = None) -> ast.IRModule:
    """`main(x: Tensor[(n,), "float32"], y: Tensor[shape, "float32"])`, which returns y or a body."""
    y = ast.Var("y", ast.TensorStructInfo(shape, F32, 1))
    main = ast.Function((X, y), y if body is None else body, attrs={"global_symbol": "main"})
    return ast.IRModule({ast.GlobalVar("main"): main})


def shape_of_body(made: ast.IRModule) -> str:
    """The `shape_` of what the function returns."""
    report = check_modules((made,), Source(""))
    assert not report.diagnostics, report
    (function,) = made.functions.values()
    assert isinstance(function, ast.Function)
    return text(report.derivations[0].shape(function.body))


def end(made: ast.IRModule, *sizes: int) -> str:
    outcome = run(made, "main", [to_value(np.zeros(size, "float32")) for size in sizes])
    if isinstance(outcome, Returned):
        return "returned"
    assert isinstance(outcome, Ended)
    return outcome.code


def test_a_computed_shape_is_compared_when_the_program_runs() -> None:
    made = module(SHAPE_OF_X)
    assert shape_of_body(made) == "R.shape_of(x)"
    assert end(made, 3, 3) == "returned"
    assert end(made, 3, 4) == "OE-match-dimension"


def test_a_field_of_a_literal_is_checked_as_it_stands() -> None:
    literal = ast.Tuple((ast.ShapeExpr((tir.IntImm(2),)), ast.ShapeExpr((N,))))
    made = module(ast.TupleGetItem(literal, 1))
    assert shape_of_body(made) == "TupleGetItem(Tuple((2,), (n,)), 1)"
    assert end(made, 3, 3) == "returned"
    assert end(made, 3, 2) == "OE-match-dimension"


def test_a_field_of_what_a_call_gives() -> None:
    t = ast.Var("t", ast.TupleStructInfo((ast.TensorStructInfo(SHAPE_OF_X, F32, 1),)))
    field = ast.TupleGetItem(t, 0)
    main = ast.Function((X, t), field, attrs={"global_symbol": "main"})
    made = ast.IRModule({ast.GlobalVar("main"): main})
    assert shape_of_body(made) == "R.shape_of(x)"


def test_calls_are_equal_if_they_are_written_alike() -> None:
    other = ast.Call(ast.op("relax.shape_of"), (ast.Var("z"),))
    prover = Prover()
    assert can_prove_equal(SHAPE_OF_X, ast.Call(ast.op("relax.shape_of"), (X,)), prover)
    assert not can_prove_equal(SHAPE_OF_X, other, prover)
    one, two = (ast.TupleGetItem(SHAPE_OF_X, at) for at in (0, 1))
    assert can_prove_equal(one, ast.TupleGetItem(SHAPE_OF_X, 0), prover)
    assert not can_prove_equal(one, two, prover)
    assert not can_prove_equal(UNKNOWN, UNKNOWN, prover)


@pytest.mark.parametrize(
    ("argument", "found"), [(ast.Var("a"), "R.shape_of(a)"), (None, "RuntimeDepShape()")]
)
def test_a_call_in_a_result_takes_variables_and_constants(
    argument: ast.Var | None, found: str
) -> None:
    """Beta-reduction fails where a call in the shape would get another argument."""
    given = ast.Tuple(()) if argument is None else argument
    shapes: dict[ast.Expr, ast.Expr] = {
        X: ast.ShapeExpr((N,)),
        given: ast.ShapeExpr((tir.IntImm(4),)),
    }
    result = substitute_shape((X,), (given,), SHAPE_OF_X, shapes.__getitem__, {given}, Prover())
    assert text(result) == found
    assert text(substitute_vars(SHAPE_OF_X, {X: given}, {})) == f"R.shape_of({text(given)})"


def test_a_signature_is_short_for_checks() -> None:
    function = ast.Function((X,), X)
    shapes = (ast.ShapeExpr((N,)),)
    macro = expanded(function, shapes, UNKNOWN)
    assert isinstance(macro.body, ast.SeqExpr)
    first, body, last = macro.body.blocks[0].bindings
    assert all(isinstance(each, ast.VarBinding) for each in (first, body, last))
    assert isinstance(first, ast.VarBinding) and isinstance(first.value, ast.SeqExpr)
    (match,) = first.value.blocks[0].bindings
    assert isinstance(match, ast.MatchCast) and match.by_shape and match.value is X
    assert isinstance(body, ast.VarBinding) and body.value is X
    assert isinstance(last, ast.VarBinding) and last.value is body.var is macro.body.body
    assert check_annotation(X, UNKNOWN) is X


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [(N, N, False), (N, N + 1, True), (N, tir.IntImm(3), False), (N * 2, N + N, False)],
)
def test_dimensions_that_differ_for_all_sizes(
    one: tir.PrimExpr, other: tir.PrimExpr, differ: bool
) -> None:
    assert can_prove_not_equal(one, other, Prover()) is differ


def test_a_binding_of_the_user_may_have_the_name_of_a_check() -> None:
    body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(ast.Var("tmp"), X),)),), X)
    found = run(module(ast.ShapeExpr((N,)), body), "main", [to_value(np.ones(3, np.float32))] * 2)
    assert isinstance(found, Returned)


def test_the_dimensions_of_a_deep_tuple() -> None:
    shape: ast.Expr = ast.ShapeExpr((N,))
    for _ in range(60_000):
        shape = ast.Tuple((shape,))
    assert dims_of(shape) == (N,)
