"""The search for counterexamples at small and awkward points.

Expressions are compiled to a list of operations on numbered values (a tape), so each operation
costs a tenth of a microsecond per point.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import isqrt
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.prim_operators import ON_INTEGERS, exact
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.prim_exprs import Range

Point = tuple[int, ...]

_DEGREE_LIMIT = 400


class _Poison:
    """The result of a division by zero where it may still be discarded."""


_POISON = _Poison()


def _pair(t: object, f: object) -> object:
    """Both branches of a choice as one value, so that every step has two operands."""
    return (t, f)


def _select(c: int, branches: tuple[int, int]) -> int:
    return branches[0] if c else branches[1]


_PAIRS: dict[type[PrimExpr], Callable[..., Any]] = {kind: exact(kind) for kind in ON_INTEGERS}


def _wrapper(low: int, high: int) -> Callable[[int, int], int]:
    size = high - low + 1
    return lambda value, _: low + (value - low) % size


def _guarded(step: Callable[..., object]) -> Callable[..., object]:
    def run(a: object, b: object) -> object:
        if a is _POISON or b is _POISON:
            return _POISON
        try:
            return step(a, b)
        except ZeroDivisionError:
            return _POISON

    return run


def _strictly(c: object, branches: tuple[object, object]) -> object:
    if c is _POISON or _POISON in branches:
        return _POISON
    return branches[0] if c else branches[1]


def _lazy(decided: bool) -> Callable[[object, object], object]:
    def run(a: object, b: object) -> object:
        if a is _POISON:
            return a
        return decided if bool(a) is decided else b

    return run


def _branch(c: object, branches: tuple[object, object]) -> object:
    return c if c is _POISON else branches[0] if c else branches[1]


def _power(one: int, exponent: int) -> int:
    if 0 <= exponent < prim_exprs.BITS:
        return one << exponent
    raise ZeroDivisionError


_BITS: dict[str, Callable[[int, int], int]] = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "shift_left": _power,
}
_LAZY = frozenset((tir.And, tir.Or, tir.Call))
"""The operations that may skip an operand."""


class Tape:
    """Expressions compiled for evaluation at many points.

    Attributes
    ----------
    variables
        The order of the variables in a point.
    degree
        An estimate of the degree in the variables.
    literals
        The numbers in the expressions, except small ones.
    usable
        Whether evaluation is possible and cheap: only integer arithmetic, and no degrees in the
        hundreds.
    """

    def __init__(
        self,
        roots: Sequence[PrimExpr],
        variables: Sequence[tir.Var],
        order: Sequence[PrimExpr] | None = None,
    ) -> None:
        """``order`` has the nodes of all roots, operands first, if the caller has them."""
        if order is None:
            order = tir.postorder(*roots)
        self.variables = tuple(variables)
        self.usable = True
        self.literals: dict[int, None] = {}
        self._steps: list[tuple[Callable[..., object], int, int]] = []
        numbers = {n: int(n.value) for n in order if type(n) is tir.IntImm}
        self._numbers = (*numbers.values(),)
        places: dict[PrimExpr, int] = {v: i for i, v in enumerate((*self.variables, *numbers))}
        degrees = [1] * len(self.variables)
        for number in self._numbers:
            if abs(number) > SMALL:
                self.literals[number] = None
            degrees.append(number.bit_length() // 64)
        lazy = not _LAZY.isdisjoint(map(type, order))
        for node in order:
            if node in places:
                continue
            step = _PAIRS.get(type(node))
            if step is None or lazy:
                self._other(node, places, degrees, lazy)
            else:
                first, second = places[node.a], places[node.b]  # type: ignore[attr-defined]
                self._steps.append((step, first, second))
                x, y = degrees[first], degrees[second]
                degrees.append(x + y if type(node) is tir.Mul else max(x, y))
            places[node] = len(degrees) - 1
        self._roots = [places[root] for root in roots]
        self._size = len(degrees)
        self.degree = max(degrees, default=0)
        self.usable = self.usable and self.degree <= _DEGREE_LIMIT

    def __len__(self) -> int:
        return self._size

    def _other(
        self, node: PrimExpr, places: dict[PrimExpr, int], degrees: list[int], lazy: bool
    ) -> None:
        """Append the steps of a node that is no plain operation on two numbers, and an estimate of
        the size of each value.
        """
        operands = [places[child] for child in tir.children(node)]
        sizes = [degrees[i] for i in operands]
        if not prim_exprs.interpreted(node):
            self.usable = False
            degrees.append(0)
            return
        if prim_exprs.conditional(node):
            _, *branches = operands
            self._steps.append((_pair, branches[0], branches[1]))
            operands[1:] = [len(degrees)]
            degrees.append(max(sizes))
        step = self._step(node, lazy)
        self._steps.append((step, operands[0], operands[-1]))
        degrees.append(sum(sizes) if type(node) is tir.Mul else max(sizes))

    def _step(self, node: PrimExpr, lazy: bool) -> Callable[..., object]:
        match node:
            case tir.And() if lazy:
                return _lazy(False)
            case tir.Or() if lazy:
                return _lazy(True)
            case tir.Select():
                return _strictly if lazy else _select
            case tir.Call(op=op):
                return _guarded(_BITS[op]) if prim_exprs.bitwise(node) else _branch
            case tir.Not():
                step: Callable[..., object] = _negated
            case tir.Cast():
                step = _cast_step(node)
            case _:
                step = _PAIRS[type(node)]
        return _guarded(step) if lazy else step

    def run(self, point: Point) -> list[int] | None:
        """The values of the roots, or None if one of them is undefined."""
        values: list[object] = [*point, *self._numbers]
        append = values.append
        try:
            for step, first, second in self._steps:
                append(step(values[first], values[second]))
        except ZeroDivisionError:
            return None
        results = [values[i] for i in self._roots]
        if _POISON in results:
            return None
        return results  # type: ignore[return-value]


def _negated(value: int, _: int) -> bool:
    return not value


def _cast_step(node: tir.Cast) -> Callable[[int, int], int]:
    if node.dtype == BOOL:
        return lambda value, _: int(value != 0)
    limits = prim_exprs.wraps_to(node)
    return (lambda value, _: +value) if limits is None else _wrapper(*limits)


_PROBES = ((26879, 53759, 80639, 107519), (0, 1, 2, 0, 4), (257, 4, 6, 3))
"""Large numbers that are -1 modulo many others, small ones, and a large one before small ones."""
_PRODUCTS = 12
"""The maximum number of products of a condition that is evaluated at these."""
_EVALUATED = frozenset((*_PAIRS, tir.Not, tir.Var, tir.IntImm))


def fails_somewhere(
    order: Sequence[PrimExpr],
    limits: Callable[[tir.Var], Range],
    sample: Mapping[tir.Var, int],
) -> bool | None:
    """Whether a condition is false at one of a few points: quicker than to look for a proof. Variables
    that ``sample`` has have their values there.

    ``order`` has its nodes, operands first. It is None if they are not all operations on two
    integers.
    """
    kinds = [*map(type, order)]
    if not _EVALUATED.issuperset(kinds) or kinds.count(tir.Mul) > _PRODUCTS:
        return None
    leaves: dict[PrimExpr, Any] = {}
    ranges: list[tuple[tir.Var, Range]] = []
    steps: list[tuple[PrimExpr, Callable[..., Any], PrimExpr, PrimExpr]] = []
    for kind, node in zip(kinds, order, strict=True):
        if kind is tir.Var:
            if node in sample:
                leaves[node] = sample[node]  # type: ignore[index]
            else:
                ranges.append((node, limits(node)))  # type: ignore[arg-type]
        elif kind is tir.IntImm:
            leaves[node] = node.value  # type: ignore[attr-defined]
        elif kind is tir.Not:
            steps.append((node, _negated, node.a, node.a))  # type: ignore[attr-defined]
        else:
            steps.append((node, _PAIRS[kind], node.a, node.b))  # type: ignore[attr-defined]
    for shares in _PROBES:
        values = dict(leaves)
        for place, (var, (low, high)) in enumerate(ranges):
            value = shares[place % len(shares)] + (low or 0)
            values[var] = value if high is None or value <= high else high
        try:
            for node, step, a, b in steps:
                values[node] = step(values[a], values[b])
        except ZeroDivisionError:
            continue
        if not values[order[-1]]:
            return True
        if not ranges:
            break
    return False


_FACTORS = 300
"""How many numbers are tried as a factor of a literal."""
SMALL = 12
_AWKWARD = (0, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 32, 61, 64, 97, 127, 128, 255, 256, 1009)
_HUGE = (4096, 65536, 65537, 2**31 - 1, 2**31, 2**32 + 1, 2**62 + 1, 2**63 - 1)


def points(ranges: Sequence[Range], budget: int, literals: Sequence[int] = ()) -> Iterator[Point]:
    """The points to try: all small ones, by increasing sum, then awkward ones.

    Parameters
    ----------
    ranges
        Smallest and largest value of each variable.
    budget
        The maximum number of points.
    literals
        Numbers at and beside which one variable is tried first, while the others are smallest.
    """
    count = len(ranges)
    if any(low is not None and high is not None and low > high for low, high in ranges):
        return
    if count == 0:
        yield ()
        return
    bases = [_base(r) for r in ranges]
    given = 0
    small = budget // 2
    plain = all(limits == (0, None) for limits in ranges)
    for total in range(SMALL * count):
        for shares in _shares(total, count):
            if point := shares if plain else _at(bases, ranges, shares):
                yield point
                given += 1
            if given >= small:
                break
        if given >= small:
            break
    for near in literals[: budget // (6 * count)]:
        for place, (start, direction) in enumerate(bases):
            for value in (near, near + 1, near - 1):
                shares = (0,) * place + (direction * (value - start),) + (0,) * (count - place - 1)
                if direction and (point := _at(bases, ranges, shares)):
                    yield point
                    given += 1
    if literals and count > 1:
        for point in _factors(bases, ranges, literals[: budget // (6 * count)]):
            yield point
            given += 1
    yield from _mixed(bases, ranges, budget - given)


def _factors(
    bases: Sequence[tuple[int, int]], ranges: Sequence[Range], literals: Sequence[int]
) -> Iterator[Point]:
    """Two variables whose product is a literal, both as near to its root as can be."""
    for literal in literals:
        root = isqrt(abs(literal))
        factor = next((f for f in range(root, max(1, root - _FACTORS), -1) if literal % f == 0), 0)
        for first, second in permutations(range(len(bases)), 2) if factor else ():
            shares = [0] * len(bases)
            for place, value in ((first, factor), (second, literal // factor)):
                start, direction = bases[place]
                shares[place] = direction * (value - start)
            if all(bases[place][1] for place in (first, second)) and (
                point := _at(bases, ranges, tuple(shares))
            ):
                yield point


def _base(limits: Range) -> tuple[int, int]:
    """Where counting begins, and in which direction."""
    low, high = limits
    if low is not None:
        return low, 1
    if high is not None and high < 0:
        return high, -1
    return 0, 0


def _at(bases: Sequence[tuple[int, int]], ranges: Sequence[Range], shares: Point) -> Point | None:
    values = []
    for (start, direction), (low, high), share in zip(bases, ranges, shares, strict=True):
        if direction:
            value = start + direction * share
        else:
            value = (share + 1) // 2 * (1 if share % 2 else -1)
        if (high is not None and value > high) or (low is not None and value < low):
            return None
        values.append(value)
    return tuple(values)


def _shares(total: int, count: int) -> Iterator[Point]:
    """All ways to write ``total`` as ``count`` summands, even ones first."""
    if count > 6:
        yield from _few_shares(total, count)
        return
    stack: list[tuple[Point, int]] = [((), total)]
    while stack:
        head, left = stack.pop()
        if len(head) == count - 1:
            yield (*head, left)
            continue
        stack.extend(((*head, x), left - x) for x in range(left, -1, -1))


def _few_shares(total: int, count: int) -> Iterator[Point]:
    """For many variables: all the same, then one that differs."""
    yield (total,) * count
    for place in range(count):
        yield tuple(total + 1 if i == place else 1 for i in range(count))
        yield tuple(0 if i == place else total for i in range(count))


def _mixed(
    bases: Sequence[tuple[int, int]], ranges: Sequence[Range], budget: int
) -> Iterator[Point]:
    """Awkward values in mixed order, by a fixed linear congruence."""
    state = 12345
    size = len(_AWKWARD)
    for turn in range(budget):
        shares = []
        pool: Sequence[int] = _HUGE if turn % 8 == 7 else _AWKWARD
        size = len(pool)
        for _ in ranges:
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            shares.append(pool[(state >> 33) % size])
        if point := _at(
            bases, ranges, tuple(_clip(s, r) for s, r in zip(shares, ranges, strict=True))
        ):
            yield point


def _clip(share: int, limits: Range) -> int:
    low, high = limits
    if low is None or high is None:
        return share
    return share % (high - low + 1)


def smaller(
    point: Point, ranges: Sequence[Range], holds: Callable[[Point], bool], tries: int = 600
) -> Point:
    """A smaller point for which ``holds`` is still true.

    One coordinate is reduced at a time; if this is impossible, two together, for facts like ``i <
    n``.
    """
    floors = [_base(r)[0] for r in ranges]
    best = point
    moves = _single_moves(floors, best)
    while tries > 0:
        for trial in moves:
            tries -= 1
            if holds(trial):
                best = trial
                moves = _single_moves(floors, best)
                break
            if tries <= 0:
                return best
        else:
            return best
    return best


def _single_moves(floors: Sequence[int], point: Point) -> Iterator[Point]:
    for place, value in enumerate(point):
        for candidate in _lower(floors[place], value):
            yield (*point[:place], candidate, *point[place + 1 :])
    distances = [value - floor for value, floor in zip(point, floors, strict=True)]
    for first, second in combinations(range(len(point)), 2):
        both = min(distances[first], distances[second])
        if both > 0 and distances[first] + distances[second] > SMALL:
            for step in (both, both - 1, both // 2, 1):
                moved = list(point)
                moved[first] -= step
                moved[second] -= step
                if step:
                    yield tuple(moved)


def _lower(floor: int, value: int) -> Iterator[int]:
    """Values nearer to ``floor``: the nearest, then parts of the distance, then steps back."""
    distance = abs(value - floor)
    sign = 1 if value > floor else -1
    tried: set[int] = set()
    steps = (distance >> shift for shift in range(1, distance.bit_length() + 1))
    for size in (0, 1, 2, *(distance - step for step in steps), distance - 1):
        if 0 <= size < distance and size not in tried:
            tried.add(size)
            yield floor + sign * size
