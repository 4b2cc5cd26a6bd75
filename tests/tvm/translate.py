"""TVM's type of a value, in our nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import VOID, dtype
from rlx.grammar.nodes.tir import PrimExpr

BINARY: dict[str, type[tir.Binary]] = {
    "Add": tir.Add,
    "Sub": tir.Sub,
    "Mul": tir.Mul,
    "Div": tir.TruncDiv,
    "Mod": tir.TruncMod,
    "FloorDiv": tir.FloorDiv,
    "FloorMod": tir.FloorMod,
    "Min": tir.Min,
    "Max": tir.Max,
    "EQ": tir.EQ,
    "NE": tir.NE,
    "LT": tir.LT,
    "LE": tir.LE,
    "GT": tir.GT,
    "GE": tir.GE,
    "And": tir.And,
    "Or": tir.Or,
}


class Translation:
    """Translates types of one TVM function, given which of its variables is which of ours.

    Attributes
    ----------
    shape_vars
        Our shape variable for TVM's.
    variables
        Our Relax variable for TVM's.
    """

    def __init__(self) -> None:
        self.shape_vars: dict[Any, tir.Var] = {}
        self.variables: dict[Any, ast.Var] = {}

    def prim(self, theirs: Any) -> PrimExpr:
        """A dimension; a variable that nothing was learnt about becomes one of its own."""
        kind = type(theirs).__name__
        if kind == "Var":
            return self.shape_vars.setdefault(theirs, tir.Var(str(theirs.name)))
        if kind == "IntImm":
            return tir.IntImm(int(theirs.value))
        if kind == "Cast":
            return tir.Cast(dtype(str(theirs.ty)), self.prim(theirs.value))
        if kind in ("Select", "Call"):
            condition, chosen, other = map(self.prim, _parts(theirs))
            return tir.Select(condition, chosen, other)
        return BINARY[kind](self.prim(theirs.a), self.prim(theirs.b))

    def info(self, theirs: Any) -> StructInfo:
        """A type."""
        return INFOS.get(type(theirs).__name__, _opaque)(self, theirs)

    def learn(self, theirs: Any, ours: StructInfo | None) -> None:
        """Take from an annotation that binds shape variables which of TVM's is which of ours."""
        match ours:
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values)) if _is(
                theirs, "TensorType"
            ):
                if theirs.shape is not None and _is(theirs.shape, "ShapeExpr"):
                    self._learn_dims(theirs.shape.values, values)
            case ast.ShapeStructInfo(values=tuple(values)) if _is(theirs, "ShapeType"):
                self._learn_dims(theirs.values or (), values)
            case ast.TupleStructInfo(fields=fields) if _is(theirs, "TupleType"):
                for their_field, field in zip(theirs.fields, fields, strict=False):
                    self.learn(their_field, field)
            case ast.FuncStructInfo(params=tuple(params)) if _is(theirs, "FuncType"):
                for their_param, param in zip(theirs.params or (), params, strict=False):
                    self.learn(their_param, param)

    def learn_scalars(self, theirs: Any, ours: StructInfo | None) -> None:
        """Take from the parameters of a PrimFunc which of TVM's scalars is which of ours."""
        assert isinstance(ours, ast.FuncStructInfo) and ours.params is not None
        for their_param, param in zip(theirs, ours.params, strict=True):
            match param:
                case ast.PrimStructInfo(value=tir.Var() as value):
                    self.shape_vars.setdefault(their_param, value)

    def _learn_dims(self, theirs: Any, ours: tuple[PrimExpr, ...]) -> None:
        for their_dim, dim in zip(theirs, ours, strict=False):
            if _is(their_dim, "Cast"):  # TVM's way to say that a dimension is int64
                their_dim = their_dim.value
            if isinstance(dim, tir.Var) and _is(their_dim, "Var"):
                self.shape_vars.setdefault(their_dim, dim)


def _is(theirs: Any, kind: str) -> bool:
    return type(theirs).__name__ == kind


def _parts(theirs: Any) -> tuple[Any, Any, Any]:
    if _is(theirs, "Select"):
        return theirs.condition, theirs.true_value, theirs.false_value
    condition, chosen, other = theirs.args  # T.if_then_else, which is lazy and otherwise the same
    return condition, chosen, other


def _tensor(t: Translation, theirs: Any) -> StructInfo:
    element = VOID if theirs.dtype is None else dtype(str(theirs.dtype))
    shape: ast.Expr | None = None
    if theirs.shape is not None:
        if _is(theirs.shape, "ShapeExpr"):
            shape = ast.ShapeExpr(tuple(t.prim(value) for value in theirs.shape.values))
        else:
            shape = t.variables[theirs.shape]
    return ast.TensorStructInfo(shape, element, theirs.ndim, _device(theirs.vdevice))


def _device(theirs: Any) -> ast.VDevice | None:
    if theirs is None:
        return None
    return ast.VDevice(str(theirs.target.kind.name), theirs.vdevice_id, str(theirs.memory_scope))


def _shape(t: Translation, theirs: Any) -> StructInfo:
    if theirs.values is None:
        return ast.ShapeStructInfo(None, theirs.ndim)
    return ast.ShapeStructInfo(tuple(t.prim(value) for value in theirs.values), theirs.ndim)


def _func(t: Translation, theirs: Any) -> StructInfo:
    params = None if theirs.params is None else tuple(t.info(param) for param in theirs.params)
    rule = None if theirs.derive_func is None else "default"
    return ast.FuncStructInfo(params, t.info(theirs.ret), theirs.purity, rule)


def _distributed(t: Translation, theirs: Any) -> StructInfo:
    return t.info(theirs.tensor_ty)


def _opaque(t: Translation, theirs: Any) -> StructInfo:
    return ast.ObjectStructInfo()


INFOS: dict[str, Callable[[Translation, Any], StructInfo]] = {
    "TensorType": _tensor,
    "ShapeType": _shape,
    "FuncType": _func,
    "DTensorType": _distributed,
    "TupleType": lambda t, theirs: ast.TupleStructInfo(tuple(map(t.info, theirs.fields))),
    "PrimType": lambda t, theirs: ast.PrimStructInfo(dtype(str(theirs.dtype))),
}
