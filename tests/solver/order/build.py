"""Short ways to write annotations in tests."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    Expr,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    VDevice,
)
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.context import Context
from rlx.solver.prover import Prover

Dim = int | PrimExpr
Shape = tuple[Dim, ...]


def prover(*facts: PrimExpr) -> Prover:
    """A prover that assumes some facts."""
    context = Context()
    for fact in facts:
        context.assume(fact)
    return Prover(context)


def var(name: str) -> tir.Var:
    """A new shape variable."""
    return tir.Var(name)


def imm(value: Dim) -> PrimExpr:
    """A dimension; numbers become new constants."""
    return tir.IntImm(value) if isinstance(value, int) else value


def add(a: Dim, b: Dim) -> PrimExpr:
    """``a + b``"""
    return tir.Add(imm(a), imm(b))


def mul(a: Dim, b: Dim) -> PrimExpr:
    """``a * b``"""
    return tir.Mul(imm(a), imm(b))


def obj() -> StructInfo:
    """Object, as a new node."""
    return ObjectStructInfo()


def tensor(
    shape: Shape | Expr | None = None,
    of: str = "float32",
    ndim: int | None = None,
    on: str | None = None,
) -> TensorStructInfo:
    """A tensor; the rank follows from a literal shape."""
    literal = ShapeExpr(tuple(map(imm, shape))) if isinstance(shape, tuple) else shape
    known = len(shape) if isinstance(shape, tuple) else -1
    device = None if on is None else VDevice(on)
    return TensorStructInfo(literal, dtype(of), known if ndim is None else ndim, device)


def shape(values: Shape | None = None, ndim: int | None = None) -> ShapeStructInfo:
    """A shape value; the rank follows from the values."""
    known = -1 if values is None else len(values)
    dims = None if values is None else tuple(map(imm, values))
    return ShapeStructInfo(dims, known if ndim is None else ndim)


def prim(of: str = "int64", value: Dim | None = None) -> PrimStructInfo:
    """A scalar."""
    return PrimStructInfo(dtype(of), None if value is None else imm(value))


def tup(*fields: StructInfo) -> TupleStructInfo:
    """A tuple."""
    return TupleStructInfo(fields)


def func(
    params: tuple[StructInfo, ...],
    ret: StructInfo,
    *binders: tir.Var,
    pure: bool = True,
) -> FuncStructInfo:
    """A closure."""
    return FuncStructInfo(params, ret, pure, None, binders)


def packed(
    derive: str | None = "default", ret: StructInfo | None = None, pure: bool = False
) -> FuncStructInfo:
    """An opaque function."""
    return FuncStructInfo(None, ret or ObjectStructInfo(), pure, derive)
