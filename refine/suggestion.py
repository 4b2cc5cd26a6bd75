"""The condition on sizes under which a proof succeeds, found by repeating the question with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import islice, permutations, product
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import show

TRIES = 16
"""The most comparisons with another condition."""
CONDITIONS = 120
"""The most conditions that are considered."""
NUMBERS = 4
"""The most numbers of a program that sizes are compared with."""
SAMPLE = (1, 2, 3, 4, 6, 8)
"""Sizes of which one at least has to satisfy a condition: others restrict too much."""


class Missing:
    """The search for a condition that is missing for a proof.

    Parameters
    ----------
    again
        Compares the programs under one more condition.
    functions
        The function of BEFORE, and that of AFTER.
    undecided
        Gives the conditions that the comparison could not decide.
    counterexample
        Sizes for which the programs differ.
    """

    def __init__(
        self,
        again: Callable[[str], Any],
        functions: Sequence[ast.Function],
        undecided: Callable[[], Sequence[PrimExpr]],
        counterexample: Mapping[str, int] | None,
    ) -> None:
        self._again, self._undecided = again, undecided
        self._sizes = {var.name: var for var in functions[0].shape_vars}
        self._functions = functions
        self._wrong = [] if counterexample is None else [counterexample]

    @cached_property
    def condition(self) -> str | None:
        """A condition on sizes under which the programs are proved to mean the same, the least
        restrictive that is found; None if none is found.
        """
        tried = 0
        for condition in islice(self._candidates(), CONDITIONS):
            if not self._helps(condition):
                continue
            if tried == TRIES:
                break
            tried += 1
            text = show(condition)
            try:
                found = self._again(text)
            except ValueError:  # it contradicts what is assumed already
                continue
            if found.proved:
                return text
            if found.counterexample is not None:
                self._wrong.append(found.counterexample.sizes)
        return None

    def _helps(self, condition: PrimExpr) -> bool:
        """Whether a condition excludes the sizes that are known to be wrong, and not too many."""
        if any(_holds(condition, self._sizes, sizes) for sizes in self._wrong):
            return False
        variables = tir.free_vars(condition)
        points = islice(product(SAMPLE, repeat=len(variables)), 1300)
        names = [var.name for var in variables]
        return any(
            _holds(condition, self._sizes, dict(zip(names, point, strict=True))) for point in points
        )

    def _candidates(self) -> Iterator[PrimExpr]:
        """Conditions to try, those that restrict the sizes least first."""
        sizes = list(self._sizes.values())
        pairs = list(permutations(sizes, 2))
        numbers = [tir.IntImm(value) for value in numbers_in(self._functions)]
        own = set(sizes)
        known = [
            each
            for each in self._undecided()
            if (used := tir.free_vars(each)) and own.issuperset(used)
        ]
        zero, one = tir.IntImm(0), tir.IntImm(1)
        limits: list[PrimExpr] = [tir.GE(var, one) for var in sizes]
        yield from limits
        if len(sizes) > 1:
            yield reduce(tir.And, limits)
        for each in known:
            if isinstance(each, tir.EQ):
                continue
            yield each
            yield _negated(each)
        yield from (tir.LE(var, number) for number in (*numbers[::-1], one) for var in sizes)
        yield from (tir.GE(var, number) for var in sizes for number in numbers)
        yield from (tir.LE(a, b) for a, b in pairs)
        yield from (tir.EQ(tir.FloorMod(var, n), zero) for var in sizes for n in numbers)
        for each in known:
            match each:
                case tir.EQ(a=tir.IntImm() as number, b=other):
                    yield tir.EQ(other, number)
                case tir.EQ():
                    yield each
        yield from (tir.EQ(a, b) for a, b in pairs if a.name < b.name)
        yield from (tir.EQ(tir.FloorMod(a, b), zero) for a, b in pairs)
        yield from (tir.EQ(var, number) for var in sizes for number in (one, *numbers))


def _holds(condition: PrimExpr, variables: Mapping[str, tir.Var], sizes: Mapping[str, int]) -> bool:
    point = {var: sizes.get(name, 0) for name, var in variables.items()}
    try:
        return bool(evaluate(condition, point))
    except UndefinedError:
        return False


def numbers_in(functions: Sequence[object]) -> list[int]:
    """The numbers in the texts of functions, from 2 on, the smallest first."""
    found = {int(n) for f in functions for n in re.findall(r"(?<![\w.])\d{1,6}(?![\w.])", str(f))}
    return sorted(found - {0, 1})[:NUMBERS]


def _negated(condition: PrimExpr) -> PrimExpr:
    match condition:
        case tir.LT(a=a, b=b):
            return tir.LE(b, a)
        case tir.LE(a=a, b=b):
            return tir.LT(b, a)
    return tir.Not(condition)
