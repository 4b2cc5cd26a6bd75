"""A piece of memory for the tensors of a block, and the known bounds of their sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from rlx.grammar.nodes import ast, tir
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.poly import Polynomial
from rlx.transform.lowering.arrangement import Amount, Most, Need, arrange
from rlx.transform.lowering.emitter import number
from rlx.transform.lowering.heap import Heap
from rlx.transform.lowering.packing import ALIGNMENT, SYMBOLIC_ALIGNMENT

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
