"""Evaluation of expressions other than calls: OE-… by the numbers of the document."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.visit import free_vars
from rlx.old.evaluation.machine import (
    Evaluating,
    OlderClosure,
    OlderMachine,
    OlderScope,
    dimension,
    evaluation,
    numbers_of,
)
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.semantics.faults import IllFormedStop
from rlx.semantics.machine.control import truth
from rlx.semantics.values import Closure, ShapeValue, TupleValue
from rlx.spec.registry import rule


@rule("OE-constant", "older evaluation")
def constant(m: OlderMachine, expr: ast.Constant, scope: OlderScope) -> Evaluating:
    """1: a new tensor."""
    return m.outside.value(expr, (), (), {})
    yield  # makes it a generator, like all others


@rule("OE-var", "older evaluation")
def variable(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """2: the stored value."""
    found = m.globals.get(expr) if isinstance(expr, ast.GlobalVar) else scope.value(expr)
    if found is None:
        name = getattr(expr, "name_hint", "a variable")
        raise IllFormedStop("OE-var-bound", f"{name} has no value here")
    return found
    yield


@rule("OE-tuple", "older evaluation")
def tuple_(m: OlderMachine, expr: ast.Tuple, scope: OlderScope) -> Evaluating:
    """3: the fields, left to right."""
    fields = []
    for field in expr.fields:
        fields.append((yield evaluation(m, field, scope)))
    return TupleValue(tuple(fields))


@rule("OE-field", "older evaluation")
def field(m: OlderMachine, expr: ast.TupleGetItem, scope: OlderScope) -> Evaluating:
    """4: the field of the tuple."""
    value = yield evaluation(m, expr.tuple_value, scope)
    if not isinstance(value, TupleValue) or not 0 <= expr.index < len(value.fields):
        raise IllFormedStop("OE-field-there", f"there is no field {expr.index}")
    return value.fields[expr.index]


@rule("OE-shape", "older evaluation")
def shape(m: OlderMachine, expr: ast.ShapeExpr, scope: OlderScope) -> Evaluating:
    """5: the dimensions, left to right."""
    return ShapeValue(tuple(dimension(dim, scope) for dim in expr.values))
    yield


@rule("OE-runtime", "older evaluation", refuses=True)
def run_time_shape(m: OlderMachine, expr: RuntimeDepShape, scope: OlderScope) -> Evaluating:
    """6: RuntimeDepShape has no value."""
    raise IllFormedStop("OE-runtime-value", "RuntimeDepShape has no value")
    yield


@rule("OE-function", "older evaluation")
def function(
    m: OlderMachine, expr: ast.Function, scope: OlderScope, name: ast.Var | None = None
) -> Evaluating:
    """7: a closure with the values of the free variables, by reference.

    ``name`` is the variable that it is bound to, which its body may call.
    """
    captured = OlderScope()
    for var in free_vars(expr):
        value = None if isinstance(var, ast.DataflowVar) else scope.value(var)
        if value is not None:
            captured.values[var] = value
    around: OlderScope | None = scope
    while around is not None:
        for number, size in around.shapes.items():
            captured.shapes.setdefault(number, size)
        around = around.outer
    made = Closure(OlderClosure(expr, captured, name))
    if name is not None:
        captured.values[name] = made
    return made
    yield


@rule("OE-if", "older evaluation")
def branch(m: OlderMachine, expr: ast.If, scope: OlderScope) -> Evaluating:
    """8: the condition, then one branch."""
    chosen = truth((yield evaluation(m, expr.cond, scope)))
    return (yield evaluation(m, expr.true_branch if chosen else expr.false_branch, scope))


def attribute(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """A scalar, a string or a data type where operators take it (OE-operator)."""
    numbers: dict[tir.Var, int] = {}
    if isinstance(expr, ast.PrimValue):
        numbers = numbers_of(expr.value, scope)
    return m.outside.value(expr, (), (), numbers)
    yield
