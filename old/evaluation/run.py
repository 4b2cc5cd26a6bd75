"""Running a module by the specification of 2022: calls, and the checks of a signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.stack import finished
from rlx.old.evaluation.bindings import checked, compare_shapes, sequence
from rlx.old.evaluation.expressions import (
    attribute,
    branch,
    constant,
    field,
    function,
    run_time_shape,
    shape,
    tuple_,
    variable,
)
from rlx.old.evaluation.machine import (
    Evaluating,
    OlderClosure,
    OlderMachine,
    OlderRule,
    OlderScope,
    evaluation,
)
from rlx.old.evaluation.outside import Outside, OutsideEnded
from rlx.old.expansion import COMPARE_SHAPES
from rlx.old.functions import derive
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.semantics.faults import FaultStop, IllFormedStop
from rlx.semantics.machine.outcome_of_stop import ended
from rlx.semantics.machine.program import External
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import Closure, PrimFuncValue, Value
from rlx.solver.order import free_shape_vars
from rlx.spec.registry import rule


@rule("OE-operator", "older evaluation")
def operator_call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9.1, 9.2: the arguments left to right; then the operator or the packed function."""
    operands: dict[Expr, Value] = {}
    for part in _operands(expr):
        operands[part] = yield evaluation(m, part, scope)
    if isinstance(expr.op, ast.ExternFunc) and expr.op.global_symbol == COMPARE_SHAPES:
        return compare_shapes(*operands.values())
    numbers = {var: number for var in _mentioned(expr) if (number := scope.number(var)) is not None}
    return m.outside.value(expr, tuple(operands), tuple(operands.values()), numbers)


_PLAIN = (ast.PrimValue, ast.StringImm, ast.DataTypeImm, ast.ExternFunc, ast.GlobalVar, ast.Op)


def _operands(call: ast.Call) -> list[Expr]:
    """The parts of a call that are evaluated before it, in order; the others are attributes.

    An operator may take a shape as an attribute. A packed function is looked up behind its
    arguments, so a dimension without a value ends the run first.
    """
    found: list[Expr] = []
    packed = any(isinstance(part, ast.ExternFunc) for part in (call.op, *call.args[:1]))
    plain = _PLAIN if packed else (*_PLAIN, ast.ShapeExpr)

    def add(part: object) -> None:
        if isinstance(part, ast.Tuple) and part.fields:
            for inner in part.fields:
                add(inner)
        elif isinstance(part, tuple | list):
            for inner in part:
                add(inner)
        elif isinstance(part, Expr) and not isinstance(part, plain):
            found.append(part)

    for arg in call.args:
        add(arg)
    for value in call.attrs.values():
        add(value)
    return list(dict.fromkeys(found))


def _mentioned(call: ast.Call) -> list[tir.Var]:
    """The shape variables in the attributes, dimensions and type arguments of a call."""
    found: list[tir.Var] = [var for info in call.sinfo_args for var in free_shape_vars(info)]

    def add(part: object) -> None:
        match part:
            case ast.ShapeExpr(values=values):
                found.extend(var for dim in values for var in tir.free_vars(dim))
            case ast.PrimValue(value=value):
                found.extend(tir.free_vars(value))
            case tir.PrimExpr():
                found.extend(tir.free_vars(part))
            case ast.Tuple(fields=fields):
                for inner in fields:
                    add(inner)
            case tuple() | list():
                for inner in part:
                    add(inner)

    for part in (*call.args, *call.attrs.values()):
        add(part)
    return list(dict.fromkeys(found))


def call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9: the rule for a call, by what is called."""
    m.step()
    chosen = operator_call if isinstance(expr.op, (ast.Op, ast.ExternFunc)) else closure_call
    return (yield chosen(m, expr, scope))


@rule("OE-closure", "older evaluation")
def closure_call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9.3: the closure, the arguments left to right, then the body in a scope of its own."""
    callee = yield evaluation(m, expr.op, scope)
    args = []
    for arg in expr.args:
        args.append((yield evaluation(m, arg, scope)))
    if not isinstance(callee, Closure) or not isinstance(callee.code, OlderClosure):
        raise IllFormedStop("OE-closure-callee", "expected a closure as the callee")
    return (yield entered(m, callee.code, args))


@rule("OE-entry", "older evaluation")
def entered(m: OlderMachine, code: OlderClosure, args: list[Value]) -> Evaluating:
    """The checks of the parameters, the body, the check of the result."""
    node = code.function
    if len(node.params) != len(args):
        raise FaultStop(
            "OE-entry-arity", f"expected {len(node.params)} arguments, found {len(args)}"
        )
    scope = OlderScope(code.scope)
    for param, arg in zip(node.params, args, strict=True):
        scope.values[param] = arg
        if param.struct_info_annotation is not None:
            yield checked(m, param.struct_info_annotation, param, scope)
    result = yield evaluation(m, node.body, scope)
    if node.ret_struct_info is not None:
        ret_var = ast.Var("ret_var")
        scope.values[ret_var] = result
        yield checked(m, node.ret_struct_info, ret_var, scope)
    return result


RULES: Mapping[type, OlderRule] = {
    ast.Constant: constant,
    ast.Var: variable,
    ast.DataflowVar: variable,
    ast.GlobalVar: variable,
    ast.Tuple: tuple_,
    ast.TupleGetItem: field,
    ast.ShapeExpr: shape,
    ast.PrimValue: attribute,
    ast.StringImm: attribute,
    ast.DataTypeImm: attribute,
    ast.ExternFunc: attribute,
    RuntimeDepShape: run_time_shape,
    ast.Function: function,
    ast.If: branch,
    ast.Call: call,
    ast.SeqExpr: sequence,
}


def run(
    module: ast.IRModule,
    entry: str,
    args: Sequence[Value],
    *,
    fuel: int | None = None,
    packed: Mapping[str, External] | None = None,
    output: Callable[[str], None] = print,
    iterations: int | None = None,
) -> Outcome:
    """Run a function of a module by the rules of 2022.

    Parameters
    ----------
    entry, args
        The name of the function, and its arguments.
    fuel
        The largest number of calls and bindings to evaluate; None for no limit.
    packed, output, iterations
        As for :func:`rlx.semantics.machine.load`.

    Returns
    -------
    Outcome
        What the rules of :mod:`rlx.semantics.machine` give where both systems have the program.

    Raises
    ------
    KeyError
        If the module has no such function.
    """
    known = derive(module)
    machine = OlderMachine(known, Outside(module, packed or {}, output, iterations), fuel, RULES)
    for name, body in module.functions.items():
        machine.globals[name] = (
            Closure(OlderClosure(body, OlderScope(), name))
            if isinstance(body, ast.Function)
            else PrimFuncValue(body, name.name_hint)
        )
    callee = next((v for g, v in machine.globals.items() if g.name_hint == entry), None)
    if not isinstance(callee, Closure):
        raise KeyError(f"the module has no function {entry!r}")
    try:
        value = finished(entered(machine, callee.code, list(args)))
    except OutsideEnded as stop:
        return stop.outcome
    except Exception as stop:  # noqa: BLE001 - a mistake of ours is an outcome, too
        return ended(stop, None, "OE-entry", tuple(args), callee.code.function.span)
    return Returned(value)
