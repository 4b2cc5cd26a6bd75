"""Operators and packed functions, which the document leaves to implementations.

The machine of :mod:`rlx.semantics` evaluates them: a call becomes the body of a function
whose parameters have the arguments as values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.node import replace
from rlx.semantics.machine import load
from rlx.semantics.machine.program import External, MachineProgram
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import Value
from rlx.solver.order.substitute import substitute, substitute_prim

NAME = "main"
Numbers = Mapping[tir.Var, int]


class OutsideEnded(Exception):
    """An operator or a packed function ended the run; ``outcome`` says how."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


class Outside:
    """Evaluates the calls of one module that the document does not define."""

    def __init__(
        self,
        module: ast.IRModule,
        packed: Mapping[str, External],
        output: Callable[[str], None],
        iterations: int | None,
    ) -> None:
        self._kernels = module.prim_funcs
        self._options: dict[str, Any] = {
            "packed": packed,
            "output": output,
            "iterations": iterations,
            "backend": "steps",
        }
        self._programs: dict[tuple[Expr, tuple[int, ...]], MachineProgram] = {}

    def value(
        self, expr: Expr, operands: Sequence[Expr], values: Sequence[Value], numbers: Numbers
    ) -> Value:
        """The value of an expression some of whose parts have values already.

        Parameters
        ----------
        operands, values
            Those parts, and what they are.
        numbers
            The shape variables that the rest of the expression mentions.

        Raises
        ------
        OutsideEnded
            If there is no value.
        """
        key = (expr, tuple(numbers.values()))
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._program(expr, operands, numbers)
        outcome = program.run(NAME, values)
        if isinstance(outcome, Returned):
            return outcome.value
        raise OutsideEnded(outcome)

    def _program(self, expr: Expr, operands: Sequence[Expr], numbers: Numbers) -> MachineProgram:
        params = tuple(ast.Var(f"a{at}", ast.ObjectStructInfo()) for at in range(len(operands)))
        put = dict(zip(operands, params, strict=True))
        images = {var: tir.IntImm(number, var.dtype) for var, number in numbers.items()}

        def change(node: Any) -> Any:
            match node:
                case Expr() if node in put:
                    return put[node]
                case ast.StructInfo():
                    return substitute(node, images)
                case tir.PrimExpr():
                    return substitute_prim(node, images)
                case ast.ShapeExpr(values=values):
                    return replace(node, values=tuple(substitute_prim(v, images) for v in values))
                case ast.PrimValue(value=value):
                    return replace(node, value=substitute_prim(value, images))
            return node

        body = ast.SeqExpr((), _with_parts(expr, change))
        main = ast.Function(params, body, None, False, {"global_symbol": NAME})
        module = ast.IRModule({**self._kernels, ast.GlobalVar(NAME): main})
        return load(module, **self._options)


def _with_parts(expr: Expr, change: Callable[[Any], Any]) -> Expr:
    """An expression with its arguments, attributes and type arguments changed."""
    if not isinstance(expr, ast.Call):
        changed: Expr = change(expr)
        return changed
    return replace(
        expr,
        args=tuple(_argument(arg, change) for arg in expr.args),
        attrs={name: _attribute(value, change) for name, value in expr.attrs.items()},
        sinfo_args=tuple(map(change, expr.sinfo_args)),
    )


def _argument(arg: Expr, change: Callable[[Any], Any]) -> Expr:
    changed: Expr = change(arg)
    if changed is arg and isinstance(arg, ast.Tuple):
        return replace(arg, fields=tuple(_argument(field, change) for field in arg.fields))
    return changed


def _attribute(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_attribute(item, change) for item in value)
    if isinstance(value, Expr):
        return _argument(value, change)
    return change(value) if isinstance(value, tir.PrimExpr) else value
