"""Hypothesis strategies for annotations, for wider annotations, and for copies of them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.dtype import VOID
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order import rename_apart
from tests.solver.order.build import add, func, imm, mul, obj, packed, prim, shape, tensor, tup, var
from tests.solver.order.universe import M, N

Variables = tuple[tir.Var, ...]

EXAMPLES = settings(suppress_health_check=[HealthCheck.too_slow])
"""For every property here: time is no property, on a machine that others use as well."""


def dimensions(variables: Variables = (N, M)) -> st.SearchStrategy[PrimExpr]:
    """Small expressions over shape variables."""
    leaf = st.sampled_from(variables) | st.integers(0, 4).map(imm)
    return leaf | st.builds(add, leaf, leaf) | st.builds(mul, st.integers(1, 3), leaf)


@st.composite
def tensors(draw: st.DrawFn, variables: Variables = (N, M)) -> TensorStructInfo:
    """Tensors with anything left open."""
    of = draw(st.sampled_from(("float32", "int8", "void")))
    on = draw(st.sampled_from((None, None, "llvm", "cuda")))
    if draw(st.booleans()):
        dims = draw(st.lists(dimensions(variables), max_size=2))
        return tensor(tuple(dims), of, on=on)
    return tensor(None, of, draw(st.integers(-1, 2)), on)


@st.composite
def shapes(draw: st.DrawFn, variables: Variables = (N, M)) -> ShapeStructInfo:
    """Shape values."""
    if draw(st.booleans()):
        return shape(tuple(draw(st.lists(dimensions(variables), max_size=2))))
    return shape(ndim=draw(st.integers(-1, 2)))


def prims(variables: Variables = (N, M)) -> st.SearchStrategy[PrimStructInfo]:
    """Scalars."""
    value = st.none() | dimensions(variables)
    return st.builds(lambda v: prim(value=v), value) | st.just(prim("float32"))


def flat(variables: Variables = (N, M)) -> st.SearchStrategy[StructInfo]:
    """Annotations without functions, nested two deep."""
    leaf = st.one_of(
        tensors(variables), tensors(variables), shapes(variables), prims(variables), st.builds(obj)
    )
    return leaf | st.lists(leaf, max_size=2).map(lambda fields: tup(*fields))


@st.composite
def functions(draw: st.DrawFn) -> FuncStructInfo:
    """Closures whose own variables stand alone in some parameter, and opaque functions."""
    pure = draw(st.booleans())
    if draw(st.integers(0, 4)) == 0:
        derive = draw(st.sampled_from(("default", "empty", None)))
        return packed(derive, draw(flat()) if derive is None else obj(), pure)
    binders = tuple(var(name) for name in "ab"[: draw(st.integers(0, 2))])
    visible = (*binders, N)
    params = draw(st.lists(flat(visible), max_size=1))
    if binders:
        params.insert(draw(st.integers(0, len(params))), tensor(binders))
    return func(tuple(params), draw(flat(visible)), *binders, pure=pure)


def struct_infos() -> st.SearchStrategy[StructInfo]:
    """Annotations of every kind."""
    leaf = flat() | functions()
    return leaf | st.lists(leaf, max_size=2).map(lambda fields: tup(*fields))


@st.composite
def wider(draw: st.DrawFn, info: StructInfo) -> StructInfo:
    """An annotation above ``info``, made by leaving out some of what it says."""
    keep = draw(st.integers(0, 3)) > 0
    match info:
        case TensorStructInfo(shape=said, dtype=of, ndim=ndim, vdevice=device):
            fields = [draw(st.booleans()) for _ in range(4)]
            literal = said if fields[0] else None
            rank = ndim if literal is not None or fields[1] else -1
            element = of if fields[2] else VOID
            return TensorStructInfo(literal, element, rank, device if fields[3] else None)
        case ShapeStructInfo(ndim=ndim):
            return info if keep else ShapeStructInfo(None, draw(st.sampled_from((-1, ndim))))
        case PrimStructInfo(dtype=of):
            return info if keep else PrimStructInfo(of)
        case TupleStructInfo(fields=parts) if keep:
            return TupleStructInfo(tuple(draw(wider(part)) for part in parts))
        case FuncStructInfo(params=tuple() as params, ret=ret, purity=pure, binders=binders) if (
            keep
        ):
            purity = pure and draw(st.booleans())
            return FuncStructInfo(params, draw(wider(ret)), purity, None, binders)
    return info if keep else ObjectStructInfo()


def copied(info: StructInfo) -> StructInfo:
    """The same annotation made of new nodes, with new names for what functions bind."""
    match info:
        case TensorStructInfo(shape=ShapeExpr(values=values), dtype=of, ndim=ndim, vdevice=device):
            return TensorStructInfo(ShapeExpr(tuple(map(_copied_dim, values))), of, ndim, device)
        case TensorStructInfo(shape=said, dtype=of, ndim=ndim, vdevice=device):
            return TensorStructInfo(said, of, ndim, device)
        case ShapeStructInfo(values=tuple() as values, ndim=ndim):
            return ShapeStructInfo(tuple(map(_copied_dim, values)), ndim)
        case PrimStructInfo(dtype=of, value=PrimExpr() as value):
            return PrimStructInfo(of, _copied_dim(value))
        case TupleStructInfo(fields=fields):
            return TupleStructInfo(tuple(map(copied, fields)))
        case FuncStructInfo():
            new = rename_apart(info)
            params = None if new.params is None else tuple(map(copied, new.params))
            ret = copied(new.ret)
            return FuncStructInfo(params, ret, new.purity, new.derive_func, new.binders)
    return replace(info)


def _copied_dim(expr: PrimExpr) -> PrimExpr:
    """The same expression made of new nodes, but for its variables."""
    return tir.transform([expr], _copied_leaf)[0]


def _copied_leaf(node: PrimExpr) -> PrimExpr | None:
    if isinstance(node, tir.Var):
        return None
    return replace(node)
