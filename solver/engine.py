"""The normal form of one context: polynomials over canonical atoms, and what is known of the
atoms.
"""

from __future__ import annotations

from rlx.solver import intervals
from rlx.solver.division import Quotients
from rlx.solver.poly import Atom, Cond, Part, Poly, content, leading


class Engine(Quotients):
    """The operations of shape arithmetic on polynomials with what is known of their atoms."""

    def positive_part(self, a: Poly) -> Poly:
        """The larger of ``a`` and 0."""
        if intervals.nonneg(self, a):
            return a
        if intervals.nonneg(self, self.scale(-1, a)):
            return self.zero
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

    def maximum(self, a: Poly, b: Poly) -> Poly:
        """The larger of two."""
        return self.add(b, self.positive_part(self.sub(a, b)))

    def minimum(self, a: Poly, b: Poly) -> Poly:
        """The smaller of two."""
        return self.sub(a, self.positive_part(self.sub(a, b)))

    def indicator(self, cond: Cond) -> Poly:
        """1 where a condition holds, else 0."""
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
        """``a`` where a condition holds, else ``b``."""
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
        known = intervals.interval(self, a)
        if known[0] is not None and known[1] is not None and low <= known[0] and known[1] <= high:
            return a
        size = self.const(high - low + 1)
        return self.sub(a, self.mul(size, self.div(self.shift(a, -low), size)))

    def compare(self, a: Poly) -> Cond:
        """``a >= 0``, decided where the sign of ``a`` is known."""
        cond = self.at_least_zero(a)
        if cond.poly is not None:
            if cond in self.assumed or intervals.nonneg(self, cond.poly):
                return self.true
            if intervals.nonneg(self, self.shift(self.scale(-1, cond.poly), -1), 1):
                return self.false
        return cond

    def equate(self, a: Poly, equal: bool = True) -> Cond:
        """``a == 0`` (or ``!=``), decided where the sign of ``a`` is known."""
        cond = self.is_zero(a, equal)
        if cond.poly is not None:
            poly = cond.poly
            if cond in self.assumed:
                return self.true
            if self.assumed and self.negate(cond) in self.assumed:
                return self.false
            if intervals.nonneg(self, self.shift(poly, -1), 1) or intervals.nonneg(
                self, self.shift(self.scale(-1, poly), -1), 1
            ):
                return self.truth(not equal)
        return cond

    # Replacing atoms

    def replace(self, poly: Poly, mapping: dict[int, Poly]) -> Poly:
        """Atoms replaced everywhere, and the result brought to normal form again."""
        if poly.value is not None:
            return poly
        full = dict(mapping)
        for index in {i for mono in poly.terms for i in mono}:
            if index not in full:
                atom = self.atoms[index]
                if atom.parts:
                    new = self._replace_atom(atom, mapping)
                    if new is not None:
                        full[index] = new
        return self.replace_top(poly, full)

    def _replace_atom(self, atom: Atom, mapping: dict[int, Poly]) -> Poly | None:
        new = [
            self.replace(p, mapping) if isinstance(p, Poly) else self.replace_in(p, mapping)
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
        return None

    reconsider = False
    """Whether atoms without a change inside are normalised again, because ranges have changed."""

    def replace_in(self, cond: Cond, mapping: dict[int, Poly]) -> Cond:
        """The same for a condition."""
        if cond.poly is not None:
            new = self.replace(cond.poly, mapping)
            if cond.kind == "ge":
                return self.compare(new)
            return self.equate(new, cond.kind == "eq")
        if not cond.parts:
            return cond
        return self.join(cond.kind, [self.replace_in(p, mapping) for p in cond.parts])

    def atoms_in(self, *parts: Part) -> list[Atom]:
        """All atoms of polynomials and conditions, also inside others, oldest first."""
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
