"""From prim expressions to polynomials and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL
from rlx.grammar.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.engine import Engine
from rlx.solver.poly import Cond, Part, Poly

_LINEAR = (tir.Add, tir.Sub)


def normalize(engine: Engine, expr: PrimExpr, order: Sequence[PrimExpr] | None = None) -> Part:
    """The polynomial (or condition) of an expression; work already done is remembered.

    ``order`` holds the nodes, operands first, where the caller has them.

    Raises
    ------
    TooMuchWorkError
        Where the expression needs too much work.
    """
    memo = engine.memo
    found = memo.get(expr)
    if found is None:
        for node in prim_exprs.topological(expr) if order is None else order:
            if node not in memo and type(node) not in _LINEAR:
                memo[node] = _node(engine, node)
        found = _operand(engine, expr)
    return found


def polynomial(engine: Engine, expr: PrimExpr) -> Poly:
    """The polynomial of an integer expression."""
    return as_poly(engine, normalize(engine, expr))


def condition(engine: Engine, expr: PrimExpr, order: Sequence[PrimExpr] | None = None) -> Cond:
    """The condition of a truth-valued expression."""
    return as_cond(engine, normalize(engine, expr, order))


def as_poly(engine: Engine, part: Part) -> Poly:
    """A condition counted as 0 or 1."""
    return part if isinstance(part, Poly) else engine.indicator(part)


def as_cond(engine: Engine, part: Part) -> Cond:
    """A number read as a truth value."""
    return part if isinstance(part, Cond) else engine.equate(part, equal=False)


def _operand(engine: Engine, expr: PrimExpr) -> Part:
    found = engine.memo.get(expr)
    if found is None:
        found = engine.memo[expr] = _sum(engine, expr)
    return found


def _sum(engine: Engine, expr: PrimExpr) -> Poly:
    """A tree of additions and subtractions, collected at once."""
    factors: dict[PrimExpr, int] = {expr: 1}
    parts: list[tuple[int, Poly]] = []
    memo = engine.memo
    for node in reversed(_additions(engine, expr)):
        factor = factors[node]
        if (node is not expr and node in memo) or not isinstance(node, _LINEAR):
            parts.append((factor, as_poly(engine, memo[node])))
            continue
        assert isinstance(node, tir.Binary)
        sign = 1 if isinstance(node, tir.Add) else -1
        factors[node.a] = factors.get(node.a, 0) + factor
        factors[node.b] = factors.get(node.b, 0) + sign * factor
    engine.spend(len(parts))
    return engine.combine(parts)


def _additions(engine: Engine, expr: PrimExpr) -> list[PrimExpr]:
    """The additions below an expression and their other operands, operands first."""
    order: list[PrimExpr] = []
    done: dict[PrimExpr, bool] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            if not done[node]:
                done[node] = True
                order.append(node)
            continue
        done[node] = False
        if isinstance(node, _LINEAR) and (node is expr or node not in engine.memo):
            stack.extend(c for c in (node.b, node.a) if c not in done)
    return order


_Binary = Callable[[Engine, Poly, Poly], Part]

_BINARY: dict[type[PrimExpr], _Binary] = {
    tir.Mul: lambda e, a, b: e.mul(a, b),
    tir.FloorDiv: lambda e, a, b: e.div(a, b),
    tir.FloorMod: lambda e, a, b: e.mod(a, b),
    tir.TruncDiv: lambda e, a, b: e.truncdiv(a, b),
    tir.TruncMod: lambda e, a, b: e.sub(a, e.mul(b, e.truncdiv(a, b))),
    tir.Min: lambda e, a, b: e.minimum(a, b),
    tir.Max: lambda e, a, b: e.maximum(a, b),
    tir.EQ: lambda e, a, b: e.equate(e.sub(a, b)),
    tir.NE: lambda e, a, b: e.equate(e.sub(a, b), equal=False),
    tir.LT: lambda e, a, b: e.compare(e.shift(e.sub(b, a), -1)),
    tir.LE: lambda e, a, b: e.compare(e.sub(b, a)),
    tir.GT: lambda e, a, b: e.compare(e.shift(e.sub(a, b), -1)),
    tir.GE: lambda e, a, b: e.compare(e.sub(a, b)),
}


def _node(engine: Engine, node: PrimExpr) -> Part:
    operation = _BINARY.get(type(node))
    if operation is not None:
        assert isinstance(node, tir.Binary)
        a = as_poly(engine, _operand(engine, node.a))
        b = as_poly(engine, _operand(engine, node.b))
        return operation(engine, a, b)
    match node:
        case tir.IntImm(value=value):
            return engine.const(int(value))
        case tir.Var() if prim_exprs.interpreted(node):
            return variable(engine, node)
        case tir.And() | tir.Or() | tir.Not():
            return _logic(engine, node)
        case tir.Select() | tir.Call() if prim_exprs.interpreted(node):
            c, t, f = (_operand(engine, child) for child in tir.children(node))
            return _choice(engine, as_cond(engine, c), t, f)
        case tir.Cast() if prim_exprs.interpreted(node):
            return _cast(engine, node)
    return engine.of_atom(engine.atom("opaque", (), node))


def variable(engine: Engine, var: tir.Var) -> Poly:
    """A variable, or what a fact says it equals."""
    atom = engine.atom("var", (), var)
    return engine.solved.get(atom.index) or engine.of_atom(atom)


def _logic(engine: Engine, node: PrimExpr) -> Cond:
    parts = [as_cond(engine, _operand(engine, child)) for child in tir.children(node)]
    if isinstance(node, tir.Not):
        return engine.negate(parts[0])
    return engine.join("and" if isinstance(node, tir.And) else "or", parts)


def _choice(engine: Engine, chosen: Cond, true: Part, false: Part) -> Part:
    if chosen is engine.true:
        return true
    if chosen is engine.false:
        return false
    if isinstance(true, Cond) and isinstance(false, Cond):
        return engine.join(
            "or",
            [
                engine.join("and", [chosen, true]),
                engine.join("and", [engine.negate(chosen), false]),
            ],
        )
    return engine.choose(chosen, as_poly(engine, true), as_poly(engine, false))


def _cast(engine: Engine, node: tir.Cast) -> Part:
    value = _operand(engine, node.value)
    if node.dtype == BOOL:
        return as_cond(engine, value)
    limits = prim_exprs.wraps_to(node)
    number = as_poly(engine, value)
    return number if limits is None else engine.wrap(number, *limits)
