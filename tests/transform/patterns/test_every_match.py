"""LAW: a pattern finds each binding that a search by hand finds, and a match that replaces itself changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.nodes.visit import expressions
from rlx.transform.patterns import find, is_op, rewrite
from tests.transform.passes import program


def bound(module: ast.IRModule) -> Iterator[tuple[ast.Var, ast.Call]]:
    """The variables that are bound to calls of operators, or to other variables that are."""
    values: dict[ast.Expr, ast.Expr] = {}
    for function in normalize(module).relax_functions.values():
        for block in (
            b for e in expressions(function) if isinstance(e, ast.SeqExpr) for b in e.blocks
        ):
            for binding in block.bindings:
                if isinstance(binding, ast.VarBinding) and binding.var is not None:
                    values[binding.var] = binding.value
    for var, value in values.items():
        while isinstance(value, ast.Var) and value in values:
            value = values[value]
        if isinstance(value, ast.Call) and isinstance(value.op, ast.Op):
            assert isinstance(var, ast.Var)
            yield var, value


def named(call: ast.Call) -> str:
    assert isinstance(call.op, ast.Op)
    return call.op.op_name.removeprefix("relax.")


@pytest.mark.parametrize("seed", range(500, 512))
def test_calls_of_an_operator(seed: int) -> None:
    module = program(seed)
    calls = [*bound(module)]
    for name in sorted({named(call) for _, call in calls}):
        wanted = [var.name_hint for var, call in calls if named(call) == name]
        found = [match.var.name_hint for match in find(module, is_op(name))]
        assert sorted(found) == sorted(wanted), name


@pytest.mark.parametrize("seed", range(500, 506))
def test_a_match_that_replaces_itself(seed: int) -> None:
    module = normalize(program(seed))
    for name in sorted({named(call) for _, call in bound(module)}):
        made = rewrite(module, is_op(name), lambda match: match.value)
        assert first_difference(made, module) is None, name
