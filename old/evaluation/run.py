"""Running a module by the specification of 2022."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.stack import finished
from rlx.old.evaluation import bindings, calls, expressions
from rlx.old.evaluation.calls import entered
from rlx.old.evaluation.machine import OlderClosure, OlderMachine, OlderRule, OlderScope
from rlx.old.evaluation.outside import Outside, OutsideEnded
from rlx.old.functions import derive
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.semantics.machine.outcome_of_stop import ended
from rlx.semantics.machine.program import External
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import Closure, PrimFuncValue, Value

RULES: Mapping[type, OlderRule] = {
    ast.Constant: expressions.constant,
    ast.Var: expressions.variable,
    ast.DataflowVar: expressions.variable,
    ast.GlobalVar: expressions.variable,
    ast.Tuple: expressions.tuple_,
    ast.TupleGetItem: expressions.field,
    ast.ShapeExpr: expressions.shape,
    ast.PrimValue: expressions.attribute,
    ast.StringImm: expressions.attribute,
    ast.DataTypeImm: expressions.attribute,
    ast.ExternFunc: expressions.attribute,
    RuntimeDepShape: expressions.run_time_shape,
    ast.Function: expressions.function,
    ast.If: expressions.branch,
    ast.Call: calls.call,
    ast.SeqExpr: bindings.sequence,
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
    for name, function in module.functions.items():
        machine.globals[name] = (
            Closure(OlderClosure(function, OlderScope(), name))
            if isinstance(function, ast.Function)
            else PrimFuncValue(function, name.name_hint)
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
