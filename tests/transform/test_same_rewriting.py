"""What visitors see, and what passes, mutators and patterns make of random programs, is what it was.

`test_passes.py`, `visitors/` and `patterns/` say that it is right. `RLX_UPDATE_SNAPSHOTS=1 pytest` writes the digests anew.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rlx
from rlx.checker.normalize import normalize
from rlx.grammar import ast
from rlx.grammar.ast import Expr, IRModule
from rlx.grammar.node import replace
from rlx.grammar.visit import walk
from rlx.transform.patterns import (
    Match,
    Pattern,
    PatternError,
    find,
    is_call,
    is_const,
    is_function,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    rewrite,
    wildcard,
)
from rlx.transform.visitors import rewrite_dataflow
from rlx.transform.visitors.dispatch import EXPRESSIONS
from tests.snapshots import assert_digest
from tests.transform.passes import PASSES, program

SNAPSHOT = Path(__file__).parent / "snapshots" / "rewriting.txt"
SEEDS = range(500, 524)
pytestmark = pytest.mark.filterwarnings("ignore::rlx.BuildWarning")


def failed(error: Exception) -> str:
    """An error without the place in this file."""
    text = str(error)
    return text.partition("error[")[2] or text


def said(build: Any) -> str:
    """What becomes of a program, or what is said of the change."""
    try:
        return str(build())
    except (rlx.BuildError, PatternError) as error:
        return failed(error)


METHODS = (
    *("binding_block", "dataflow_block", "binding", "var_binding", "match_cast", "var_def"),
    *("dataflow_var_def", "function", "struct_info", "prim_expr"),
    *(name.removeprefix("visit_") for name in EXPRESSIONS.values()),
)


def noted(name: str) -> Any:
    def method(self: Any, node: Any) -> None:
        where = self.function and len(self.function.params), type(self.block).__name__
        self.lines.append(f"{name} {type(node).__name__} {len(self.scope)} {where}")
        getattr(rlx.ExprVisitor, name)(self, node)
        self.lines.append(f"end {len(self.scope)}")

    return method


NOTING: Any = type(
    "Noting",
    (rlx.ExprVisitor,),
    {f"visit_{n}": noted(f"visit_{n}") for n in dict.fromkeys(METHODS)},
)


def trace(module: IRModule) -> str:
    """The calls of all methods of a visitor, with what is in scope around them."""
    visitor = NOTING()
    visitor.lines = []
    visitor.visit(module)
    return "\n".join(visitor.lines)


class Changing(rlx.ExprMutator):
    """Changes one kind of thing here and there, and leaves the rest."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        if self.pick.random() < 0.2:
            return self.builder.emit(made)
        return replace(made) if self.pick.random() < 0.3 else made

    def visit_var_def(self, var: ast.Var) -> ast.Var:
        made = super().visit_var_def(var)
        if made.struct_info_annotation is not None and self.pick.random() < 0.05:
            return replace(made, struct_info_annotation=None)
        return made

    def visit_struct_info(self, info: ast.StructInfo) -> ast.StructInfo:
        made = super().visit_struct_info(info)
        return replace(made) if self.pick.random() < 0.2 else made

    def visit_if(self, expr: ast.If) -> Expr:
        made = super().visit_if(expr)
        assert isinstance(made, ast.If)
        if self.pick.random() < 0.3:
            return replace(made, true_branch=made.false_branch, false_branch=made.true_branch)
        return made


class InBlocks(rlx.DataflowMutator):
    """Copies results of calls in dataflow blocks, and leaves copies out."""

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        return self.builder.emit(made) if len(call.args) == 2 else made

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Var) and isinstance(binding.var, ast.DataflowVar):
            self.replace_var(binding.var, self.visit_expr(binding.value))
        else:
            super().visit_var_binding(binding)


def twice(builder: rlx.BlockBuilder, binding: ast.VarBinding) -> Expr | None:
    """A value made under another name before the binding."""
    return builder.emit(binding.value) if isinstance(binding.value, ast.Call) else None


def of_value(value: Expr, pick: random.Random) -> Pattern:
    """A pattern that a value fits, with conditions that it may not meet."""
    match value:
        case ast.Call(op=ast.Op() as op, args=args):
            made: Pattern = is_op(op.op_name)
            if args and len(args) < 4 and pick.random() < 0.7:
                made = is_op(op.op_name)(*(leaf(arg, pick) for arg in args))
            for key, given in value.attrs.items():
                if isinstance(given, int | str | tuple):
                    made = made.has_attr({key: given})
        case ast.Call(op=callee, args=args):
            made = is_call(leaf(callee, pick), *(leaf(arg, pick) for arg in args))
        case ast.Tuple(fields=fields):
            made = is_tuple([leaf(field, pick) for field in fields])
        case ast.TupleGetItem(index=index):
            made = is_tuple_get_item(wildcard(), index)
        case _:
            made = leaf(value, pick)
    info = pick.choice(["none", "dtype", "shape", "info", "or", "where", "not", "and"])
    match info:
        case "dtype":
            return made.has_dtype(pick.choice(["float32", "int64", "bool"]))
        case "shape":
            return made.has_shape(pick.choice([("a", "b"), ("a",), (), ("a", "a"), (1, "b")]))
        case "info":
            return made.has_struct_info(
                pick.choice(['R.Tensor(("a", "b"), "float32")', "R.Object"])
            )
        case "or":
            return made | is_op("add")
        case "and":
            return made & wildcard().has_dtype("float32")
        case "not":
            return made & ~is_op("add").has_dtype("float32")
        case "where":
            return made.where(lambda expr: isinstance(expr, ast.Call))
    return made


def leaf(expr: Expr, pick: random.Random) -> Pattern:
    """A pattern for an argument."""
    match expr:
        case ast.Constant():
            return is_const()
        case ast.ShapeExpr():
            return is_shape()
        case ast.GlobalVar(name_hint=name) | ast.ExternFunc(global_symbol=name):
            return is_function(name)
        case ast.Var(name_hint=name):
            used = pick.choice([None, None, name])
            return wildcard() if pick.random() < 0.5 else is_var(used)
    return wildcard()


def patterns(module: IRModule, pick: random.Random) -> Iterator[Pattern]:
    """Patterns made of values of a program, and of two that follow each other."""
    bound = [
        binding
        for function in normalize(module).functions.values()
        if isinstance(function, ast.Function)
        for block in (b for e in walk(function) if isinstance(e, ast.SeqExpr) for b in e.blocks)
        for binding in block.bindings
        if isinstance(binding, ast.VarBinding)
        and not isinstance(binding.value, ast.Function | ast.If | ast.SeqExpr)
    ]
    values = {binding.var: binding.value for binding in bound}
    for binding in pick.sample(bound, min(len(bound), 5)):
        try:
            made = of_value(binding.value, pick)
        except PatternError as error:
            made = is_function(str(error))
        yield made
        used = [e for e in walk(binding.value) if isinstance(e, ast.Var) and e in values]
        if used:
            inner = leaf(values[used[0]], pick)
            if isinstance(value := values[used[0]], ast.Call) and isinstance(value.op, ast.Op):
                inner = is_op(value.op.op_name)
            yield inner.used_by(made)
            yield inner.only_used_by(made)


def shown(match: Match) -> str:
    return f"{match!r} {match.in_dataflow} {[(match.uses(k), str(match.bound(k))) for k in match]}"


def matches(module: IRModule, seed: int) -> Iterator[str]:
    """What patterns find, and what becomes of the program if it is bound once more."""
    pick = random.Random(seed)
    for pattern in patterns(module, pick):
        lines: list[str] = []

        def replacement(match: Match, lines: list[str] = lines) -> Expr | None:
            text = shown(match)
            lines.append(text[text.index(" of ") :])
            return match.builder.emit(match.value) if isinstance(match.value, ast.Call) else None

        lines.append(said(partial(rewrite, module, pattern, replacement)))
        found = [match.var.name_hint for match in find(module, pattern)]
        yield "\n".join([str(pattern), str(found), *lines])


@pytest.mark.parametrize("seed", SEEDS)
def test_rewriting(seed: int) -> None:
    module = program(seed)
    parts = [f"{name}\n{said(lambda a=apply: a(module))}" for name, apply in PASSES.items()]
    parts += [trace(module), trace(normalize(module))]
    parts += [said(lambda at=at: Changing(at)(module)) for at in range(2)]
    parts += [said(lambda: InBlocks()(module)), said(lambda: rewrite_dataflow(module, twice))]
    assert_digest(SNAPSHOT, f"program {seed}", "\n\n".join(parts))


@pytest.mark.parametrize("seed", SEEDS)
def test_patterns(seed: int) -> None:
    assert_digest(SNAPSHOT, f"patterns {seed}", "\n\n".join(matches(program(seed), seed)))
