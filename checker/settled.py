"""Calls and casts that mean what the types of their operands say, in forms that say it."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.derive import known_infos
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import argument_places, bindings, expressions
from rlx.operators.context import RecordingContext
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


class _SqueezeSettler(Rewriter):
    def __init__(self, info: Mapping[Node, ast.StructInfo]) -> None:
        super().__init__()
        self._context = RecordingContext(info)

    def call(self, call: ast.Call) -> ast.Expr:
        axes = remaining_axes(call, self._context) if _names_axes(call) else None
        if axes is None:
            return call
        operand = call.args[0] if call.args else call.attrs["x"]
        places = tuple(argument_places(call)[:1])
        return replace(call, args=(operand,), arg_spans=places, attrs={"axis": axes})


def with_own_casts(module: ast.IRModule) -> ast.IRModule:
    """A module with copies of the casts that compare shapes alone: only derivation knows what these
    give, and the copies may be completed with it.
    """
    found = (each for each in bindings(module) if isinstance(each, ast.MatchCast))
    if not any(cast.by_shape for cast in found):
        return module
    return _CastCopier().module(module)


class _CastCopier(Rewriter):
    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        return (replace(binding) if binding.by_shape else binding,)
