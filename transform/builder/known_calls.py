"""Operator calls that were checked before; similar calls need no check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rlx.checker.derive.state import DerivationState
from rlx.checker.memory import IN_PLACE
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.operators import lookup

Key = tuple[object, ...]
NOWHERE = object()
_PLAIN = frozenset([int, bool, float, str, type(None)])


class KnownCall(NamedTuple):
    """The struct info of a call's result, and the annotation of its variable."""

    info: StructInfo
    annotation: StructInfo | None


class KnownCalls(dict[Key, KnownCall]):
    """The checked calls of one sequence, by everything that their struct info depends on."""

    def remember(self, key: Key, value: Expr, var: ast.Var, state: DerivationState) -> None:
        """Store the struct info of a call, if a check of a similar call would find nothing."""
        assert isinstance(value, ast.Call) and isinstance(value.op, ast.Op)
        operator, info = lookup(value.op.op_name), state.info_of[var]
        plain = isinstance(info, ast.TensorStructInfo | ast.TupleStructInfo)
        if (
            plain
            and operator is not None
            and operator.pure
            and not operator.has_form
            and operator.name not in IN_PLACE
            and value not in state.vague
            and value not in state.poison
        ):
            self[key] = KnownCall(info, var.struct_info_annotation)


def call_key(
    value: Expr,
    state: DerivationState,
    scope: Mapping[ast.Var, ast.DataflowBlock | None],
    block: ast.DataflowBlock | None,
) -> Key | None:
    """Everything that the struct info of an operator call on variables depends on; None for other
    expressions.

    Parameters
    ----------
    scope
        The variables in scope, with the dataflow block to which each belongs.
    block
        The current dataflow block.
    """
    if type(value) is not ast.Call or type(value.op) is not ast.Op:
        return None
    if value.sinfo_args or value.spelled:
        return None
    info_of, poison, vague = state.info_of, state.poison, state.vague
    key: list[object] = [value.op]
    for arg in value.args:
        # A variable of the block at hand, or one that belongs to no dataflow block.
        home = scope.get(arg, NOWHERE)  # type: ignore[call-overload]
        if home is not block and home is not None:
            return None
        key.append(info_of[arg])
    if not (poison.isdisjoint(value.args) and vague.isdisjoint(value.args)):
        return None
    for name, given in value.attrs.items():
        if type(given) not in _PLAIN:
            return None
        key += (name, type(given), given)
    return tuple(key)
