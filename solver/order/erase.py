"""Erasure: a StructInfo without the variables that go out of scope.

A result is widened. Parameters of functions are contravariant, so they must be narrowed; if this is
impossible, the function itself becomes Object (ledger 6).
"""

from __future__ import annotations

from collections.abc import Callable, Container

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.node import all_same
from rlx.grammar.nodes.struct_infos import OBJECT, mentioned, with_children
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order.bind import bound_by
from rlx.solver.order.substitute import dimensions, rank
from rlx.spec.registry import rule


class _Scope:
    """The variables that may be mentioned."""

    __slots__ = ("_bound", "_shape_vars", "_vars", "narrowed", "widened")

    def __init__(
        self,
        variables: Container[ast.Var],
        shape_vars: Container[tir.Var],
        bound: frozenset[tir.Var] = frozenset(),
    ) -> None:
        self._vars = variables
        self._shape_vars = shape_vars
        self._bound = bound
        # What was made of each tuple, which may occur several times in an annotation.
        self.widened: dict[int, StructInfo] = {}
        self.narrowed: dict[int, StructInfo | None] = {}

    def inside(self, func: FuncStructInfo) -> _Scope:
        """The scope of the parameters and the result of a function type."""
        if not func.binders:
            return self
        return _Scope(self._vars, self._shape_vars, self._bound.union(func.binders))

    def knows(self, values: tuple[PrimExpr, ...]) -> bool:
        """Whether all variables of some dimensions are in scope."""
        compound: list[PrimExpr] = []
        for value in values:
            if type(value) is tir.Var:
                if not self._knows_shape_var(value):
                    return False
            elif type(value) is not tir.IntImm:
                compound.append(value)
        return not compound or all(map(self._knows_shape_var, tir.free_vars(*compound)))

    def _knows_shape_var(self, var: tir.Var) -> bool:
        return var in self._bound or var in self._shape_vars

    def has_all(self, info: StructInfo) -> bool:
        """Whether all variables of an annotation are in scope."""
        return all(
            self.knows_var(var) if isinstance(var, ast.Var) else self._knows_shape_var(var)
            for var in mentioned(info)
        )

    def knows_var(self, var: ast.Var) -> bool:
        """Whether a Relax variable is in scope."""
        return var in self._vars


def erase(
    info: StructInfo,
    vars_in_scope: Container[ast.Var],
    shape_vars_in_scope: Container[tir.Var],
) -> StructInfo:
    """The least known supertype of ``info`` that mentions only variables in scope.

    Returns ``info`` itself if nothing is erased. Ledger 6 to 10.
    """
    return _widen(info, _Scope(vars_in_scope, shape_vars_in_scope))


def _widen(info: StructInfo, scope: _Scope) -> StructInfo:
    action = _WIDEN.get(type(info))
    return info if action is None else action(info, scope)


@rule("ERASE-tensor", "erasure")
def _tensor(info: TensorStructInfo, scope: _Scope) -> StructInfo:
    shape = info.shape
    if shape is None or (isinstance(shape, ast.Var) and scope.knows_var(shape)):
        return info
    values = dimensions(info)
    if values is not None and scope.knows(values):
        if type(shape) is ShapeExpr:
            return info
        return TensorStructInfo(ShapeExpr(values), info.dtype, len(values), info.vdevice)
    return TensorStructInfo(None, info.dtype, rank(info), info.vdevice)


@rule("ERASE-shape", "erasure")
def _shape(info: ShapeStructInfo, scope: _Scope) -> StructInfo:
    if info.values is None or scope.knows(info.values):
        return info
    return ShapeStructInfo(None, rank(info))


@rule("ERASE-prim", "erasure")
def _prim(info: PrimStructInfo, scope: _Scope) -> StructInfo:
    if info.value is None or scope.knows((info.value,)):
        return info
    return PrimStructInfo(info.dtype)


@rule("ERASE-tuple", "erasure")
def _tuple(info: TupleStructInfo, scope: _Scope) -> StructInfo:
    if scope.has_all(info):
        return info
    known = scope.widened.get(id(info))
    if known is None:
        known = with_children(info, lambda field: _widen(field, scope))
        scope.widened[id(info)] = known
    return known


@rule("ERASE-function", "erasure")
def _function(info: FuncStructInfo, scope: _Scope) -> StructInfo:
    if scope.has_all(info):
        return info
    inner = scope.inside(info)
    params: list[StructInfo] = []
    for param in info.params or ():
        narrowed = _narrow(param, inner)
        if narrowed is None:
            return OBJECT
        params.append(narrowed)
    return _with_parts(info, params, _widen(info.ret, inner)) or OBJECT


def _with_parts(
    info: FuncStructInfo, params: list[StructInfo], ret: StructInfo
) -> FuncStructInfo | None:
    """The function type with other parameters and result; itself where they are the same.

    None where the parameters no longer bind a variable that is still mentioned.
    """
    if ret is info.ret and all_same(params, info.params or ()):
        return info
    binders = bound_by(info.binders, params, ret)
    if binders is None:
        return None
    new = None if info.params is None else tuple(params)
    return FuncStructInfo(new, ret, info.purity, info.derive_func, binders)


def _narrow(info: StructInfo, scope: _Scope) -> StructInfo | None:
    """A subtype of ``info`` that mentions only variables in scope, or None."""
    action = _NARROW.get(type(info))
    if action is not None:
        return info if scope.has_all(info) else action(info, scope)
    return info if _widen(info, scope) is info else None


def _narrow_tuple(info: TupleStructInfo, scope: _Scope) -> StructInfo | None:
    if id(info) not in scope.narrowed:
        scope.narrowed[id(info)] = _narrow_fields(info, scope)
    return scope.narrowed[id(info)]


def _narrow_fields(info: TupleStructInfo, scope: _Scope) -> StructInfo | None:
    fields: list[StructInfo] = []
    for field in info.fields:
        narrowed = _narrow(field, scope)
        if narrowed is None:
            return None
        fields.append(narrowed)
    return info if all_same(fields, info.fields) else TupleStructInfo(tuple(fields))


def _narrow_function(info: FuncStructInfo, scope: _Scope) -> StructInfo | None:
    inner = scope.inside(info)
    ret = _narrow(info.ret, inner)
    if ret is None:
        return None
    return _with_parts(info, [_widen(p, inner) for p in info.params or ()], ret)


_WIDEN: dict[type[StructInfo], Callable[..., StructInfo]] = {
    TensorStructInfo: _tensor,
    ShapeStructInfo: _shape,
    PrimStructInfo: _prim,
    TupleStructInfo: _tuple,
    FuncStructInfo: _function,
}

_NARROW: dict[type[StructInfo], Callable[..., StructInfo | None]] = {
    TupleStructInfo: _narrow_tuple,
    FuncStructInfo: _narrow_function,
}
