"""A piece of memory for the tensors of a block, and the known bounds of their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import starmap, zip_longest
from typing import NamedTuple

from rlx.grammar.nodes import ast, tir
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.poly import Polynomial
from rlx.transform.lowering.emitter import number
from rlx.transform.lowering.heap import Heap

# Packing of tensors into one piece of memory: simultaneously live tensors do not overlap.


ALIGNMENT = 64
"""The alignment of every tensor in bytes."""
SYMBOLIC_ALIGNMENT = 8
"""The alignment if sizes are multiples of an unknown product: elements have up to 8 bytes."""


class Item(NamedTuple):
    """A tensor: the first and the last position of its lifetime, and its size in bytes."""

    start: int
    end: int
    size: int


def pack(
    items: Sequence[Item],
    alignment: int = ALIGNMENT,
    together: Sequence[Sequence[int]] | None = None,
) -> tuple[list[int], int]:
    """The offset of each item, and the total memory.

    Each item is placed in the smallest gap that fits between the items that are alive at the same
    time. Two orders are tried, by size (largest first) and by time, and the better result is
    returned. ``together`` is the result of :func:`beside`, if it is already computed.
    """
    together = beside(items) if together is None else together
    by_size = sorted(range(len(items)), key=lambda k: (-items[k].size, items[k].start, k))
    by_time = sorted(range(len(items)), key=lambda k: (items[k].start, -items[k].size, k))
    plans = (_packed(items, order, together, alignment) for order in (by_size, by_time))
    return min(plans, key=lambda plan: plan[1])


def beside(items: Sequence[Item]) -> list[list[int]]:
    """For each item, the items whose lifetimes overlap with its own."""
    found: list[list[int]] = [[] for _ in items]
    alive: list[int] = []
    for k in sorted(range(len(items)), key=lambda k: items[k].start):
        alive = [other for other in alive if items[other].end >= items[k].start]
        for other in alive:
            found[k].append(other)
            found[other].append(k)
        alive.append(k)
    return found


def _packed(
    items: Sequence[Item], order: Sequence[int], together: Sequence[Sequence[int]], alignment: int
) -> tuple[list[int], int]:
    places: dict[int, tuple[int, int]] = {}
    total = 0
    for k in order:
        size = items[k].size
        at = 0
        gaps: list[tuple[int, int]] = []
        for low, high in sorted(places[j] for j in together[k] if j in places):
            if low - at >= size:
                gaps.append((low - at, at))
            at = max(at, high)
        if gaps:
            _, at = min(gaps)
        places[k] = at, (-(-(at + size) // alignment) * alignment)
        total = max(total, at + size)
    return [begin for _, (begin, _) in sorted(places.items())], total


def lower_bound(items: Sequence[Item]) -> int:
    """The maximum number of bytes alive at one time, which is a lower bound for every plan."""
    changes: dict[int, int] = {}
    for item in items:
        changes[item.start] = changes.get(item.start, 0) + item.size
        changes[item.end + 1] = changes.get(item.end + 1, 0) - item.size
    alive = most = 0
    for _, change in sorted(changes.items()):
        alive += change
        most = max(most, alive)
    return most


# Placement of tensors of symbolic sizes in one piece of memory, valid for all sizes.


Amount = tuple[int, ...]
"""A number of bytes, as a sum of multiples of products of dimensions."""
Most = tuple[Amount, ...]
"""The maximum of several amounts; which one is largest depends on the sizes."""

LIMIT = 8
"""The maximum number of separate amounts; beyond it, two are replaced by an upper bound of both."""

CROWD = 4 * LIMIT
"""The number of amounts from which on they are not compared pair by pair, which takes its square,
but each with its neighbour.
"""


class Need(NamedTuple):
    """A tensor: the first and the last position of its lifetime, and its size."""

    start: int
    end: int
    size: Amount


def arrange(
    needs: Sequence[Need], typical: Sequence[int], alignment: Sequence[int]
) -> tuple[list[Most], Most]:
    """The offset of each tensor, and the total memory.

    Parameters
    ----------
    needs
        The tensors, at least one.
    typical
        The value of each product for typical sizes.
    alignment
        The number that the amount of each product in an offset is a multiple of.
    """
    sizes = [
        tuple(-(-a // b) * b for a, b in zip(need.size, alignment, strict=True)) for need in needs
    ]
    items = [
        Item(need.start, need.end, sum(a * b for a, b in zip(size, typical, strict=True)))
        for need, size in zip(needs, sizes, strict=True)
    ]
    together = beside(items)
    offsets, _ = pack(items, min(alignment), together)
    begins: list[Most | None] = [None] * len(needs)
    nothing: Most = ((0,) * len(typical),)
    largest = _Largest(typical)
    ends: set[Amount] = set()
    for k in sorted(range(len(needs)), key=lambda k: (offsets[k], k)):
        below = {
            tuple(map(int.__add__, amount, sizes[j]))
            for j in together[k]
            for amount in begins[j] or ()
        }
        most = begins[k] = largest(below) if below else nothing
        ends.update(tuple(map(int.__add__, amount, needs[k].size)) for amount in most)
    return [most or nothing for most in begins], largest(ends)


class _Largest:
    """Leaves out the amounts that are never the largest; what it was asked before it knows."""

    def __init__(self, typical: Sequence[int]) -> None:
        self._typical = typical
        self._known: dict[frozenset[Amount], Most] = {}

    def __call__(self, amounts: Iterable[Amount]) -> Most:
        key = frozenset(amounts)
        found = self._known.get(key)
        if found is None:
            kept: list[Amount] = []
            for amount in sorted(key, reverse=True):
                kept = _with(kept, amount)
                if len(kept) > CROWD:
                    kept = _undominated(
                        starmap(_both, zip_longest(kept[::2], kept[1::2], fillvalue=amount))
                    )
            found = self._known[key] = tuple(self._few(kept))
        return found

    def _few(self, amounts: list[Amount]) -> list[Amount]:
        """At most :data:`LIMIT` amounts: two become one while there are more, those for which that
        adds least.
        """
        added: dict[tuple[Amount, Amount], int] = {}
        while len(amounts) > LIMIT:
            pairs = [(a, b) for k, a in enumerate(amounts) for b in amounts[:k]]
            added = {pair: added[pair] if pair in added else self._added(*pair) for pair in pairs}
            one, other = min(pairs, key=added.__getitem__)
            amounts = _undominated(
                [_both(one, other), *(a for a in amounts if a is not one and a is not other)]
            )
        return amounts

    def _added(self, one: Amount, other: Amount) -> int:
        return self._of(_both(one, other)) - max(self._of(one), self._of(other))

    def _of(self, amount: Amount) -> int:
        return sum(a * b for a, b in zip(amount, self._typical, strict=True))


def _both(one: Amount, other: Amount) -> Amount:
    return tuple(map(max, one, other))


def _undominated(amounts: Iterable[Amount]) -> list[Amount]:
    return reduce(_with, amounts, [])


def _with(kept: list[Amount], amount: Amount) -> list[Amount]:
    """The amounts with another one, without those that are never the largest."""
    if any(all(map(int.__le__, amount, other)) for other in kept):
        return kept
    return [o for o in kept if not all(map(int.__le__, o, amount))] + [amount]


TYPICAL = 16
"""The assumed value of every shape variable when plans are compared."""

WIDTH = 32
"""The number of different products from which on a piece takes no more: what its plan costs grows
with it, and its size becomes a sum of what is never needed at once.
"""
_TERMS = 8
"""The number of summands from which on a size is not multiplied out."""

Factors = tuple[tir.PrimExpr, ...]


class PlannedPiece:
    """The tensors of one piece of memory.

    Attributes
    ----------
    device
        Its device.
    """

    def __init__(self, device: int) -> None:
        self.device = device
        self._items: list[tuple[ast.Var, int, int, dict[int, int]]] = []
        self._products: list[Factors] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): 0}
        self._alike = Heap()
        self._parts: dict[int, tir.PrimExpr] = {}
        self._read: dict[tir.PrimExpr, Polynomial] = {}

    @property
    def first(self) -> int:
        """The position of the first tensor."""
        return min(start for _, start, *_ in self._items)

    @property
    def is_full(self) -> bool:
        """Whether its tensors have too many different sizes for another one."""
        return len(self._products) > WIDTH

    def add(self, var: ast.Var, start: int, end: int, count: int, factors: Factors) -> None:
        """Add a tensor of ``count`` times the factors bytes that is alive from ``start`` to
        ``end``.
        """
        size = Polynomial.of(count)
        for factor in factors:
            each = factor if is_size(factor) else tir.Max(factor, tir.IntImm(0))
            read = tir.fold(each, self._polynomial, self._read)
            size *= read if _is_small(size, read) else self._whole(each)
        need: dict[int, int] = {}
        for key, times in size.terms.items():
            at = self._numbers.setdefault(key, len(self._products))
            if at == len(self._products):
                self._products.append(tuple(self._parts[part] for part in key))
            need[at] = times
        self._items.append((var, start, end, need))

    def _polynomial(self, node: tir.PrimExpr, operands: list[Polynomial]) -> Polynomial:
        """A size as sum of products, so that ``n + n`` is known as twice ``n``."""
        match node:
            case tir.IntImm(value=value):
                return Polynomial.of(value)
            case tir.Add():
                found = operands[0] + operands[1]
                return found if len(found.terms) <= _TERMS else self._whole(node)
            case tir.Mul() if _is_small(*operands):
                return operands[0] * operands[1]
        return self._whole(node)

    def _whole(self, node: tir.PrimExpr) -> Polynomial:
        place = self._alike.place(node)
        self._parts.setdefault(place, node)
        return Polynomial({(place,): 1})

    def laid_out(self) -> tuple[ast.ShapeExpr, list[tuple[ast.Var, ast.PrimValue]]]:
        """The size of the piece, and the offset of each tensor."""
        width = len(self._products)
        needs = [
            Need(start, end, tuple(need.get(k, 0) for k in range(width)))
            for _, start, end, need in self._items
        ]
        alignment = (ALIGNMENT, *(SYMBOLIC_ALIGNMENT,) * (width - 1))
        begins, total = arrange(needs, list(map(_typical, self._products)), alignment)
        made: dict[Most, ast.PrimValue] = {}
        for begin in begins:
            if begin not in made:
                made[begin] = self._offset(begin)
        places = [(var, made[begin]) for (var, *_), begin in zip(self._items, begins, strict=True)]
        return self._size(total), places

    def _size(self, total: Most) -> ast.ShapeExpr:
        """A number, a number times some factors, or any expression."""
        match [self._terms(amount) for amount in total]:
            case [[]]:
                return ast.ShapeExpr((tir.IntImm(0),))
            case [[(count, factors)]]:
                return ast.ShapeExpr((tir.IntImm(count), *factors))
        return ast.ShapeExpr((self._largest(total),))

    def _terms(self, amount: Amount) -> list[tuple[int, Factors]]:
        """The summands of an amount that are not 0: a number times a product."""
        return [(n, factors) for n, factors in zip(amount, self._products, strict=True) if n]

    def _offset(self, begin: Most) -> ast.PrimValue:
        made = self._largest(begin)
        return number(made.value) if isinstance(made, tir.IntImm) else ast.PrimValue(made)

    def _largest(self, most: Most) -> tir.PrimExpr:
        return reduce(tir.Max, map(self._sum, most))

    def _sum(self, amount: Amount) -> tir.PrimExpr:
        terms = [
            reduce(tir.Mul, (*factors, tir.IntImm(count))) for count, factors in self._terms(amount)
        ]
        return reduce(tir.Add, terms) if terms else tir.IntImm(0)


def _is_small(one: Polynomial, other: Polynomial) -> bool:
    return len(one.terms) * len(other.terms) <= _TERMS


def _typical(factors: Factors) -> int:
    product = 1
    for factor in factors:
        try:
            product *= max(evaluate(factor, dict.fromkeys(tir.free_vars(factor), TYPICAL)), 0)
        except UndefinedError:
            product *= TYPICAL
    return product


def is_size(factor: tir.PrimExpr) -> bool:
    """Whether a factor is surely not negative, as sizes are not."""
    return tir.fold(factor, _natural)


def _natural(node: tir.PrimExpr, operands: list[bool]) -> bool:
    match node:
        case tir.Var():
            return True
        case tir.IntImm(value=value):
            return value >= 0
        case tir.Add() | tir.Mul() | tir.Min():
            return all(operands)
        case tir.Max():
            return any(operands)
        case tir.FloorDiv(b=tir.IntImm(value=value)):
            return value > 0 and operands[0]
        case tir.FloorMod(b=tir.IntImm(value=value)):
            return value > 0
    return False


# ---------------------------------------------------------------- what is known of sizes


def known_from(rows: Sequence[ast.Binding]) -> dict[tir.Var, int]:
    """The shape variables that the bindings of a block bind, with their positions."""
    known: dict[tir.Var, int] = {}
    for at, binding in enumerate(rows):
        if isinstance(binding, ast.MatchCast):
            known.update(dict.fromkeys(binding.shape_vars, at))
        elif isinstance(binding, ast.VarBinding) and binding.var.shape_var is not None:
            known[binding.var.shape_var] = at
    return known


def upper_bounds(function: ast.Function) -> Mapping[tir.Var, int]:
    """The upper bounds in the attribute ``tir_var_upper_bound``."""
    said = function.attrs.get("tir_var_upper_bound")
    if not isinstance(said, Mapping):
        return {}
    bounds = {str(name): _integer(value) for name, value in said.items()}
    found = {var: bounds.get(var.name) for var in function.shape_vars}
    return {var: value for var, value in found.items() if value is not None and value >= 0}


def _integer(value: object) -> int | None:
    if isinstance(value, ast.PrimValue):
        value = value.value
    if isinstance(value, tir.IntImm):
        value = value.value
    return value if isinstance(value, int) else None


def bounded(size: tuple[int, Factors], bounds: Mapping[tir.Var, int]) -> tuple[int, Factors]:
    """A size with the largest value of each factor whose bound is known."""
    count, factors = size
    if not bounds:
        return size
    kept: list[tir.PrimExpr] = []
    for factor in factors:
        most = _most(factor, bounds)
        if most is None:
            kept.append(factor)
        else:
            count *= most
    return count, tuple(kept)


def _most(expr: tir.PrimExpr, bounds: Mapping[tir.Var, int]) -> int | None:
    """The largest value of an expression that grows with its variables; None of any other."""
    natural: dict[tir.PrimExpr, bool] = {}
    tir.fold(expr, _natural, natural)
    if not all(natural.values()) or any(type(node) is tir.FloorMod for node in natural):
        return None
    if any(var not in bounds for var in tir.free_vars(expr)):
        return None
    return int(evaluate(expr, bounds))
