"""Known facts about the atoms of polynomials, and division of polynomials with remainder."""

from __future__ import annotations

from rlx.solver.poly import Cond, Mono, Part, Poly, PolyStore, leading, quotient
from rlx.solver.prim_exprs import Range


class KnownStore(PolyStore):
    """Polynomials together with ranges, facts and solved variables.

    Attributes
    ----------
    ranges
        The known limits by atom number.
    inequalities
        The polynomials known to be >= 0.
    equations
        The polynomials known to be 0 that could not be solved for a variable.
    others
        The facts of any other form.
    assumed
        All single conditions of the facts.
    solved
        The variables that facts express by other variables.
    samples
        The values of atoms at points that satisfy all that is known: what is negative at one of
        them is not looked for.
    folding
        The divisions whose dividend is being written with fewer quotients.
    """

    def __init__(self, fuel: int) -> None:
        self.ranges: dict[int, Range] = {}
        self.inequalities: list[Poly] = []
        self.equations: list[Poly] = []
        self.others: list[Cond] = []
        self.assumed: set[Cond] = set()
        self.solved: dict[int, Poly] = {}
        self.samples: list[dict[int, int]] = [{}, {}]
        self.intervals: dict[int, Range] = {}
        self.poly_intervals: dict[Poly, Range] = {}
        self.signs: dict[Poly, tuple[bool, int]] = {}
        self.memo: dict[object, Part] = {}
        self.divided: dict[tuple[Poly, Poly], Poly] = {}
        self.folding: set[tuple[Poly, Poly]] = set()
        self.maxima: dict[Poly, tuple[Poly, ...]] = {}
        self.larger: dict[tuple[Poly, Poly], Poly] = {}
        self.forms: dict[Poly, dict[tuple[int, frozenset[Poly]], int]] = {}
        self.chains: dict[Poly, tuple[str, tuple[Poly, ...]]] = {}
        super().__init__(fuel)

    def forget(self) -> None:
        """Drop results that depend on changed ranges and facts."""
        self.forget_limits()
        self.memo.clear()
        self.divided.clear()
        self.maxima.clear()
        self.larger.clear()
        self.forms.clear()
        self.chains.clear()

    def forget_limits(self) -> None:
        """Drop intervals and signs, because a range has changed."""
        self.intervals.clear()
        self.poly_intervals.clear()
        self.signs.clear()

    def replace_top(self, poly: Poly, mapping: dict[int, Poly]) -> Poly:
        """A polynomial with atoms replaced in its monomials, but not inside atoms."""
        parts: list[tuple[int, Poly]] = []
        kept: dict[Mono, int] = {}
        for mono, coef in poly.terms.items():
            if not any(i in mapping for i in mono):
                kept[mono] = coef
                continue
            product = self.of_mono(tuple(i for i in mono if i not in mapping))
            for index in mono:
                if index in mapping:
                    product = self.mul(product, mapping[index])
            parts.append((coef, product))
        return self.combine([(1, self.poly(kept)), *parts])


def split(engine: PolyStore, a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """``(q, r)`` with ``a = q * b + r``: division with remainder."""
    if b.value is not None:
        return _split_terms(engine, a, (), b.value)
    if len(b.terms) == 1:
        ((mono, coef),) = b.terms.items()
        return _split_terms(engine, a, mono, coef)
    return _split_polynomial(engine, a, b)


def _split_terms(engine: PolyStore, a: Poly, mono: Mono, coef: int) -> tuple[Poly, Poly]:
    whole: dict[Mono, int] = {}
    rest: dict[Mono, int] = {}
    half = (abs(coef) - 1) // 2
    for term, size in a.terms.items():
        below = quotient(term, mono)
        if below is None:
            rest[term] = size
            continue
        # The constant stays between 0 and the divisor; other coefficients are as near to 0 as can
        # be.
        times = size // coef if not term else (size + half) // coef
        if coef < 0 and term:
            times = -((size + half) // -coef)
        left = size - times * coef
        if times:
            whole[below] = times
        if left:
            rest[term] = left
    if not whole:
        return engine.zero, a
    return engine.poly(whole), engine.poly(rest)


def _split_polynomial(engine: PolyStore, a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """Multivariate division by the leading term."""
    top = leading(b)
    size = b.terms[top]
    rest = dict(a.terms)
    whole: dict[Mono, int] = {}
    waiting = [m for m in rest if len(m) >= len(top)]
    while waiting:
        mono = min(waiting, key=lambda m: (-len(m), m))
        waiting.remove(mono)
        coef = rest.get(mono, 0)
        below = quotient(mono, top)
        if not coef or below is None or coef % size:
            continue
        times = coef // size
        whole[below] = whole.get(below, 0) + times
        engine.spend(len(b.terms) + len(waiting))
        for other, scale in b.terms.items():
            product = tuple(sorted(other + below))
            if product not in rest:
                if len(product) >= len(top):
                    waiting.append(product)
                rest[product] = 0
            rest[product] -= times * scale
    return (
        engine.poly({m: c for m, c in whole.items() if c}),
        engine.poly({m: c for m, c in rest.items() if c}),
    )
