"""Tuples that double: their parts are few, their fields more than any machine could visit."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.old.check import check_text
from rlx.old.order import find_glb, find_lub, is_subtype
from rlx.old.shape_exprs import can_prove_equal, dims_of, free_vars, text
from rlx.old.substitution import map_shape_vars, substitute_vars
from rlx.old.two_views import rendered, views
from rlx.old.types import OBJECT, DynTensorType, FuncType, TupleType, Type
from rlx.solver.prover import Prover

LEVELS = 60
HEAD = '@R.function\ndef main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):\n'


def doubled(name: str) -> str:
    names = ["x", *(f"{name}{k}" for k in range(LEVELS))]
    return "".join(f"    {after} = ({before}, {before})\n" for before, after in pairwise(names))


BODIES = {
    "returned": doubled("v") + "    return v59\n",
    "joined": f"{doubled('v')}{doubled('w')}"
    "    if c:\n        y = v59\n    else:\n        y = w59\n    return y\n",
    "joined with a field": f"{doubled('v')}"
    "    if c:\n        y = v59\n    else:\n        y = v58\n    return y\n",
    "given to an operator": doubled("v") + "    y = R.add(v59, x)\n    return y\n",
    "a field": doubled("v") + "    y = v59[0]\n    z = y[1]\n    return z\n",
    "captured": f"{doubled('v')}    @R.function\n"
    '    def f(y: R.Tensor((2,), "float32")):\n        return v59\n'
    "    z = f(x)\n    return z\n",
    "a condition": f"{doubled('v')}"
    "    if v59:\n        y = x\n    else:\n        y = x\n    return y\n",
}


@pytest.mark.parametrize("name", BODIES)
def test_both_views_and_the_older_check_end(name: str) -> None:
    program = HEAD + BODIES[name]
    assert len(rendered(views(program))) < 5_000_000
    assert all(len(found.message) < 50_000 for found in check_text(program).diagnostics)


def type_of(leaf: Type) -> Type:
    for _ in range(LEVELS):
        leaf = TupleType((leaf, leaf))
    return leaf


def function_of(leaf: Type) -> Type:
    for _ in range(LEVELS):
        leaf = FuncType((leaf,), leaf)
    return leaf


def shape_of(leaf: ast.Expr) -> ast.Expr:
    for _ in range(LEVELS):
        leaf = ast.Tuple((leaf, leaf))
    return leaf


def test_order_of_types_compares_each_pair_once() -> None:
    known, rank = DynTensorType(1, dtype("float32")), DynTensorType(1)
    assert type_of(known) == type_of(DynTensorType(1, dtype("float32")))
    assert is_subtype(type_of(known), type_of(rank))
    assert not is_subtype(type_of(rank), type_of(known))
    assert find_lub(type_of(known), type_of(rank)) == type_of(rank)
    assert find_glb(type_of(known), type_of(rank)) == type_of(known)
    assert find_lub(function_of(known), function_of(rank)) is not OBJECT
    assert not is_subtype(function_of(known), function_of(rank))


def test_shapes_are_compared_and_replaced_part_by_part() -> None:
    from rlx.grammar.nodes.tir import IntImm, Var

    n, prover = Var("n"), Prover()
    two, size = ast.ShapeExpr((IntImm(2),)), ast.ShapeExpr((n,))
    assert can_prove_equal(shape_of(two), shape_of(ast.ShapeExpr((IntImm(2),))), prover)
    assert not can_prove_equal(shape_of(two), shape_of(size), prover)
    mapping: dict[Var, object] = {}
    assert map_shape_vars(shape_of(size), shape_of(two), mapping, prover)  # type: ignore[arg-type]
    assert {var: str(size) for var, size in mapping.items()} == {n: "2"}
    replaced = substitute_vars(shape_of(size), {}, {n: IntImm(2)})
    assert [str(dim) for dim in dims_of(replaced)] == ["2"]
    x, y = ast.Var("x"), ast.Var("y")
    assert free_vars(substitute_vars(shape_of(x), {x: y}, {})) == (y,)


def test_texts_have_a_budget() -> None:
    assert 10_000 < len(str(type_of(OBJECT))) < 11_000
    assert str(type_of(OBJECT)).endswith("…")
    assert str(TupleType((OBJECT, FuncType((), OBJECT)))) == "Tuple(Object, Callable((), Object))"
    assert text(shape_of(ast.Var("s"))).endswith("…")
