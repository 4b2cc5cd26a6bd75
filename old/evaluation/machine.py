"""What every rule of the evaluation knows. A rule is a generator: what it yields is evaluated
before it goes on, so that programs may call as deep as memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.node import replace
from rlx.old.derivation_state import OlderDerivation
from rlx.semantics.faults import FaultStop, OutOfFuelStop
from rlx.semantics.machine import load
from rlx.semantics.machine.program import External, MachineProgram
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import Value
from rlx.solver.evaluate import UndefinedError, evaluate
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
        self._kernels = {gv: f for gv, f in module.functions.items() if isinstance(f, tir.PrimFunc)}
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
            if isinstance(node, Expr) and node in put:
                return put[node]
            if isinstance(node, ast.StructInfo):
                return substitute(node, images)
            if isinstance(node, tir.PrimExpr):
                return substitute_prim(node, images)
            if isinstance(node, (ast.ShapeExpr,)):
                return replace(node, values=tuple(substitute_prim(v, images) for v in node.values))
            if isinstance(node, ast.PrimValue):
                return replace(node, value=substitute_prim(node.value, images))
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


class OlderScope:
    """What a function, a SeqExpr or a branch binds, and the scope around it."""

    __slots__ = ("outer", "shapes", "values")

    def __init__(self, outer: OlderScope | None = None) -> None:
        self.values: dict[ast.Expr, Value] = {}
        self.shapes: dict[tir.Var, int] = {}
        self.outer = outer

    def value(self, var: ast.Expr) -> Value | None:
        """The value of a variable; None if it has none here."""
        scope: OlderScope | None = self
        while scope is not None:
            found = scope.values.get(var)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def number(self, var: tir.Var) -> int | None:
        """The number of a shape variable; None if it has none yet."""
        scope: OlderScope | None = self
        while scope is not None:
            if var in scope.shapes:
                return scope.shapes[var]
            scope = scope.outer
        return None


class OlderClosure:
    """What a closure of 2022 is made of: its function, and what was around it."""

    __slots__ = ("function", "name", "scope")

    def __init__(self, function: ast.Function, scope: OlderScope, name: Any) -> None:
        self.function, self.scope, self.name = function, scope, name


Evaluating = Generator["Evaluating | None", Any, Any]
OlderRule = Callable[["OlderMachine", Any, OlderScope], Evaluating]


class OlderMachine:
    """What every rule knows: the module, what is known of it, who evaluates operators.

    Attributes
    ----------
    fuel
        How many more calls and bindings the run may evaluate; None for no limit.
    rules
        The rule for each kind of expression.
    """

    def __init__(
        self,
        known: OlderDerivation,
        outside: Outside,
        fuel: int | None,
        rules: Mapping[type, OlderRule],
    ) -> None:
        self.known = known
        self.outside = outside
        self.fuel = fuel
        self.rules = rules
        self.globals: dict[ast.GlobalVar, Value] = {}

    def step(self) -> None:
        """Use a step up.

        Raises
        ------
        OutOfFuelStop
            If none is left.
        """
        if self.fuel is None:
            return
        self.fuel -= 1
        if self.fuel < 0:
            raise OutOfFuelStop("E-fuel-left", "the run did not end within its limit of steps")


def evaluation(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """The rule for an expression, begun."""
    return m.rules[type(expr)](m, expr, scope)


def dimension(dim: tir.PrimExpr, scope: OlderScope) -> int:
    """The number of a dimension.

    Raises
    ------
    FaultStop
        If a variable in it has no value, it divides by zero, or leaves 64 bits.
    """
    try:
        return evaluate(dim, numbers_of(dim, scope), int64=True)
    except (UndefinedError, KeyError) as error:
        raise FaultStop("OE-shape-defined", f"{dim} has no value: {error}") from None


def numbers_of(dim: tir.PrimExpr, scope: OlderScope) -> dict[tir.Var, int]:
    """The numbers of the shape variables of a dimension."""
    found: dict[tir.Var, int] = {}
    for var in tir.free_vars(dim):
        number = scope.number(var)
        if number is None:
            raise UndefinedError(f"the shape variable {var.name} has no value", var)
        found[var] = number
    return found
