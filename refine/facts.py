"""Conditions on indices and sizes, decided under the facts of a place in a proof."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType, limits
from rlx.grammar.nodes.prim_operators import BY_NODE, INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine import terms
from rlx.refine.definedness import decided
from rlx.refine.terms import Lambda, TensorTerm
from rlx.solver.context import Context
from rlx.solver.prover import Prover
from rlx.solver.verdict import Proved, Verdict

_RING = (tir.Add, tir.Sub, tir.Mul)
_DIVISIONS = (tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod)
_CHOICES = (tir.Min, tir.Max, tir.Select, tir.Comparison, tir.And, tir.Or, tir.Not)

Monomial = tuple[int, ...]

_Interval = tuple[Fraction, Fraction] | None

PRODUCTS = {32: (1, 1 << 24), 64: (1, 1 << 30, 1 << 34, 1 << 38)}
"""How large an index or a size is taken to be, a product of two of them, and one of more, where numbers of
so many bits are computed from them: then what is computed with small numbers does not wrap.
"""

AGAIN = 1 << 15
"""How large a size is taken to be by which a number is multiplied again."""


class _Measure(NamedTuple):
    """A bound of a number: a factor, the indices and sizes by which it is multiplied, and whether
    it may be negative.
    """

    factor: int
    names: frozenset[PrimExpr]
    negative: bool


def _largest(found: _Measure, products: Sequence[int] = PRODUCTS[64]) -> int:
    """A bound of a number, if sizes are no larger than `PRODUCTS` allows."""
    return found.factor * products[min(len(found.names), len(products) - 1)]


class Facts:
    """The facts at a place of a proof: domains of indices, guards, casts.

    Attributes
    ----------
    context, prover
        The assumptions on sizes and indices, and the prover that uses them.
    asked
        The number of questions to the prover.
    undecided
        Conditions that the prover did not decide.
    proofs
        Those that it proved, with their certificates.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.prover = Prover(context)
        self.asked = 0
        self._atoms: dict[PrimExpr, tir.Var] = {}
        self._own: set[tir.Var] = set()
        self._plain: dict[PrimExpr, tuple[PrimExpr, bool]] = {}
        self._measures: dict[PrimExpr, _Measure] = {}
        self._axes: dict[tir.Var, int | None] = {}
        self._between: dict[PrimExpr, tuple[int, int]] = {}
        self._known: list[dict[PrimExpr, bool | None]] = [{}]
        self._equal: list[dict[tuple[PrimExpr, PrimExpr], bool]] = [{}]
        self._chosen: list[dict[PrimExpr, bool]] = [{}]
        self.undecided: dict[PrimExpr, None] = {}
        self.proofs: list[Proved] = []

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Facts that are assumed inside hold inside only."""
        self.context.push()
        self._known.append({})
        self._equal.append({})
        self._chosen.append(dict(self._chosen[-1]))
        try:
            yield
        finally:
            self._chosen.pop()
            self._known.pop()
            self._equal.pop()
            self.context.pop()

    def index(self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr]) -> None:
        """Assume that indices are inside their extents."""
        for axis, extent in zip(axes, extents, strict=True):
            self._axes[axis] = extent.value if isinstance(extent, tir.IntImm) else None
            self.context.declare(axis, lower=0)
            self.context.assume(tir.LT(axis, self._ready(self.plain(extent))))
        self._known[-1], self._equal[-1] = {}, {}

    def assume(self, condition: PrimExpr, value: bool = True) -> None:
        """Assume that a condition holds, or that it does not."""
        found = turned(condition)
        self._chosen[-1][found] = value
        plain = self._ready(self.plain(found))
        if not isinstance(plain, tir.Var):
            self.context.assume(plain if value else tir.Not(plain))
        self._known[-1], self._equal[-1] = {}, {}

    @property
    def chosen(self) -> Mapping[PrimExpr, bool]:
        """The conditions that are assumed, with their values."""
        return self._chosen[-1]

    def holds(self, condition: PrimExpr) -> bool | None:
        """Whether a condition is always true (True), always false (False), or undecided (None)."""
        found = turned(condition)
        if isinstance(found, tir.IntImm):
            return bool(found.value)
        chosen = self._chosen[-1].get(found)
        if chosen is not None:
            return chosen
        known = self._known[-1]
        if found not in known:
            by_limits = decided(found, self.chosen, self.reach)
            known[found] = (
                self._decide(self._ready(self.plain(found))) if by_limits is None else by_limits
            )
        return known[found]

    def reach(self, number: PrimExpr) -> tuple[int | None, int | None]:
        """The limits of an integer here, as far as the prover finds them."""
        return self.prover.limits(self._ready(self.plain(number)))

    def reach_of_float(self, number: PrimExpr) -> tuple[Fraction, Fraction] | None:
        """Limits of a float that is computed of indices and sizes, as an exact real number; None if none
        are found.
        """

        def node(each: PrimExpr, operands: list[_Interval]) -> _Interval:
            match each:
                case tir.FloatImm(value=value) if math.isfinite(value):
                    return Fraction(value), Fraction(value)
                case tir.Cast(value=inner) if tir.type_of(inner).is_float:
                    return operands[0]
                case tir.Cast(value=inner) if self.is_index(inner):
                    low, high = self.reach(inner)
                    return None if low is None or high is None else (Fraction(low), Fraction(high))
            match each, operands:
                case tir.Add(), [(a, b), (c, d)]:
                    return a + c, b + d
                case tir.Sub(), [(a, b), (c, d)]:
                    return a - d, b - c
                case tir.Mul(), [(a, b), (c, d)]:
                    products = (a * c, a * d, b * c, b * d)
                    return min(products), max(products)
                case tir.Call(op="floor" | "ceil" | "round" | "trunc"), [(a, b)]:
                    return Fraction(math.floor(a)), Fraction(math.ceil(b))
            return None

        found: _Interval = tir.fold(tir.interned(number), node)
        return found

    def always(self, condition: PrimExpr) -> bool:
        """Whether a condition always holds: unlike :meth:`holds`, it is not asked whether it never
        does.
        """
        found = turned(condition)
        if isinstance(found, tir.And):
            return self.always(found.a) and self.always(found.b)
        if isinstance(found, tir.IntImm):
            return bool(found.value)
        known = self._chosen[-1].get(found, self._known[-1].get(found))
        if known is not None:
            return known
        plain = self._ready(self.plain(found))
        if isinstance(plain, tir.IntImm):
            return bool(plain.value)
        if isinstance(plain, tir.Var):
            return False
        self.asked += 1
        if not self._kept(self.prover.always(plain)):
            return False
        self._known[-1][found] = True
        return True

    def _decide(self, condition: PrimExpr) -> bool | None:
        match condition:
            case tir.IntImm(value=value):
                return bool(value)
            case tir.Var():
                return None
            case tir.Comparison(a=tir.IntImm(value=a), b=tir.IntImm(value=b)):
                exact = BY_NODE[type(condition)].exact
                assert exact is not None
                return bool(exact(a, b))
            case tir.And(a=a, b=b):
                both = self._decide(a), self._decide(b)
                if False in both:
                    return False
                if both == (True, True):
                    return True
            case tir.Not(a=a):
                inner = self._decide(a)
                return None if inner is None else not inner
        self.asked += 1
        # A conjunction of which a part may not hold may not hold.
        if not isinstance(condition, tir.And) and self._kept(self.prover.always(condition)):
            return True
        if self._kept(self.prover.never(condition)):
            return False
        self.undecided[condition] = None
        return None

    def _kept(self, verdict: Verdict) -> bool:
        """Keep a verdict if it is a proof; return whether it is."""
        if isinstance(verdict, Proved):
            self.proofs.append(verdict)
        return verdict.proved

    def equal(self, a: PrimExpr, b: PrimExpr) -> bool:
        """Whether two integers are equal by their sums, or by the prover."""
        if a is b:
            return True
        if same_sum(a, b):
            return True
        return self.proved_equal(a, b)

    def settled(self, size: PrimExpr) -> PrimExpr:
        """A number made of sizes and indices, in which the choices that are decided are taken."""

        def node(each: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            match each:
                case tir.Select() | tir.Call(op="if_then_else"):
                    condition, a, b = operands
                    taken = self.holds(condition)
                    if taken is not None:
                        return a if taken else b
                case tir.Max() | tir.Min():
                    a, b = operands
                    # Where they may be equal, only one of both ways is decided.
                    for low, high in ((a, b), (b, a)):
                        if self.holds(tir.LE(low, high)):
                            return low if isinstance(each, tir.Min) else high
            return tir.interned(tir.with_operands(each, operands)) if operands else each

        return tir.interned(tir.fold(tir.interned(size), node))

    def undivided(self, index: PrimExpr) -> PrimExpr:
        """An index without the divisions that undo a product, as in ``(i*8 + t)//8`` for ``t < 8``; as it
        is if others stay.
        """
        if not any(isinstance(node, INTEGER_DIVISIONS) for node in tir.postorder(index)):
            return index
        if not self.is_index(index):
            return index
        found: PrimExpr = self.prover.simplify(index)
        same_type = tir.type_of(found) == tir.type_of(index)
        if same_type and not any(isinstance(n, INTEGER_DIVISIONS) for n in tir.postorder(found)):
            return tir.interned(found)
        return index

    def proved_equal(self, a: PrimExpr, b: PrimExpr) -> bool:
        """Whether the prover finds two integers equal."""
        left, right = self._ready(self.plain(a)), self._ready(self.plain(b))
        if left is right:
            return True
        if isinstance(left, tir.IntImm) and isinstance(right, tir.IntImm):
            return left.value == right.value
        equal = self._equal[-1]
        if (left, right) not in equal:
            self.asked += 1
            equal[left, right] = self._kept(self.prover.equal(left, right))
            if not equal[left, right]:
                self.undecided[tir.EQ(left, right)] = None
        return equal[left, right]

    def same_length(self, a: PrimExpr, b: PrimExpr) -> bool:
        """Whether two lengths are equal, where no proof waits for the answer."""
        left, right = self._ready(self.plain(a)), self._ready(self.plain(b))
        return left is right or self._kept(self.prover.equal(left, right))

    # ------------------------------------------------------------ what the prover can read

    def plain(self, expr: PrimExpr) -> PrimExpr:
        """An expression in which elements of tensors are variables.

        Arithmetic on elements wraps, while the prover computes with exact integers: so a sum that
        has an element is a variable as a whole.
        """
        return tir.fold(tir.interned(expr), self._plain_node, self._plain)[0]

    def _plain_node(
        self, node: PrimExpr, operands: list[tuple[PrimExpr, bool]]
    ) -> tuple[PrimExpr, bool]:
        if isinstance(node, tir.Var | tir.IntImm):
            return node, False
        match node:  # the remainder of C, made positive
            case tir.TruncMod(a=tir.Add(a=tir.TruncMod(a=a, b=b), b=c), b=d) if b is c is d and (
                isinstance(b, tir.Var | tir.IntImm) and self._doubles(b)
            ):
                return self.plain(tir.FloorMod(a, b)), True
            case tir.Min(a=tir.IntImm(value=limit)) if limit == limits(tir.type_of(node))[1]:
                return operands[1]
            case tir.Min(b=tir.IntImm(value=limit)) if limit == limits(tir.type_of(node))[1]:
                return operands[0]
        valued = any(flag for _, flag in operands)
        parts = [part for part, _ in operands]
        kind = tir.type_of(node)
        arithmetic = isinstance(node, _RING + _DIVISIONS) or (
            isinstance(node, tir.Cast) and kind.is_integer
        )
        integers = kind.is_integer or kind == BOOL
        if isinstance(node, tir.Binary) and not isinstance(node, tir.And | tir.Or):
            integers = integers and all(tir.type_of(e).is_integer for e in (node.a, node.b))
        if isinstance(node, tir.Cast):
            inner = tir.type_of(node.value)
            integers = integers and (inner.is_integer or inner == BOOL)
        whole = integers and (kind == BOOL or kind.bits >= 32)
        if whole and arithmetic and not valued and self.fits(node):
            return tir.interned(tir.with_operands(node, parts)), False
        remainder = isinstance(node, tir.FloorMod | tir.TruncMod) and not operands[1][1]
        quotient = isinstance(node, tir.FloorDiv | tir.TruncDiv) and _is_positive(node.b)
        cast = isinstance(node, tir.Cast) and tir.type_of(node.value).is_integer
        exact = (cast or isinstance(node, _RING)) and self.is_exact(node)
        if whole and (remainder or quotient or exact):  # none of them wraps
            return tir.interned(tir.with_operands(node, parts)), True
        if integers and isinstance(node, _CHOICES):  # of numbers of any width
            return tir.interned(tir.with_operands(node, parts)), valued
        if integers and isinstance(node, tir.Call) and node.op in ("if_then_else", "likely"):
            return tir.interned(tir.with_operands(node, parts)), valued
        return self._atom(node, kind), True

    def fits(self, node: PrimExpr) -> bool:
        """Whether a number that is computed from indices and sizes alone does not wrap, as long as
        products of these are not larger than `PRODUCTS` says.
        """
        kind = tir.type_of(node)
        if not (isinstance(node, (*_RING, tir.Cast)) and kind.is_integer):
            return True
        found = tir.fold(tir.interned(node), self._measured, self._measures)
        products = PRODUCTS.get(kind.bits)
        if products is None:
            return False
        low, high = limits(kind)
        return _largest(found, products) <= high and (low < 0 or not found.negative)

    def _measured(self, node: PrimExpr, operands: list[_Measure]) -> _Measure:
        """A bound of a number that is computed from indices and sizes."""
        match node:
            case tir.IntImm(value=value):
                return _Measure(abs(value), frozenset(), value < 0)
            case tir.Var() if (extent := self._axes.get(node)) is not None:
                return _Measure(extent, frozenset(), False)
            case tir.Var() if self.context.state.ranges.get(node, (0,))[0] != 0:
                return _Measure(1 << node.dtype.bits, frozenset(), True)  # it is no size
            case tir.Var() if node.dtype != BOOL:
                return _Measure(1, frozenset([node]), False)
            case tir.Mul():
                a, b = operands
                factor = a.factor * b.factor
                for name in a.names & b.names:
                    factor *= PRODUCTS[64][1] if name in self._axes else AGAIN
                return _Measure(factor, a.names | b.names, a.negative or b.negative)
            case tir.FloorMod() | tir.TruncMod():
                return operands[1]._replace(negative=operands[0].negative or operands[1].negative)
            case tir.FloorDiv() | tir.TruncDiv():
                a, b = operands
                left = a.names - set(_factors(node.b))
                return _Measure(a.factor, left, a.negative or b.negative)
            case tir.Cast():
                return operands[0]
            case tir.Min() if not any(part.negative for part in operands):
                return min(operands, key=_largest)
            case tir.Add() | tir.Sub() | tir.Min() | tir.Max():
                parts = operands
            case tir.Select() | tir.Call(op="if_then_else"):
                parts = operands[1:]
            case _:
                known = tir.type_of(node) == BOOL
                return _Measure(1, frozenset() if known else frozenset([node]), not known)
        summed = isinstance(node, tir.Add | tir.Sub)
        return _Measure(
            (sum if summed else max)([part.factor for part in parts]),
            frozenset().union(*(part.names for part in parts)),
            isinstance(node, tir.Sub) or any(part.negative for part in parts),
        )

    def _doubles(self, number: PrimExpr) -> bool:
        """Whether twice a number does not wrap."""
        twice = tir.interned(tir.Add(number, number))
        return self.is_exact(twice) or self.fits(twice)

    def is_exact(self, node: PrimExpr) -> bool:
        """Whether a cast, sum, difference or product of integers, or a sum of them over indices, does not wrap,
        whatever its operands are.
        """
        found = self._exact_limits(tir.interned(node))
        return found is not None and _contains(limits(tir.type_of(node)), found)

    def never_wraps(self, expr: PrimExpr) -> bool:
        """Whether no number in an expression wraps, whatever elements it is made of."""
        stack = [tir.interned(expr)]
        while stack:
            node = stack.pop()
            if isinstance(node, tir.BufferLoad | terms.Reduce):
                continue
            may = tir.type_of(node).is_integer and isinstance(node, _RING)
            may |= isinstance(node, tir.Cast) and tir.type_of(node.value).is_integer
            if may and not (self.is_exact(node) or (self.is_index(node) and self.fits(node))):
                return False
            stack += tir.children(node)
        return True

    def _limits(self, node: PrimExpr) -> tuple[int, int]:
        """The limits of an integer element, by the way it is computed."""
        if node not in self._between:
            kind = tir.type_of(node)
            whole = (0, 1) if kind == BOOL else limits(kind)
            found = self._exact_limits(node)
            self._between[node] = whole if found is None or not _contains(whole, found) else found
        return self._between[node]

    def _exact_limits(self, node: PrimExpr) -> tuple[int, int] | None:
        """The limits of what is computed, were it not to wrap; None if only its type says something."""
        kind = tir.type_of(node)
        if not kind.is_integer or not isinstance(
            node, tir.IntImm | tir.Binary | tir.Cast | tir.Call
        ):
            return None
        match node:
            case tir.IntImm(value=value):
                return value, value
            case tir.Cast(value=inner) if (
                tir.type_of(inner).is_integer or tir.type_of(inner) == BOOL
            ):
                return self._limits(tir.interned(inner))
            case terms.Reduce():
                return self._limits_of_sum(node)
            case tir.FloorMod(b=tir.IntImm(value=divisor)) if divisor > 0:
                return 0, divisor - 1
            case tir.Add() | tir.Sub() | tir.Mul() | tir.Min() | tir.Max():
                a, b = (self._limits(tir.interned(each)) for each in (node.a, node.b))
                exact = BY_NODE[type(node)].exact
                assert exact is not None
                if isinstance(node, tir.Min | tir.Max):
                    return exact(a[0], b[0]), exact(a[1], b[1])
                ends = [exact(one, other) for one in a for other in b]
                return int(min(ends)), int(max(ends))
            case tir.FloorDiv(a=a, b=tir.IntImm(value=divisor)) if divisor > 0:
                low, high = self._limits(tir.interned(a))
                return low // divisor, high // divisor
        return None

    def _limits_of_sum(self, node: terms.Reduce) -> tuple[int, int] | None:
        """The limits of all parts of a sum over indices."""
        count = 1
        for extent in node.extents:
            if not isinstance(extent, tir.IntImm):
                return None
            count *= max(extent.value, 0)
        if node.combiner.name != "sum":
            return None
        low, high = self._limits(node.sources[0])
        first, last = self._limits(node.init[0])
        return first + count * min(low, 0), last + count * max(high, 0)

    def _atom(self, node: PrimExpr, kind: DataType) -> tir.Var:
        match node:
            case tir.BufferLoad(buffer=TensorTerm(shape=shape), indices=indices):
                first = tuple(  # an axis of length 1 is read at 0, whatever the index says
                    terms.index(0, tir.type_of(i))
                    if isinstance(extent, tir.IntImm) and extent.value == 1
                    else i
                    for i, extent in zip(indices, shape, strict=True)
                )
                node = tir.interned(tir.BufferLoad(node.buffer, first))
        found = self._atoms.get(node)
        if found is None:
            found = self._atoms[node] = tir.Var(f"v{len(self._atoms)}", kind)
            self._own.add(found)
        return found

    def _ready(self, expr: PrimExpr) -> PrimExpr:
        """An expression for the prover. Unlike sizes, elements may be negative."""
        for var in tir.free_vars(expr):
            if var in self._own and var not in self.context.state.ranges:
                self.context.declare(var, lower=None)
        return expr

    def is_index(self, expr: PrimExpr) -> bool:
        """Whether an expression has no elements of tensors."""
        self.plain(expr)
        return not self._plain[tir.interned(expr)][1]


def _factors(x: PrimExpr) -> list[PrimExpr]:
    """The factors of a product that is not 0: none is larger than the product."""
    return [*_factors(x.a), *_factors(x.b)] if isinstance(x, tir.Mul) else [x]


def _is_positive(x: PrimExpr) -> bool:
    return isinstance(x, tir.IntImm) and x.value > 0


def _contains(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def widens(inner: DataType, kind: DataType) -> bool:
    """Whether a signed integer type holds every number of another integer type."""
    if kind.code != "int" or not inner.is_integer:
        return False
    return inner.bits + (inner.code == "uint") <= kind.bits


_PRECISION = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
"""The bits of a number that floats hold, the leading one included."""


def embeds(inner: DataType, kind: DataType) -> bool:
    """Whether a type holds every value of another one, so that a cast to it and back is none."""
    if kind.is_integer:
        return widens(inner, kind)
    have, needed = _PRECISION.get(str(kind), 0), _PRECISION.get(str(inner), 0)
    if inner.is_integer:
        return inner.bits - (inner.code == "int") <= have
    return inner == kind or (needed > 0 and kind.bits > inner.bits and have >= needed)


def assume_reads(
    tensor: TensorTerm | None, axes: Sequence[tir.Var], extents: Sequence[PrimExpr], facts: Facts
) -> None:
    """Assume that what an element of a tensor reads is inside what it is read from."""
    if not isinstance(tensor, Lambda) or len(tensor.axes) != len(axes):
        return
    if not all(map(facts.equal, tensor.shape, extents)):
        return
    for node in always_evaluated(terms.element(tensor, axes)):
        if isinstance(node, tir.BufferLoad) and isinstance(node.buffer, TensorTerm):
            for index, extent in zip(node.indices, node.buffer.shape, strict=True):
                if terms.tensors_of(index):
                    facts.assume(tir.LE(tir.IntImm(0), index))
                    facts.assume(tir.LT(index, extent))


def always_evaluated(element: PrimExpr) -> Iterator[PrimExpr]:
    """The parts of an element that are evaluated whatever its conditions give: no branch of
    `if_then_else`, no right operand of `and` and `or`, and no reduction, which may have no points.
    """
    stack, seen = [element], set[PrimExpr]()
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, terms.Reduce):
            continue
        seen.add(node)
        yield node
        decides = isinstance(node, tir.And | tir.Or) or (
            isinstance(node, tir.Call) and node.op == "if_then_else"
        )
        stack += tir.children(node)[:1] if decides else tir.children(node)


def made_of_floats(*numbers: PrimExpr) -> bool:
    """Whether a float is converted in numbers, as in places that are scaled."""
    return any(
        isinstance(node, tir.Cast) and tir.type_of(node.value).is_float
        for node in tir.postorder(*numbers)
    )


def turned(condition: PrimExpr) -> PrimExpr:
    """A comparison that points in the usual way: `a > b` as `b < a`."""
    match condition:
        case tir.GT(a=a, b=b):
            return tir.interned(tir.LT(b, a))
        case tir.GE(a=a, b=b):
            return tir.interned(tir.LE(b, a))
    return tir.interned(condition)


def polynomial(expr: PrimExpr, limit: int = 200) -> dict[tuple[PrimExpr, ...], int]:
    """A sum of products of integers; one with many products is left as a whole."""

    def add(
        x: dict[tuple[PrimExpr, ...], int], y: dict[tuple[PrimExpr, ...], int], sign: int
    ) -> dict[tuple[PrimExpr, ...], int]:
        found = dict(x)
        for mono, factor in y.items():
            total = found.get(mono, 0) + sign * factor
            if total:
                found[mono] = total
            else:
                found.pop(mono, None)
        return found

    def value(
        node: PrimExpr, operands: list[dict[tuple[PrimExpr, ...], int]]
    ) -> dict[tuple[PrimExpr, ...], int]:
        match node:
            case tir.IntImm(value=number):
                return {(): number} if number else {}
            case tir.Add():
                return add(operands[0], operands[1], 1)
            case tir.Sub():
                return add(operands[0], operands[1], -1)
            case tir.Mul():
                if len(operands[0]) * len(operands[1]) > limit:
                    return {(node,): 1}
                found: dict[tuple[PrimExpr, ...], int] = {}
                for one, a in operands[0].items():
                    for other, b in operands[1].items():
                        mono = tuple(
                            sorted((*one, *other), key=id)
                        )  # only compared with others of now
                        found = add(found, {mono: a * b}, 1)
                return found
        return {(node,): 1}

    return tir.fold(expr, value)


def same_sum(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two integers are the same sum of products, with any parts; this also holds where
    numbers wrap.
    """
    if not isinstance(a, _RING) and not isinstance(b, _RING):
        return False
    return polynomial(tir.interned(a)) == polynomial(tir.interned(b))


def index_bound(condition: PrimExpr, axes: Sequence[tir.Var]) -> tuple[int, PrimExpr, bool] | None:
    """The position of the one index that a condition compares with sizes; the size; and whether it
    says that the index is below that, or else that it is not. None if it says no such thing.
    """
    match turned(condition):
        case tir.Not(a=tir.LT(a=b, b=a) | tir.GT(a=a, b=b)):
            strict = 0
        case tir.Not(a=tir.LE(a=b, b=a) | tir.GE(a=a, b=b)) | tir.LT(a=a, b=b):
            strict = 1
        case tir.LE(a=a, b=b):
            strict = 0
        case _:
            return None
    if not (tir.type_of(a).is_integer and tir.type_of(b).is_integer):
        return None
    parts = polynomial(tir.interned(tir.Sub(b, a)))
    inside = {axis for mono in parts for each in mono for axis in tir.free_vars(each)}
    inside &= set(axes)
    if len(inside) != 1:
        return None
    [axis] = inside
    factor = parts.get((axis,), 0)
    if abs(factor) != 1 or sum(axis in tir.free_vars(e) for mono in parts for e in mono) != 1:
        return None
    size = sum_of(
        {mono: n for mono, n in parts.items() if mono != (axis,)}, -1 if factor > 0 else 1
    )
    more = 1 - strict if factor < 0 else strict
    size = size if not more else sum_of(polynomial(tir.Add(size, terms.index(more))))
    return list(axes).index(axis), size, factor < 0


def sum_of(parts: Mapping[tuple[PrimExpr, ...], int], sign: int = 1) -> PrimExpr:
    """The integer that is a sum of products, or the opposite of it."""
    found: PrimExpr | None = None
    for mono, count in sorted(parts.items(), key=lambda part: part[1] * sign < 0):
        factor = abs(count)
        product: PrimExpr = terms.index(factor)
        for k, each in enumerate(mono):
            product = each if k == 0 and factor == 1 else tir.Mul(product, each)
        if count * sign < 0:
            found = tir.Sub(terms.index(0) if found is None else found, product)
        else:
            found = product if found is None else tir.Add(found, product)
    return terms.index(0) if found is None else tir.interned(found)


def only_index(condition: PrimExpr, axes: Sequence[tir.Var]) -> tuple[int, PrimExpr] | None:
    """The position of the index that an equation gives, and the index; None if it gives none."""
    match condition:
        case tir.EQ(a=a, b=b) if tir.type_of(a).is_integer and tir.type_of(b).is_integer:
            parts = polynomial(tir.interned(tir.Sub(b, a)))
        case _:
            return None
    for k, axis in enumerate(axes):
        factor = parts.get((axis,), 0)
        if abs(factor) != 1 or sum(axis in tir.free_vars(e) for m in parts for e in m) != 1:
            continue
        others = {mono: n for mono, n in parts.items() if mono != (axis,)}
        return k, sum_of(others, -factor)
    return None
