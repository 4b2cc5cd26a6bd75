"""Short forms of expressions: the normal form of an expression, or of its parts where only these
become shorter.

Branches of choices are simplified under their conditions. Around choices, minima, casts and bit
operations, sums are simplified with variables for these parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
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
_EXTREMA = 6
"""The maximum number of minima and maxima of which it is asked whether all operands matter."""
_LIFTED = 2
"""How much of this depth an operation takes that becomes the branches of a choice."""
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


def without_needless(session: Session, expr: PrimExpr) -> PrimExpr:
    """An expression without the operands of its minima and maxima that never matter."""
    if not isinstance(expr, (tir.Min, tir.Max)):
        return expr
    order = tir.postorder(expr)
    extrema = [node for node in order if isinstance(node, (tir.Min, tir.Max))]
    if not 1 < len(extrema) <= _EXTREMA or len(order) > _NODES or not _repeats(expr):
        return expr
    for node in reversed(extrema):
        for operand in tir.children(node):
            shorter = _with(expr, node, operand)
            if session.proves_quickly(tir.EQ(expr, shorter)):
                return without_needless(session, short_form(session, shorter))
    return expr


def _repeats(expr: PrimExpr) -> bool:
    """Whether a variable occurs twice, or there are two constants: others cannot be compared."""
    leaves = [
        node for node in tir.written_out([expr]) or () if isinstance(node, (tir.Var, tir.IntImm))
    ]
    kinds = {None if isinstance(leaf, tir.IntImm) else leaf for leaf in leaves}
    return len(kinds) < len(leaves)


def _with(expr: PrimExpr, node: PrimExpr, operand: PrimExpr) -> PrimExpr:
    """An expression with one of its parts in place of another one."""
    return tir.transform([expr], lambda each: operand if each is node else None)[0]


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
    if isinstance(expr, tir.Binary) and tir.Select in (type(expr.a), type(expr.b)):
        lifted = _lifted(session, expr, depth)
        if lifted is not expr:
            return lifted
    match expr:
        case (
            tir.Min(a=tir.Max() as a, b=tir.Max() as b)
            | tir.Max(a=tir.Min() as a, b=tir.Min() as b)
        ):
            return _distributed(expr, a, b)
        case tir.Min() | tir.Max() if any(map(_divides, tir.postorder(expr))):
            return _larger(session, expr)
        case tir.TruncDiv():
            return _truncated(expr.a, expr.b)
        case tir.Cast(value=value) if prim_exprs.stranger(tir.postorder(value)) is None:
            # Arithmetic on a narrow type is exact here, so that its value may be beyond the type.
            held = prim_exprs.wraps_to(expr) is None or _within(session, value, expr.dtype)
            return value if held and tir.type_of(value) == expr.dtype else expr
    return expr


def _lifted(session: Session, expr: tir.Binary, depth: int) -> PrimExpr:
    """An operation on a choice as the choice between the operations on its branches, if that is
    shorter.
    """
    if depth < _LIFTED:
        return expr
    for operand, other in ((expr.a, expr.b), (expr.b, expr.a)):
        if type(operand) is not tir.Select or may_be_undefined(other):
            continue
        if isinstance(expr, (tir.Add, tir.Sub)) and tir.Select not in map(
            type, tir.postorder(other)
        ):
            continue
        condition, *branches = tir.children(operand)
        if operand is expr.a:
            yes, no = (tir.with_operands(expr, [each, other]) for each in branches)
        else:
            yes, no = (tir.with_operands(expr, [other, each]) for each in branches)
        chosen = _choice(session, tir.Select(condition, yes, no), depth - _LIFTED)
        if isinstance(expr, _COMPARISONS) and type(chosen) is tir.Select:
            chosen = _logical(session, chosen, depth - _LIFTED)
        return _shorter(chosen, expr)
    return expr


def _logical(session: Session, expr: tir.Select, depth: int) -> PrimExpr:
    """A choice between conditions of which one is decided, as a conjunction or disjunction."""
    condition, yes, no = tir.children(expr)
    opposite = short_form(session, tir.Not(condition), depth)
    match yes, no:
        case tir.IntImm(value=value), _:
            return tir.Or(condition, no) if value else tir.And(opposite, no)
        case _, tir.IntImm(value=value):
            return tir.Or(opposite, yes) if value else tir.And(condition, yes)
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


def _divides(node: PrimExpr) -> bool:
    return isinstance(node, INTEGER_DIVISIONS)


def _larger(session: Session, expr: tir.Min | tir.Max) -> PrimExpr:
    """One of the operands if it is known which is the minimum or maximum."""
    below, above = (expr.a, expr.b) if type(expr) is tir.Min else (expr.b, expr.a)
    for least, most, kept in ((below, above, expr.a), (above, below, expr.b)):
        other = expr.b if kept is expr.a else expr.a
        if not may_be_undefined(other) and session.proves_quickly(tir.LE(least, most)):
            return kept
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
