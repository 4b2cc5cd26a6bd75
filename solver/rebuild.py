"""Conversion of normal forms to expressions."""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL
from rlx.grammar.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Atom, Cond, Mono, Part, Poly

_TERMS = 64


def rebuilt(engine: Engine, part: Part) -> PrimExpr | None:
    """An expression for a polynomial or condition; None if it would be long."""
    if isinstance(part, Cond):
        return _condition(engine, part)
    return _polynomial(engine, part)


def _polynomial(engine: Engine, poly: Poly) -> PrimExpr | None:
    if len(poly.terms) > _TERMS:
        return None
    result: PrimExpr | None = None
    ordered = sorted(poly.terms.items(), key=lambda t: (t[1] < 0, not t[0], -len(t[0]), t[0]))
    for mono, coef in ordered:
        term = _term(engine, mono, abs(coef) if result is not None else coef)
        if term is None:
            return None
        if result is None:
            result = term
        else:
            result = tir.Sub(result, term) if coef < 0 else tir.Add(result, term)
    return prim_exprs.ZERO if result is None else result


def _term(engine: Engine, mono: Mono, coef: int) -> PrimExpr | None:
    if not mono:
        return tir.IntImm(coef)
    product: PrimExpr | None = None
    for index in mono:
        factor = _atom(engine, engine.atoms[index])
        if factor is None:
            return None
        product = factor if product is None else tir.Mul(product, factor)
    assert product is not None
    if coef == 1:
        return product
    return tir.Sub(prim_exprs.ZERO, product) if coef == -1 else tir.Mul(product, tir.IntImm(coef))


def _atom(engine: Engine, atom: Atom) -> PrimExpr | None:
    if isinstance(atom.key, PrimExpr):
        return atom.key
    match atom.key:
        case ("quotient", int(index)):
            return _atom(engine, engine.atoms[index])
        case ("zero", Poly() as top):
            numerator = _polynomial(engine, top)
            return None if numerator is None else tir.FloorDiv(numerator, prim_exprs.ZERO)
    operands = [rebuilt(engine, part) for part in atom.parts]
    match atom.kind, operands:
        case "div", [PrimExpr() as a, PrimExpr() as b]:
            return tir.FloorDiv(a, b)
        case "relu", [PrimExpr() as a]:
            return tir.Max(a, prim_exprs.ZERO)
        case "prod", [PrimExpr() as a, PrimExpr() as b]:
            return tir.Mul(a, b)
        case "ind", [PrimExpr() as c]:
            return tir.Select(c, prim_exprs.ONE, prim_exprs.ZERO)
    return None


def _condition(engine: Engine, cond: Cond) -> PrimExpr | None:
    if cond.poly is not None:
        value = _polynomial(engine, cond.poly)
        if value is None:
            return None
        kinds = {"eq": tir.EQ, "ne": tir.NE, "ge": tir.GE}
        return kinds[cond.kind](value, prim_exprs.ZERO)
    if not cond.parts:
        return tir.IntImm(int(cond is engine.true), BOOL)
    operands = [_condition(engine, part) for part in cond.parts]
    result = operands[0]
    for operand in operands[1:]:
        if result is None or operand is None:
            return None
        result = (tir.And if cond.kind == "and" else tir.Or)(result, operand)
    return result
