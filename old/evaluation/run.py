"""Running a module by the specification of 2022."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.stack import finished
from rlx.old.evaluation.bindings import sequence
from rlx.old.evaluation.calls import call, entered
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
from rlx.old.evaluation.machine import OlderClosure, OlderMachine, OlderRule, OlderScope
from rlx.old.evaluation.outside import Outside, OutsideEnded
from rlx.old.functions import derive
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.semantics.machine.outcome_of_stop import ended
from rlx.semantics.machine.program import External
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import Closure, PrimFuncValue, Value

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
