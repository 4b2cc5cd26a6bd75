"""Operator calls that were checked before; similar calls need no check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rlx.checker.derive.state import DerivationState
from rlx.checker.derive.values import INVERSE
from rlx.checker.lowered.objects import LOWERED
from rlx.checker.memory import IN_PLACE
from rlx.grammar.nodes import ast, tir
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
            and value not in state.doubts
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
    key: list[object] = [value.op]
    if ast.Constant in map(type, value.args):
        operator = lookup(value.op.op_name)
        if operator is None or any(p.kind != "operand" for p in operator.parameters):
            return None  # the rule may look at the number
    for arg in value.args:
        if not _argument(arg, state, scope, block, key):
            return None
    if state.doubts and not state.doubts.keys().isdisjoint(value.args):
        return None
    for name, given in value.attrs.items():
        parts = given if type(given) is tuple else (given,)
        if not all(type(part) in _PLAIN for part in parts):
            return None
        key += (name, type(given), *map(type, parts), given)
    return tuple(key)


def _argument(
    arg: Expr,
    state: DerivationState,
    scope: Mapping[ast.Var, ast.DataflowBlock | None],
    block: ast.DataflowBlock | None,
    key: list[object],
) -> bool:
    """Add what the struct info of a call depends on of an argument: of variables and of scalar
    constants their struct info, of literals their value. False for other arguments.
    """
    kind = type(arg)
    if kind is ast.Constant:
        data = arg.data  # type: ignore[attr-defined]
        key += (ast.Constant, data.dtype, data.shape)
        return data.shape == () and not arg.distribution  # type: ignore[attr-defined]
    if kind is ast.Tuple:
        fields = arg.fields  # type: ignore[attr-defined]
        if ast.Constant in map(type, fields):
            return False
        key += (ast.Tuple, len(fields))
        clean = state.doubts.keys().isdisjoint(fields)
        return clean and all(_argument(each, state, scope, block, key) for each in fields)
    if kind is ast.PrimValue:
        number = arg.value  # type: ignore[attr-defined]
        key += (ast.PrimValue, getattr(number, "value", None), getattr(number, "dtype", None))
        return isinstance(number, tir.IntImm | tir.FloatImm)
    # A variable of the block at hand, or one that belongs to no dataflow block.
    home = scope.get(arg, NOWHERE)  # type: ignore[call-overload]
    if home is not block and home is not None:
        return False
    key.append(state.info_of[arg])
    return True


def says_all(binding: ast.Binding, state: DerivationState) -> StructInfo | None:
    """The annotation of a variable in a legal program that is bound to a call of which nothing
    else is known: neither facts about shapes nor doubts follow from it. None for other bindings.
    """
    if type(binding) is not ast.VarBinding or state.doubts or state.signed:
        return None
    info, call = binding.var.struct_info_annotation, binding.value
    if type(info) is not ast.TensorStructInfo or type(call) is not ast.Call or call.sinfo_args:
        return None
    if type(info.shape) is not ast.ShapeExpr or info.dtype.is_void or type(call.op) is not ast.Op:
        return None
    operator = lookup(call.op.op_name)
    if operator is None or not operator.pure or call.op.op_name in _NOTED:
        return None
    return None if ast.GlobalVar in map(type, call.args) else info


_NOTED = {*IN_PLACE, *LOWERED, *INVERSE}
"""Operators of whose calls the checker keeps something beside their struct info."""


class SharedInfos(dict[Key, StructInfo]):
    """One object for equal struct infos of tensors, so that similar calls are recognised."""

    def shared(self, info: StructInfo) -> StructInfo:
        """The object for a struct info; itself if it is a new one or no plain tensor."""
        shape = info.shape if type(info) is ast.TensorStructInfo else None
        if type(shape) is not ast.ShapeExpr or info.vdevice or info.distribution:  # type: ignore[attr-defined]
            return info
        dims: list[object] = []
        for dim in shape.values:
            if type(dim) is tir.Var:
                dims.append(dim)
            elif type(dim) is tir.IntImm:
                dims += (dim.value, dim.dtype)
            else:
                return info
        return self.setdefault((info.dtype, *dims), info)  # type: ignore[attr-defined]
