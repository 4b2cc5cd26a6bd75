"""The normal form of one context: polynomials over canonical atoms, facts about the atoms, and the
conversion of expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import gcd
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import intervals, piecewise, prim_exprs
from rlx.solver.atom_values import extremes
from rlx.solver.bits import Bits
from rlx.solver.poly import Atom, Cond, Part, Poly, content, leading

_FEW = 6
"""The number of operands from which only intervals decide which of two is larger."""
_SEVERAL = 2
"""The number of operands beyond which comparisons look at each."""
_OPERANDS = 200
"""The maximum number of operands of one maximum or minimum that are put into order."""


class Engine(Bits):
    """The operations of shape arithmetic on polynomials with facts about their atoms."""

    def positive_part(self, a: Poly, effort: int = intervals.EFFORT) -> Poly:
        """The larger of ``a`` and 0; ``effort`` limits how the sign of ``a`` is looked for."""
        low, high = extremes(self, a, self.samples)
        if low >= 0 and intervals.nonneg(self, a, effort):
            return a
        if high <= 0 and intervals.nonneg(self, self.scale(-1, a), effort):
            return self.zero
        bent = piecewise.positive_part(self, a, self.positive_part)
        if bent is not None:
            return bent
        times = intervals.positive_factor(self, a, 0)
        if times:
            inner = self.positive_part(intervals.without_factor(self, a, times), effort)
            return self.mul(self.of_mono(times), inner)
        factor = content(a)
        constant = a.terms.get((), 0)
        if constant % factor:
            factor = 1
        if factor != 1:
            a = self.poly({m: c // factor for m, c in a.terms.items()})
        if a.terms[leading(a)] < 0:
            opposite = self.scale(-1, a)
            result = self.add(self.of_atom(self.atom("relu", (opposite,))), a)
        else:
            result = self.of_atom(self.atom("relu", (a,)))
        return self.scale(factor, result)

    def minimum(self, a: Poly, b: Poly) -> Poly:
        """The smaller of two polynomials."""
        return self.scale(-1, self.maximum(self.scale(-1, a), self.scale(-1, b)))

    def maximum(self, a: Poly, b: Poly) -> Poly:
        """The larger of two polynomials, each of which may itself be one of several.

        All operands are combined in one order, each once, so that the result does not depend on
        how they were nested; what all have in common is added and multiplied behind that.
        """
        known = self.maxima
        operands = [*dict.fromkeys((*known.get(a, (a,)), *known.get(b, (b,))))]
        if (a not in known and b not in known) or len(operands) > _OPERANDS:
            result = self._larger(a, b, intervals.EFFORT)
        else:
            for each in self._absorbed(operands):
                operands.remove(each)
            common, size, parts = self._without_common(operands)
            first, *others = sorted(parts, key=lambda p: p.index)
            self.spend(len(others))
            effort = intervals.EFFORT if len(others) < _FEW else 0
            result = first
            for other in others:
                found = self.larger.get((result, other))
                if found is None:
                    found = self.larger[result, other] = self._larger(result, other, effort)
                result = found
            result = self.add(self.scale(size, result), common)
        if len(operands) <= _OPERANDS:
            known.setdefault(result, tuple(operands))
        return result

    def _larger(self, a: Poly, b: Poly, effort: int) -> Poly:
        return self.add(b, self.positive_part(self.sub(a, b), effort))

    def minimum_of(self, poly: Poly) -> list[Poly]:
        """The polynomials of which this one is the smallest; none if it is not known as such."""
        opposite = self.opposites.get(poly)
        if opposite is None or opposite not in self.maxima:
            return []
        return [self.scale(-1, each) for each in self.maxima[opposite]]

    def _absorbed(self, operands: list[Poly]) -> list[Poly]:
        """The operands that are the smallest of several, one of which is an operand that stays."""
        left = set(operands)
        for each in operands:
            if any(other in left and other is not each for other in self.minimum_of(each)):
                left.remove(each)
        return [each for each in operands if each not in left]

    def _without_common(self, operands: list[Poly]) -> tuple[Poly, int, list[Poly]]:
        """The terms that all polynomials have, the factor that they have without these, and what is
        left of them.
        """
        first, *others = operands
        shared = {m: c for m, c in first.terms.items() if all(p.terms.get(m) == c for p in others)}
        common = self.poly(shared)
        parts = [self.sub(each, common) for each in operands]
        size = gcd(*(c for each in parts for c in each.terms.values()))
        if size > 1:
            parts = [self.poly({m: c // size for m, c in each.terms.items()}) for each in parts]
        return common, size or 1, parts

    def at_most(self, a: Poly, b: Poly, less: int = 0) -> Cond:
        """``a + less <= b``, decided if the sign of the difference is known, or if those of the operands
        are of which one side is the largest or the smallest.
        """
        found = self.compare(self.shift(self.sub(b, a), -less))
        if found.poly is not None and self._operands_at_most(a, b, less):
            return self.true
        return found

    def _operands_at_most(self, a: Poly, b: Poly, less: int) -> bool:
        """Whether ``a + less <= b``, by all of several operands or by one of them."""

        def known(x: Poly, y: Poly) -> bool:
            return intervals.nonneg(self, self.shift(self.sub(y, x), -less), 1)

        for each in (
            [(p, b) for p in self.maxima.get(a, ())],
            [(a, p) for p in self.minimum_of(b)],
        ):
            if len(each) > _SEVERAL:
                return all(known(x, y) or self._operands_at_most(x, y, less) for x, y in each)
        one = [*((a, p) for p in self.maxima.get(b, ())), *((p, b) for p in self.minimum_of(a))]
        return len(one) > _SEVERAL and any(known(x, y) for x, y in one)

    def div(self, a: Poly, b: Poly) -> Poly:
        """The quotient, rounded down; of the largest or smallest of several, that of each operand."""
        largest = self.maxima.get(a)
        operands = largest or self.minimum_of(a)
        if len(operands) > _SEVERAL and intervals.nonneg(self, b) and b is not self.zero:
            parts = [self.div(each, b) for each in operands]
            return reduce(self.maximum if largest else self.minimum, parts)
        return super().div(a, b)

    def reduced(self, product: Poly) -> Poly:
        """A product without squares of maxima ``max(P, 0)``, which are ``P*max(P, 0)``, and of
        indicators.
        """
        for mono, coef in product.terms.items():
            if len({*mono}) == len(mono):
                continue
            for place in range(len(mono) - 1):
                index = mono[place]
                if index != mono[place + 1] or self.atoms[index].kind not in ("relu", "ind"):
                    continue
                (inner,) = self.atoms[index].parts
                smaller = self.of_mono((*mono[:place], *mono[place + 1 :]), coef)
                if isinstance(inner, Poly):
                    smaller = self.mul(smaller, inner)
                return self.reduced(
                    self.combine(((1, product), (-coef, self.of_mono(mono)), (1, smaller)))
                )
        return product

    def indicator(self, cond: Cond) -> Poly:
        """1 if a condition holds, otherwise 0."""
        if cond is self.true:
            return self.one
        if cond is self.false:
            return self.zero
        opposite = self.negate(cond)
        if cond.kind in ("ne", "or") or (
            cond.kind == "ge" and cond.poly is not None and cond.poly.terms[leading(cond.poly)] < 0
        ):
            return self.sub(self.one, self.of_atom(self.atom("ind", (opposite,))))
        return self.of_atom(self.atom("ind", (cond,)))

    def choose(self, cond: Cond, a: Poly, b: Poly) -> Poly:
        """``a`` if a condition holds, otherwise ``b``."""
        return self.add(b, self.mul(self.indicator(cond), self.sub(a, b)))

    def truncdiv(self, a: Poly, b: Poly) -> Poly:
        """The quotient rounded towards zero."""
        if intervals.nonneg(self, b):
            return self._truncdiv(a, b)
        opposite = self.scale(-1, b)
        if intervals.nonneg(self, opposite):
            return self.scale(-1, self._truncdiv(a, opposite))
        return self.choose(
            self.compare(b),
            self._truncdiv(a, b),
            self.scale(-1, self._truncdiv(a, opposite)),
        )

    def _truncdiv(self, a: Poly, b: Poly) -> Poly:
        """The same for a positive divisor."""
        if intervals.nonneg(self, a):
            return self.div(a, b)
        negative = self.scale(-1, self.div(self.scale(-1, a), b))
        if intervals.nonneg(self, self.scale(-1, a)):
            return negative
        return self.choose(self.compare(a), self.div(a, b), negative)

    def wrap(self, a: Poly, low: int, high: int) -> Poly:
        """The value in ``low..high`` that is congruent to ``a``."""
        least, most = intervals.interval(self, a)
        if least is not None and most is not None and low <= least and most <= high:
            return a
        size = self.const(high - low + 1)
        return self.sub(a, self.mul(size, self.div(self.shift(a, -low), size)))

    def compare(self, a: Poly) -> Cond:
        """``a >= 0``, decided if the sign of ``a`` is known."""
        cond = self.at_least_zero(a)
        if cond.poly is not None:
            if cond in self.assumed:
                return self.true
            low, high = extremes(self, cond.poly, self.samples)
            if low >= 0 and intervals.nonneg(self, cond.poly):
                return self.true
            if high < 0 and intervals.nonneg(self, self.shift(self.scale(-1, cond.poly), -1), 1):
                return self.false
        return cond

    def equate(self, a: Poly, equal: bool = True) -> Cond:
        """``a == 0`` (or ``!=``), decided if the sign of ``a`` is known."""
        cond = self.is_zero(a, equal)
        if cond.poly is not None:
            poly = cond.poly
            if cond in self.assumed:
                return self.true
            if self.assumed and self.negate(cond) in self.assumed:
                return self.false
            low, high = extremes(self, poly, self.samples)
            if (low > 0 and intervals.nonneg(self, self.shift(poly, -1), 1)) or (
                high < 0 and intervals.nonneg(self, self.shift(self.scale(-1, poly), -1), 1)
            ):
                return self.truth(not equal)
        return cond

    # Replacing atoms

    def replace(self, poly: Poly, mapping: dict[int, Poly]) -> Poly:
        """Replace atoms everywhere, and normalise the result again."""
        return self._replace(poly, mapping, {})

    def _replace(self, poly: Poly, mapping: dict[int, Poly], done: dict[int, Poly | None]) -> Poly:
        """The same; ``done`` has the results for atoms that were visited already."""
        if poly.value is not None:
            return poly
        full = dict(mapping)
        for index in {i for mono in poly.terms for i in mono}:
            if index not in full:
                atom = self.atoms[index]
                if atom.parts:
                    if index not in done:
                        done[index] = self._replace_atom(atom, mapping, done)
                    new = done[index]
                    if new is not None:
                        full[index] = new
        return self.replace_top(poly, full)

    def _replace_atom(
        self, atom: Atom, mapping: dict[int, Poly], done: dict[int, Poly | None]
    ) -> Poly | None:
        new = [
            self._replace(p, mapping, done)
            if isinstance(p, Poly)
            else self._replace_in(p, mapping, done)
            for p in atom.parts
        ]
        if all(a is b for a, b in zip(new, atom.parts, strict=True)) and not self.reconsider:
            return None
        match atom.kind, new:
            case "div", [Poly() as a, Poly() as b]:
                if b is self.zero:
                    # Not defined here: the question excludes these values.
                    return self.zero
                return self.div(a, b)
            case "relu", [Poly() as a]:
                return self.positive_part(a)
            case "prod", [Poly() as a, Poly() as b]:
                return self.mul(a, b)
            case "ind", [Cond() as c]:
                return self.indicator(c)
            case "pow2", [Poly() as a]:
                return self.power(a)
            case "and" | "or" | "xor" as op, _:
                return reduce(partial(self.bitwise, op), [p for p in new if isinstance(p, Poly)])
        return None

    reconsider = False
    """Whether unchanged atoms are normalised again, because ranges have changed."""

    def against_zero(self, kind: str, poly: Poly) -> Cond:
        """A polynomial beside 0, by the kind of comparison."""
        match kind:
            case "ge":
                return self.compare(poly)
            case "eq":
                return self.equate(poly)
        return self.equate(poly, equal=False)

    def replace_in(self, cond: Cond, mapping: dict[int, Poly]) -> Cond:
        """The same for a condition."""
        return self._replace_in(cond, mapping, {})

    def _replace_in(
        self, cond: Cond, mapping: dict[int, Poly], done: dict[int, Poly | None]
    ) -> Cond:
        if cond.poly is not None:
            return self.against_zero(cond.kind, self._replace(cond.poly, mapping, done))
        if not cond.parts:
            return cond
        return self.join(cond.kind, [self._replace_in(p, mapping, done) for p in cond.parts])

    def atoms_in(self, *parts: Part) -> list[Atom]:
        """All atoms of polynomials and conditions, including nested ones, oldest first."""
        found: set[int] = set()
        stack: list[Part] = list(parts)
        while stack:
            part = stack.pop()
            if isinstance(part, Cond):
                stack.extend(part.parts)
                if part.poly is not None:
                    stack.append(part.poly)
                continue
            for mono in part.terms:
                for index in mono:
                    if index not in found:
                        found.add(index)
                        stack.extend(self.atoms[index].parts)
        return [self.atoms[i] for i in sorted(found)]


_LINEAR = (tir.Add, tir.Sub)


def normalize(engine: Engine, expr: PrimExpr, order: Sequence[PrimExpr] | None = None) -> Part:
    """The polynomial (or condition) of an expression; results are cached.

    ``order`` has the nodes, operands first, if the caller has them.

    Raises TooMuchWorkError if the expression needs too much work.
    """
    memo = engine.memo
    found = memo.get(expr)
    if found is None:
        if order is None:
            order = tir.postorder(expr, known=memo)
        operations = _OPERATIONS if len(order) <= _SMALL else _BINARY
        node: Any
        for node in [each for each in order if each not in memo]:
            kind = type(node)
            if kind is tir.IntImm:
                memo[node] = engine.const(int(node.value))
                continue
            operation = operations.get(kind)
            if operation is not None:
                a, b = memo.get(node.a), memo.get(node.b)
                if type(a) is not Poly:
                    a = as_poly(engine, _operand(engine, node.a))
                if type(b) is not Poly:
                    b = as_poly(engine, _operand(engine, node.b))
                memo[node] = operation(engine, a, b)
            elif kind not in _LINEAR:
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
    """A condition as 0 or 1."""
    return part if isinstance(part, Poly) else engine.indicator(part)


def as_cond(engine: Engine, part: Part) -> Cond:
    """A number as a truth value."""
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
    tir.Mul: lambda e, a, b: e.reduced(e.mul(a, b)),
    tir.FloorDiv: Engine.div,
    tir.FloorMod: Engine.mod,
    tir.TruncDiv: Engine.truncdiv,
    tir.TruncMod: lambda e, a, b: e.sub(a, e.mul(b, e.truncdiv(a, b))),
    tir.Min: Engine.minimum,
    tir.Max: Engine.maximum,
    tir.EQ: lambda e, a, b: e.equate(e.sub(a, b)),
    tir.NE: lambda e, a, b: e.equate(e.sub(a, b), equal=False),
    tir.LT: lambda e, a, b: e.at_most(a, b, 1),
    tir.LE: lambda e, a, b: e.at_most(a, b),
    tir.GT: lambda e, a, b: e.at_most(b, a, 1),
    tir.GE: lambda e, a, b: e.at_most(b, a),
}

_OPERATIONS: dict[type[PrimExpr], _Binary] = {**_BINARY, tir.Add: Engine.add, tir.Sub: Engine.sub}
"""The same with sums term by term, which is quicker for short ones."""
_SMALL = 64
"""The number of nodes up to which sums are added term by term."""


def _node(engine: Engine, node: PrimExpr) -> Part:
    match node:
        case tir.Var() if prim_exprs.interpreted(node):
            return variable(engine, node)
        case tir.And() | tir.Or() | tir.Not():
            return _logic(engine, node)
        case tir.Call(op=op, args=args) if prim_exprs.bitwise(node):
            a, b = (as_poly(engine, _operand(engine, each)) for each in args)
            return engine.power(b) if op == "shift_left" else engine.bitwise(op[8:], a, b)
        case tir.Select() | tir.Call() if prim_exprs.interpreted(node):
            c, t, f = (_operand(engine, child) for child in tir.children(node))
            return _choice(engine, as_cond(engine, c), t, f)
        case tir.Cast() if prim_exprs.interpreted(node):
            return _cast(engine, node)
    return engine.of_atom(engine.atom("opaque", (), node))


def variable(engine: Engine, var: tir.Var) -> Poly:
    """A variable, or the polynomial that it equals by a fact."""
    atom = engine.atom("var", (), var)
    return engine.solved.get(atom.index) or engine.of_atom(atom)


def _logic(engine: Engine, node: PrimExpr) -> Cond:
    parts = [as_cond(engine, _operand(engine, child)) for child in tir.children(node)]
    match node:
        case tir.Not():
            (operand,) = parts
            return engine.negate(operand)
        case tir.And():
            return engine.join("and", parts)
    return engine.join("or", parts)


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
