"""The scopes of a run: values of variables, numbers of shape variables."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.semantics.values import Value


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
