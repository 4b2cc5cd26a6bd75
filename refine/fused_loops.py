"""Loops over pairs of indices: one whose variable is only used as `f // c` and `f % c` is two loops.

Schedules fuse loops. Where one of them runs over the elements of a result and the other one over
what is added up, an iteration of the fused loop is neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine.facts import polynomial, sum_of
from rlx.refine.loops_content import Digit, digit

AtLeast = Callable[[PrimExpr, int], bool]
"""Whether a size is never below a number, and the same in all iterations."""


def split(loop: tir.For, at_least: AtLeast) -> tir.For | None:
    """The loop as two loops with the same iterations in the same order; None if it is not of two.

    Where a divisor is 0 there are no iterations, or both forms fail. A negative one has other digits.
    """
    if loop.step is not None or not (isinstance(loop.min, tir.IntImm) and loop.min.value == 0):
        return None
    found = _digits(loop, at_least)
    if not found or not all(at_least(each.by, 0) for each in found):
        return None
    weights = [each.by for each in found]
    weights += [_product(each.by, each.modulo) for each in found if each.modulo is not None]
    for weight in weights:
        count = _quotient(loop.extent, weight)
        if count is None or _is_1(count) or _is_1(weight) or not at_least(weight, 0):
            continue
        outer, inner = (tir.Var(f"{loop.loop_var.name}_{k}", loop.loop_var.dtype) for k in (0, 1))
        parts = _Parts(loop, at_least, weight, outer, inner)
        if all(parts.of(each) is not None for each in found):
            body = parts.put(loop.body)
            nested = replace(loop, loop_var=inner, extent=weight, body=body)
            return replace(loop, loop_var=outer, extent=count, body=nested)
    return None


def _digits(loop: tir.For, at_least: AtLeast) -> list[Digit]:
    """The digits of the variable of a loop in its body; none if it is used otherwise, too."""
    found: list[Digit] = []
    stack: list[Node] = [loop.body]
    while stack:
        node = stack.pop()
        if node is loop.loop_var:
            return []
        part = _digit(node, loop, at_least)
        if part is None:
            stack += node.children()
        else:
            found.append(part)
    return found


def _digit(node: Node, loop: tir.For, at_least: AtLeast) -> Digit | None:
    """A digit of the variable of a loop, without a modulo that is not below the extent."""
    part = digit(node) if isinstance(node, tir.FloorDiv | tir.FloorMod) else None
    if part is None or part.of is not loop.loop_var:
        return None
    if part.modulo is not None:
        times = _quotient(_product(part.by, part.modulo), loop.extent)
        if times is not None and at_least(times, 1):
            return replace(part, modulo=None)
    return part


class _Parts:
    """The variable of a loop as ``outer * weight + inner``."""

    def __init__(
        self, loop: tir.For, at_least: AtLeast, weight: PrimExpr, outer: tir.Var, inner: tir.Var
    ) -> None:
        self._at_least = at_least
        self._loop, self._weight, self._outer, self._inner = loop, weight, outer, inner

    def of(self, part: Digit) -> PrimExpr | None:
        """A digit of the variable, as one of the outer or the inner variable; None if it depends on both."""
        above = _quotient(part.by, self._weight)
        if above is not None:
            return _made(Digit(self._outer, above, part.modulo))
        if part.modulo is None:
            return None
        rest = _quotient(self._weight, _product(part.by, part.modulo))
        if rest is None:
            return None
        return _made(Digit(self._inner, part.by, None if _is_1(rest) else part.modulo))

    def put(self, node: Any) -> Any:
        """A node with the digits replaced."""
        part = _digit(node, self._loop, self._at_least)
        return node.map_children(self.put) if part is None else self.of(part)


def _made(part: Digit) -> PrimExpr:
    number = part.of if _is_1(part.by) else tir.FloorDiv(part.of, part.by)
    return number if part.modulo is None else tir.FloorMod(number, part.modulo)


def _product(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return tir.interned(tir.Mul(a, b))


def _quotient(a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
    """A size over another one that divides it as it is written."""
    parts, by = (polynomial(tir.interned(each)) for each in (a, b))
    if len(by) != 1:
        return None
    [(divisor, factor)] = by.items()
    found: dict[tuple[PrimExpr, ...], int] = {}
    for mono, count in parts.items():
        left = list(mono)
        for each in divisor:
            if each not in left:
                return None
            left.remove(each)
        if count % factor:
            return None
        found[tuple(left)] = count // factor
    return sum_of(found)


def _is_1(size: PrimExpr) -> bool:
    return isinstance(size, tir.IntImm) and size.value == 1
