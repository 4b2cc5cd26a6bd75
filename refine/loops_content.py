"""The content of a buffer at a place of a PrimFunc, and the inversion of index maps.

The content of a buffer is a base with pieces over it. A piece says: for all values of its axes
below their extents that satisfy its guard, the element at ``indices`` is ``value``. Later pieces
hide earlier ones. The axes of a piece are determined by its indices, so that each element has at
most one writer; :func:`inverse` finds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine import terms
from rlx.refine.facts import Facts, polynomial
from rlx.refine.terms import TRUE, TensorTerm

Sum = dict[tuple[PrimExpr, ...], int]


class Unread(Exception):
    """The loops of a PrimFunc cannot be read as terms.

    Attributes
    ----------
    reason
        Why, as a sentence.
    span
        The place.
    """

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class Unwritten(Record):
    """The base of a buffer that holds nothing yet."""

    name: str


class LostContent(Record):
    """The base of a buffer whose content was not understood; it matters only if it is read."""

    reason: str
    span: Span | None


class WrittenPiece(Record):
    """A part of a buffer that a statement wrote, and the written elements."""

    axes: tuple[tir.Var, ...]
    extents: tuple[PrimExpr, ...]
    guard: PrimExpr
    indices: tuple[PrimExpr, ...]
    value: PrimExpr
    span: Span | None


class Content(Record):
    """The content of a buffer: written pieces on top of the earlier content."""

    below: Content | TensorTerm | Unwritten | LostContent
    pieces: tuple[WrittenPiece, ...]


def with_piece(content: Content, piece: WrittenPiece) -> Content:
    """The content after a write. Pieces that it hides are dropped."""
    kept = tuple([old for old in content.pieces if not _hides(piece, old)])
    return Content(content.below, (*kept, piece))


def _hides(piece: WrittenPiece, old: WrittenPiece) -> bool:
    """Whether a piece covers an older one, by its form."""
    if len(piece.axes) != len(old.axes) or len(piece.indices) != len(old.indices):
        return False
    names = dict(zip(old.axes, piece.axes, strict=True))
    if piece.guard is not TRUE and terms.substitute(old.guard, names) is not piece.guard:
        return False
    return all(
        terms.substitute(a, names) is b
        for a, b in zip((*old.indices, *old.extents), (*piece.indices, *piece.extents), strict=True)
    )


class Inverse(Record):
    """The values of a piece's axes at an element.

    Attributes
    ----------
    values
        The value of each axis.
    parts
        Other expressions of the axes whose value is known.
    conditions
        What must hold so that the piece has the element.
    """

    values: Mapping[tir.Var, PrimExpr]
    parts: Mapping[PrimExpr, PrimExpr]
    conditions: tuple[PrimExpr, ...]

    def at(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the axes, at the element."""
        root = tir.interned(expr)
        if not self.values:
            return root

        def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            if type(node) is tir.Var:
                return self.values.get(node, node)
            return terms.rebuilt(node, operands)

        return tir.interned(tir.fold(root, new, dict(self.parts)))


def inverse(
    axes: Sequence[tir.Var],
    extents: Sequence[PrimExpr],
    indices: Sequence[PrimExpr],
    targets: Sequence[PrimExpr],
    facts: Facts,
) -> Inverse | None:
    """The only values of the axes below their extents for which the indices have target values.

    None if this does not find that they are unique.
    """
    return _Solver(axes, extents, facts).solve(indices, targets)


class Digit(Record):
    """An expression ``(of // by) % modulo``, or ``of // by`` without the modulo."""

    of: PrimExpr
    by: PrimExpr
    modulo: PrimExpr | None


_ONE = terms.index(1)
_ZERO = terms.index(0)


class _Solver:
    """Solves equations of indices for axes."""

    def __init__(self, axes: Sequence[tir.Var], extents: Sequence[PrimExpr], facts: Facts) -> None:
        self.extents = dict(zip(axes, extents, strict=True))
        self.open = dict.fromkeys(axes)
        self.facts = facts
        self.values: dict[tir.Var, PrimExpr] = {}
        self.parts: dict[PrimExpr, PrimExpr] = {}
        self.conditions: list[PrimExpr] = []

    def solve(self, indices: Sequence[PrimExpr], targets: Sequence[PrimExpr]) -> Inverse | None:
        """The inverse."""
        for index, target in zip(indices, targets, strict=True):
            if type(index) not in (tir.Var, tir.IntImm) and self._mentions(index):
                self.parts[index] = target
        left = [self._stripped(i, t) for i, t in zip(indices, targets, strict=True)]
        checks: list[tuple[PrimExpr, PrimExpr]] = []
        while self.open:
            progress = False
            for equation in list(left):
                index, target = equation
                if not self._mentions(index):
                    left.remove(equation)
                    checks.append(equation)
                    progress = True
                elif self._linear(index, target, left):
                    left.remove(equation)
                    progress = True
            if not progress and not self._digits(left):
                return None
        for axis, extent in self.extents.items():
            value = self.values[axis]
            self.conditions += [_at_least_0(value), _below(value, self._now(extent))]
        for index, target in (*checks, *left):
            value = self._now(index)
            if value is not target:
                self.conditions.append(tir.interned(tir.EQ(value, target)))
        return Inverse(self.values, self.parts, tuple(dict.fromkeys(self.conditions)))

    def _mentions(self, expr: PrimExpr) -> bool:
        return any(var in self.open for var in tir.free_vars(expr))

    def _now(self, expr: PrimExpr) -> PrimExpr:
        """An expression with the axes that are known replaced."""
        return terms.substitute(expr, self.values)

    @staticmethod
    def _stripped(index: PrimExpr, target: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        """Without conversions to wider integers, which keep an index."""

        def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            if isinstance(node, tir.Cast) and node.dtype.is_integer:
                kind = tir.type_of(node.value)
                if (
                    kind.is_integer
                    and kind.code == node.dtype.code
                    and kind.bits <= node.dtype.bits
                ):
                    return operands[0]
            return tir.with_operands(node, operands) if operands else node

        if any(isinstance(node, tir.Cast) for node in tir.postorder(index)):
            return tir.interned(tir.fold(index, new)), target
        return index, target

    def _set(self, axis: tir.Var, value: PrimExpr) -> None:
        self.open.pop(axis)
        self.values[axis] = retyped(value, axis)

    # ------------------------------------------------------------ sums

    def _linear(
        self,
        index: PrimExpr,
        target: PrimExpr,
        left: list[tuple[PrimExpr, PrimExpr]],
    ) -> bool:
        """Solve a sum of products of axes with numbers, or sizes, in mixed radix."""
        if isinstance(index, tir.Var):
            self._set(index, target)
            return True
        whole = polynomial(tir.interned(index))
        if whole is None:
            return False
        factors: dict[PrimExpr, Sum] = {}
        rest: Sum = {}
        for product, number in whole.items():
            unknown = [part for part in product if self._mentions(part)]
            if len(unknown) > 1:
                return False
            if not unknown:
                rest[product] = number
                continue
            (part,) = unknown
            if not isinstance(part, tir.Var | tir.FloorDiv | tir.FloorMod):
                return False
            others = list(product)
            others.remove(part)
            factors.setdefault(part, {})[tuple(others)] = number
        if isinstance(index, tir.FloorDiv | tir.FloorMod):
            return False  # a digit alone: see _digits
        order = self._ordered(factors)
        if order is None:
            return False
        value = self._now(target)
        if rest:
            value = difference(value, self._now(expression(rest)))
        for k, part in enumerate(order):
            factor = factors[part]
            found: PrimExpr
            if factor == {(): -1} and len(order) == 1:
                found = difference(_ZERO, value)
            elif factor == {(): 1}:
                found = value
            else:
                by = self._now(expression(factor))
                found = tir.interned(tir.FloorDiv(value, by))
                value = tir.interned(tir.FloorMod(value, by))
                if not isinstance(by, tir.IntImm):
                    self.conditions.append(tir.interned(tir.LT(_ZERO, by)))
                if k == len(order) - 1:
                    self.conditions.append(tir.interned(tir.EQ(value, _ZERO)))
            if isinstance(part, tir.Var):
                self._set(part, found)
            else:
                left.append((part, found))
        return True

    def _extent(self, part: PrimExpr) -> PrimExpr | None:
        """The number of values that a part of an index may have, from 0 on."""
        if isinstance(part, tir.Var):
            return self._now(self.extents[part])
        if isinstance(part, tir.FloorMod) and self._is_natural(part.b):
            return part.b
        with self._open_axes():
            low, high = self.facts.reach(self._now(part))
        if low is not None and low >= 0 and high is not None:
            return terms.index(high + 1)
        return None

    @contextmanager
    def _open_axes(self) -> Iterator[None]:
        """The axes that are not known yet are below their extents."""
        with self.facts.scope():
            for axis in self.open:
                self.facts.index([axis], [self._now(self.extents[axis])])
            yield

    def _is_natural(self, size: PrimExpr) -> bool:
        """Whether a size is not negative: what is left by a negative divisor is not, too."""
        return self.facts.holds(tir.interned(tir.LE(_ZERO, self._now(size)))) is True

    def _ordered(self, factors: dict[PrimExpr, Sum]) -> list[PrimExpr] | None:
        """The parts, the one with the largest factor first; None if factors overlap."""
        if len(factors) == 1:
            factor = next(iter(factors.values()))
            if factor in ({(): 1}, {(): -1}) or bool(
                self.facts.holds(tir.LT(_ZERO, self._now(expression(factor))))
            ):
                return list(factors)
            return None
        waiting = dict(factors)
        order: list[PrimExpr] = []
        span: Sum | None = None
        while waiting:
            found = None
            for part, factor in waiting.items():
                if span is None:
                    if factor == {(): 1} or (
                        set(factor) == {()}
                        and all(set(f) != {()} or f[()] >= factor[()] for f in waiting.values())
                        and factor[()] > 0
                    ):
                        found = part
                        break
                elif factor == span:
                    found = part
                    break
            if found is None and span is not None:
                reach = expression(span)
                for part, factor in waiting.items():
                    if self.facts.holds(tir.interned(tir.LE(reach, self._now(expression(factor))))):
                        found = part
                        break
            if found is None:
                return None
            factor = waiting.pop(found)
            order.insert(0, found)
            extent = self._extent(found)
            if extent is None:
                if waiting:
                    return None
                break
            span = polynomial(tir.interned(tir.Mul(expression(factor), extent)))
            if span is None:
                return None
        return order

    # ------------------------------------------------------------ digits

    def _digits(self, left: list[tuple[PrimExpr, PrimExpr]]) -> bool:
        """Put a number together whose digits are known: ``f // N`` and ``f % N`` give ``f``."""
        groups: dict[PrimExpr, list[tuple[Digit, tuple[PrimExpr, PrimExpr]]]] = {}
        for equation in left:
            found = digit(equation[0])
            if found is not None and self._mentions(found.of):
                groups.setdefault(found.of, []).append((found, equation))
        return any(self._joined(of, group, left) for of, group in groups.items())

    def _joined(
        self,
        of: PrimExpr,
        group: list[tuple[Digit, tuple[PrimExpr, PrimExpr]]],
        left: list[tuple[PrimExpr, PrimExpr]],
    ) -> bool:
        by: Sum | None = {(): 1}
        total: PrimExpr | None = None
        waiting = list(group)
        top: Digit | None = None
        used: list[tuple[PrimExpr, PrimExpr]] = []
        conditions: list[PrimExpr] = []
        while by is not None:
            found = next((each for each in waiting if polynomial(each[0].by) == by), None)
            if found is None:
                break
            waiting.remove(found)
            top, equation = found
            if top.modulo is not None and not self._is_natural(top.modulo):
                return False
            used.append(equation)
            value = self._now(equation[1])
            part = value if by == {(): 1} else tir.Mul(value, top.by)
            total = part if total is None else tir.Add(part, total)
            if top.modulo is None:
                by = None
                break
            conditions += [_at_least_0(value), _below(value, self._now(top.modulo))]
            by = polynomial(tir.interned(tir.Mul(top.by, top.modulo)))
        if total is None or top is None:
            return False
        if top.modulo is not None:
            # The number must be below the next digit's weight.
            assert by is not None
            with self._open_axes():
                if not self.facts.holds(_below(self._now(of), expression(by))):
                    return False
        found_total = self._whole(used) or tir.interned(total)
        for equation in used:
            left.remove(equation)
        left.append((of, found_total))
        if type(of) is not tir.Var:
            self.parts.setdefault(of, found_total)
        self.conditions += conditions
        return True

    @staticmethod
    def _whole(used: Sequence[tuple[PrimExpr, PrimExpr]]) -> PrimExpr | None:
        """The number of which the targets are the same digits."""
        of: PrimExpr | None = None
        for index, target in used:
            ours, theirs = digit(index), digit(target)
            if ours is None or theirs is None or of not in (None, theirs.of):
                return None
            if ours.by is not theirs.by or ours.modulo is not theirs.modulo:
                return None
            of = theirs.of
        return of


def digit(expr: PrimExpr) -> Digit | None:
    """An expression as a digit of a number; None if it is none."""
    match expr:
        case tir.FloorMod(a=tir.FloorDiv(a=of, b=by), b=modulo):
            return Digit(of, by, modulo)
        case tir.FloorDiv(a=tir.FloorMod(a=of, b=tir.IntImm(value=m)), b=tir.IntImm(value=w) as by):
            if w > 0 and m > 0 and m % w == 0:
                return Digit(of, by, tir.interned(tir.IntImm(m // w, by.dtype)))
        case tir.FloorMod(a=of, b=modulo):
            return Digit(of, _ONE, modulo)
        case tir.FloorDiv(a=of, b=by):
            return Digit(of, by, None)
    return None


# ---------------------------------------------------------------- expressions


def retyped(value: PrimExpr, axis: tir.Var) -> PrimExpr:
    """An integer with the type of an axis."""
    kind = tir.type_of(value)
    if kind == axis.dtype:
        return value
    if isinstance(value, tir.Cast) and tir.type_of(value.value) == axis.dtype:
        return value.value
    return tir.interned(tir.converted(value, axis.dtype, None))


def _at_least_0(value: PrimExpr) -> PrimExpr:
    return tir.interned(tir.LE(_ZERO, value))


def _below(value: PrimExpr, limit: PrimExpr) -> PrimExpr:
    return tir.interned(tir.LT(value, limit))


def difference(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """``a - b``, with equal summands left out."""
    found = polynomial(tir.interned(tir.Sub(a, b)))
    return tir.interned(tir.Sub(a, b)) if found is None else expression(found)


def expression(found: Sum) -> PrimExpr:
    """A sum of products as an expression."""
    total: PrimExpr | None = None
    for product, number in found.items():
        made: PrimExpr | None = None
        for part in product:
            made = part if made is None else tir.Mul(made, part)
        size = abs(number)
        kind = tir.type_of(made) if made is not None else _ONE.dtype  # type: ignore[attr-defined]
        if made is None:
            made = tir.IntImm(size)
        elif size != 1:
            made = tir.Mul(made, tir.IntImm(size, kind))
        if total is None:
            total = made if number > 0 else tir.Mul(made, tir.IntImm(-1, kind))
        else:
            total = tir.Add(total, made) if number > 0 else tir.Sub(total, made)
    return _ZERO if total is None else tir.interned(total)
