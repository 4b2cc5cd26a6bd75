"""Operator calls that were checked before; similar calls need no check."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from rlx.checker.derive.state import DerivationState
from rlx.checker.derive.values import INVERSE
from rlx.checker.lowered.objects import LOWERED
from rlx.checker.memory import IN_PLACE
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.dtype import INT64, lacking
from rlx.grammar.nodes.node import changed, same
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators import lookup
from rlx.operators.elementwise import PARTIAL

Key = tuple[object, ...]
NOWHERE = object()
ATOMS = frozenset([ast.Var, ast.DataflowVar, ast.Constant, ast.StringImm, ast.DataTypeImm])
"""The kinds of arguments that mention nothing but themselves."""
_PLAIN = frozenset([int, bool, float, str, type(None)])


class KnownCall(NamedTuple):
    """The struct info of a call's result, and the annotation of its variable."""

    info: StructInfo
    annotation: StructInfo | None


class KnownCalls(dict[Key, KnownCall]):
    """The checked calls where the same is known of dimensions, by everything that their struct info
    depends on.
    """

    def remember(self, key: Key, value: Expr, var: ast.Var, state: DerivationState) -> None:
        """Store the struct info of a call, if a check of a similar call would find nothing."""
        info = state.info_of[var]
        plain = type(info) is ast.TensorStructInfo or type(info) is ast.TupleStructInfo
        remembered = type(value) is not ast.Call or is_plain(value.op.op_name)  # type: ignore[attr-defined]
        if plain and remembered and value not in state.doubts:
            self[key] = KnownCall(info, var.struct_info_annotation)


@cache
def is_plain(name: str) -> bool:
    """Whether nothing is known of calls of an operator but their struct info, and they have no form
    of their own.
    """
    return has_no_form(name) and is_ordinary(name)


@cache
def has_no_form(name: str) -> bool:
    """Whether an operator has no form of its own."""
    operator = lookup(name)
    return operator is not None and not operator.has_form


def call_key(
    value: Expr,
    state: DerivationState,
    infos: SharedInfos,
    scope: Mapping[ast.Var, ast.DataflowBlock | None],
    block: ast.DataflowBlock | None,
) -> Key | None:
    """Everything that the struct info of an operator call on variables, or of a field of one,
    depends on; None for other expressions.

    Parameters
    ----------
    infos
        The objects for equal struct infos.
    scope
        The variables in scope, with the dataflow block to which each belongs.
    block
        The current dataflow block.
    """
    if type(value) is ast.TupleGetItem:
        field: list[object] = [ast.TupleGetItem, value.index]
        held = value.tuple_value
        is_known = _variable(held, state, infos, scope, block, field) and held not in state.doubts
        return tuple(field) if is_known else None
    if type(value) is not ast.Call or type(value.op) is not ast.Op:
        return None
    if value.sinfo_args or value.spelled:
        return None
    key: list[object] = [value.op]
    for arg in value.args:
        kind = type(arg)
        if kind is ast.DataflowVar or kind is ast.Var:
            if not _variable(arg, state, infos, scope, block, key):
                return None
        elif kind is ast.Constant:
            if not _constant(arg, key, value.op.op_name):  # type: ignore[arg-type]
                return None
        elif not _literal(arg, state, infos, scope, block, key):
            return None
    if state.doubts and not state.doubts.keys().isdisjoint(value.args):
        return None
    for name, given in value.attrs.items():
        kinds = tuple(map(type, given if type(given) is tuple else (given,)))
        if not _PLAIN.issuperset(kinds):
            return None
        key += (name, type(given), kinds, given)
    return tuple(key)


def _variable(
    var: Expr,
    state: DerivationState,
    infos: SharedInfos,
    scope: Mapping[ast.Var, ast.DataflowBlock | None],
    block: ast.DataflowBlock | None,
    key: list[object],
) -> bool:
    """Add the struct info of a variable of the block at hand, or of one that belongs to no dataflow
    block. False for other expressions.
    """
    home = scope.get(var, NOWHERE)  # type: ignore[call-overload]
    if home is not block and home is not None:
        return False
    key.append(infos.shared(state.info_of[var]))
    return True


def _constant(constant: ast.Constant, key: list[object], operator: str) -> bool:
    """Add the type and the shape of a constant, and the number where the rule may look at it: rules
    look at integers, such as indices, and at boundaries. False if there are several.
    """
    data = constant.data
    key += (ast.Constant, data.dtype, data.shape)
    if not data.dtype.is_float or operator == "relax.bucketize":
        if data.shape != ():
            return False
        if not _takes_numbers(operator):
            key += (data.value, data.content)
    return not constant.distribution


@cache
def _takes_numbers(name: str) -> bool:
    """Whether an operator takes tensors alone, in place of which any numbers may stand."""
    operator = lookup(name)
    if operator is None or name in PARTIAL:
        return False
    return all(p.kind == "operand" for p in operator.parameters)


def _literal(
    arg: Expr,
    state: DerivationState,
    infos: SharedInfos,
    scope: Mapping[ast.Var, ast.DataflowBlock | None],
    block: ast.DataflowBlock | None,
    key: list[object],
) -> bool:
    """Add the value of a literal: a shape, a scalar, or a tuple of variables and scalars. False for
    other arguments.
    """
    kind = type(arg)
    if kind is ast.ShapeExpr:
        key += (ast.ShapeExpr, *map(_scalar, arg.values))  # type: ignore[attr-defined]
        return True
    if kind is ast.PrimValue:
        key += (ast.PrimValue, _scalar(arg.value))  # type: ignore[attr-defined]
        return True
    if kind is ast.StringImm or kind is ast.DataTypeImm:
        key += (kind, arg.value)  # type: ignore[attr-defined]
        return True
    if kind is not ast.Tuple:
        return False
    fields = arg.fields  # type: ignore[attr-defined]
    key += (ast.Tuple, len(fields))
    for field in fields:
        if type(field) is ast.Var or type(field) is ast.DataflowVar:
            if field in state.doubts or not _variable(field, state, infos, scope, block, key):
                return False
        elif not _literal(field, state, infos, scope, block, key):
            return False
    return True


def _scalar(scalar: PrimExpr) -> object:
    """The same for all scalars equal to this one."""
    if type(scalar) is tir.IntImm and scalar.dtype is INT64:
        return scalar.value
    return tir.interned(scalar)


def says_all(binding: ast.VarBinding, state: DerivationState) -> StructInfo | None:
    """The annotation of a variable in a legal program that is bound to a call, or to a field of a
    variable, of which nothing else is known: neither facts about shapes nor doubts follow from it.
    None for other bindings.
    """
    info, value = binding.var.struct_info_annotation, binding.value
    if info is None or state.doubts or state.signed or not says_shapes(info):
        return None
    if type(value) is ast.TupleGetItem:
        return info if isinstance(value.tuple_value, ast.Var) else None
    if type(value) is not ast.Call or value.sinfo_args or type(value.op) is not ast.Op:
        return None
    if not is_ordinary(value.op.op_name):
        return None
    return None if ast.GlobalVar in map(type, value.args) else info


def says_shapes(info: StructInfo) -> bool:
    """Whether an annotation gives the element types and the dimensions of tensors."""
    if type(info) is ast.TupleStructInfo:
        return all(map(says_shapes, info.fields))
    if type(info) is not ast.TensorStructInfo or type(info.shape) is not ast.ShapeExpr:
        return False
    return not info.dtype.is_void


def is_formed(info: StructInfo) -> bool:
    """Whether an annotation of tensors gives their element types and dimensions, which are numbers
    and variables, in a form that breaks no rule.
    """
    if type(info) is ast.TupleStructInfo:
        return all(map(is_formed, info.fields))
    if not says_shapes(info) or info.vdevice or lacking(info.dtype):  # type: ignore[attr-defined]
        return False
    dims: tuple[PrimExpr, ...] = info.shape.values  # type: ignore[attr-defined]
    return info.ndim == len(dims) and all(  # type: ignore[attr-defined]
        type(d) is tir.IntImm or (type(d) is tir.Var and d.dtype is INT64) for d in dims
    )


@cache
def is_ordinary(name: str) -> bool:
    """Whether an operator is pure, and nothing is kept of its calls beside their struct info."""
    operator = lookup(name)
    return operator is not None and operator.pure and name not in _NOTED


_NOTED = {*IN_PLACE, *LOWERED, *INVERSE}
"""Operators of whose calls the checker keeps something beside their struct info."""


class SharedInfos(dict[object, StructInfo]):
    """One object for equal struct infos of tensors, and tuples of them, so that similar calls are
    recognised.
    """

    def shared(self, info: StructInfo) -> StructInfo:
        """The object for a struct info; itself if it is a new one or no plain tensor."""
        found = self.get(info)
        if found is None:
            found = self[info] = self._shared(info)
        return found

    def _shared(self, info: StructInfo) -> StructInfo:
        if type(info) is ast.TupleStructInfo:
            fields = same(info.fields, map(self.shared, info.fields))
            return self.setdefault((ast.Tuple, *fields), changed(info, fields=fields))
        shape = info.shape if type(info) is ast.TensorStructInfo else None
        if type(shape) is not ast.ShapeExpr or info.vdevice or info.distribution:  # type: ignore[attr-defined]
            return info
        dims = [
            d.value if type(d) is tir.IntImm and d.dtype is INT64 else _scalar(d)
            for d in shape.values
        ]
        return self.setdefault((info.dtype, *dims), info)  # type: ignore[attr-defined]
