"""Short forms of expressions: the normal form of an expression, or of its parts where only these
become shorter.

Branches of choices are simplified under their conditions. Around choices, minima, casts and bit
operations, sums are simplified with variables for these parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.bounds import limits
from rlx.solver.definedness import partial as may_be_undefined
from rlx.solver.prim_exprs import Range

if TYPE_CHECKING:
    from rlx.solver.session import Session

_NODES = 120
"""The maximum number of nodes of an expression whose parts are simplified."""
_NESTED = 6
"""How deep conditions are nested whose branches are simplified under all of them."""
_ARITHMETIC = frozenset(
    (tir.Var, tir.IntImm, tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod)
)
_COMPARISONS = (tir.EQ, tir.NE, tir.LT, tir.LE, tir.GT, tir.GE)
_LOGIC = (tir.And, tir.Or, tir.Not)
_TRUE, _FALSE = tir.IntImm(1, BOOL), tir.IntImm(0, BOOL)


def short_form(session: Session, expr: PrimExpr, depth: int = _NESTED) -> PrimExpr:
    """An expression of the same value, the same one if none is shorter."""
    if type(expr) is tir.IntImm:
        return expr
    order = tir.postorder(expr)
    boolean = prim_exprs.is_boolean(expr)
    if len(order) > _NODES or not (boolean or any(type(n) not in _ARITHMETIC for n in order)):
        return session.simplified(expr, order)
    if boolean:
        decided = _decided(session, expr)
        if decided is not None:
            return decided
    whole = session.simplified(expr, order)
    parts = _shorter(_by_parts(session, whole, depth), whole)
    if whole is not expr and prim_exprs.has_choice(order):
        parts = _shorter(_by_parts(session, expr, depth), parts)
    if parts is not whole:
        parts = session.simplified(parts, tir.postorder(parts))
    return _shorter(_around(session, parts), parts)


def _shorter(new: PrimExpr, old: PrimExpr) -> PrimExpr:
    return new if prim_exprs.length(new) < prim_exprs.length(old) else old


def _decided(session: Session, condition: PrimExpr) -> PrimExpr | None:
    """The truth value of a condition that always, or never, holds."""
    if session.proves_quickly(condition):
        return _TRUE
    return _FALSE if session.proves_quickly(tir.Not(condition)) else None


def _by_parts(session: Session, expr: PrimExpr, depth: int) -> PrimExpr:
    """The expression with its operands in short form."""
    if prim_exprs.conditional(expr) and depth:
        return _choice(session, expr, depth - 1)
    if isinstance(expr, (tir.And, tir.Or)) and depth:
        return _junction(session, expr, depth - 1)
    if not prim_exprs.interpreted(expr) and not prim_exprs.has_call([expr]):
        return expr
    operands = tir.children(expr)
    short = [short_form(session, each, depth) for each in operands]
    if any(new is not old for new, old in zip(short, operands, strict=True)):
        expr = tir.with_operands(expr, short)
    match expr:
        case (
            tir.Min(a=tir.Max() as a, b=tir.Max() as b)
            | tir.Max(a=tir.Min() as a, b=tir.Min() as b)
        ):
            return _distributed(expr, a, b)
        case tir.TruncDiv():
            return _truncated(expr.a, expr.b)
        case tir.Cast(value=value) if prim_exprs.stranger(tir.postorder(value)) is None:
            # Arithmetic on a narrow type is exact here, so that its value may be beyond the type.
            held = prim_exprs.wraps_to(expr) is None or _within(session, value, expr.dtype)
            return value if held and tir.type_of(value) == expr.dtype else expr
    return expr


def _within(session: Session, value: PrimExpr, kind: DataType) -> bool:
    """Whether all values are of a type."""
    (low, high), (least, most) = limits(session, value), prim_exprs.dtype_range(kind)
    return low is not None and high is not None and least <= low <= high <= most


def _distributed(expr: tir.Min | tir.Max, a: tir.Binary, b: tir.Binary) -> PrimExpr:
    """``min(max(a, c), max(b, c))`` is ``max(min(a, b), c)``."""
    for common, first in ((a.a, a.b), (a.b, a.a)):
        for other, second in ((b.a, b.b), (b.b, b.a)):
            if prim_exprs.alike(common, other):
                return type(a)(type(expr)(first, second), common)
    return expr


def _truncated(top: PrimExpr, divisor: PrimExpr) -> PrimExpr:
    """A quotient rounded towards zero, of one division and without opposites and common factors."""
    match top, divisor:
        case tir.TruncDiv(b=tir.IntImm(value=before)), tir.IntImm(value=value) if before and value:
            return _truncated(top.a, tir.IntImm(before * value, divisor.dtype))
        case tir.Sub(a=tir.IntImm(value=0)), tir.IntImm(value=value) if value:
            return _truncated(top.b, tir.IntImm(-value, divisor.dtype))
        case tir.Mul(), tir.Mul():
            for common, first in ((top.a, top.b), (top.b, top.a)):
                for other, second in ((divisor.a, divisor.b), (divisor.b, divisor.a)):
                    if prim_exprs.alike(common, other):
                        return _truncated(first, second)
    return tir.TruncDiv(top, divisor)


def _choice(session: Session, expr: PrimExpr, depth: int) -> PrimExpr:
    """A choice whose branches are simplified under its condition."""
    condition, *branches = tir.children(expr)
    chosen = short_form(session, condition, depth)
    if isinstance(chosen, tir.IntImm):
        return short_form(session, branches[0 if chosen.value else 1], depth)
    cases = [session.where([chosen]), session.where([tir.Not(chosen)])]
    yes, no = (short_form(case, b, depth) for case, b in zip(cases, branches, strict=True))
    # One branch is enough if it has the value of the other one where that is taken.
    for case, taken, other in ((cases[0], yes, no), (cases[1], no, yes)):
        if not may_be_undefined(other) and case.proves_quickly(tir.EQ(taken, other)):
            return other
    return tir.with_operands(expr, [chosen, yes, no])


def _junction(session: Session, expr: tir.And | tir.Or, depth: int) -> PrimExpr:
    """A conjunction or disjunction, each part of which is simplified where it matters."""

    def under(known: PrimExpr, part: PrimExpr) -> PrimExpr:
        fact = known if isinstance(expr, tir.And) else tir.Not(known)
        return short_form(session.where([fact]), part, depth)

    first = short_form(session, expr.a, depth)
    second = under(first, expr.b)
    if not may_be_undefined(first) and not may_be_undefined(second):
        first = under(second, first)
    decided = int(isinstance(expr, tir.Or))
    for part, other in ((first, second), (second, first)):
        if isinstance(part, tir.IntImm):
            return part if part.value == decided else other
    return type(expr)(first, second)


def _around(session: Session, expr: PrimExpr) -> PrimExpr:
    """The expression, simplified with variables for its parts that are no sums or quotients."""
    images: dict[PrimExpr, tir.Var] = {}

    def opaque(node: PrimExpr) -> bool:
        return type(node) not in _ARITHMETIC and not isinstance(node, (*_COMPARISONS, *_LOGIC))

    if opaque(expr) or not tir.children(expr):
        return expr

    def abstract(node: PrimExpr) -> PrimExpr:
        if opaque(node):
            pure = all(map(prim_exprs.interpreted, tir.postorder(node)))
            key = tir.interned(node) if pure else prim_exprs.shared(node)
            if key not in images:
                images[key] = tir.Var(f"part{len(images)}", INT64)
            return images[key]
        operands = tir.children(node)
        return tir.with_operands(node, [abstract(o) for o in operands]) if operands else node

    outer = abstract(expr)
    if not images or prim_exprs.stranger(tir.postorder(*images)) is not None:
        return expr
    ranges: dict[tir.Var, Range] = {var: limits(session, part) for part, var in images.items()}
    found = session.with_ranges(ranges).normalized(outer, tir.postorder(outer))
    parts: dict[tir.Var, PrimExpr] = {var: part for part, var in images.items()}
    return expr if found is None else tir.substitute(found, parts)
