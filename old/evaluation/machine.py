"""The state that all rules of the evaluation share. A rule is a generator: the machine evaluates
each yielded expression before it continues the rule, so the depth of calls is limited by memory
only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.old.derivation_state import OlderDerivation
from rlx.old.evaluation.outside import Outside
from rlx.semantics.faults import FaultStop, OutOfFuelStop
from rlx.semantics.values import Value
from rlx.solver.evaluate import UndefinedError, evaluate


class OlderScope:
    """The bindings of a function, a SeqExpr or a branch, and the scope around it."""

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
    """A closure of 2022: a function and its environment."""

    __slots__ = ("function", "name", "scope")

    def __init__(self, function: ast.Function, scope: OlderScope, name: Any) -> None:
        self.function, self.scope, self.name = function, scope, name


Evaluating = Generator["Evaluating | None", Any, Any]
OlderRule = Callable[["OlderMachine", Any, OlderScope], Evaluating]


class OlderMachine:
    """The state that every rule reads: the module, the known types and shapes, and the evaluator of
    operators.

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
