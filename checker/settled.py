"""Calls and casts that mean what the types of their operands say, in a form that says it by itself."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.derive import Derivation, known_infos
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import argument_places, expressions
from rlx.operators.context import OperatorContext, Place
from rlx.operators.movement import remaining_axes

_SQUEEZE = ast.op("relax.squeeze")


def settled(module: ast.IRModule) -> ast.IRModule:
    """A module in normal form whose calls of `squeeze` name only axes that go: an axis stays if the
    type of the operand has a literal other than 1 there (OBL-squeeze).
    """
    if not any(isinstance(expr, ast.Call) and _names_axes(expr) for expr in expressions(module)):
        return module
    return _SqueezeSettler(known_infos(module)).module(module)


def _names_axes(call: ast.Call) -> bool:
    return call.op == _SQUEEZE and (len(call.args) > 1 or "axis" in call.attrs)


class _DerivedOperands(OperatorContext):
    def __init__(self, info: Mapping[Node, ast.StructInfo]) -> None:
        super().__init__()
        self._info = info

    def info(self, expr: ast.Expr) -> ast.StructInfo:
        return self._info.get(expr) or super().info(expr)

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Derivation has reported it."""


class _SqueezeSettler(Rewriter):
    def __init__(self, info: Mapping[Node, ast.StructInfo]) -> None:
        super().__init__()
        self._context = _DerivedOperands(info)

    def call(self, call: ast.Call) -> ast.Expr:
        axes = remaining_axes(call, self._context) if _names_axes(call) else None
        if axes is None:
            return call
        operand = call.args[0] if call.args else call.attrs["x"]
        places = tuple(argument_places(call)[:1])
        return replace(call, args=(operand,), arg_spans=places, attrs={"axis": axes})


def with_casts(
    module: ast.IRModule, derivation: Derivation
) -> tuple[ast.IRModule, Mapping[Node, ast.StructInfo]]:
    """A module in which the casts that compare shapes alone say what they give; and the struct infos
    of what is made for it.
    """
    if not derivation.casts:
        return module, {}
    settler = _CastSettler(derivation)
    return settler.module(module), settler.info


class _CastSettler(Rewriter):
    def __init__(self, derivation: Derivation) -> None:
        super().__init__()
        self._derivation = derivation
        self.info: dict[Node, ast.StructInfo] = {}

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        info = self._derivation.casts.get(binding)
        return (binding if info is None else replace(binding, struct_info=info),)

    def expr(self, expr: ast.Expr) -> ast.Expr:
        made = super().expr(expr)
        if made is not expr:
            self.info[made] = self._derivation.info[expr]
        return made
