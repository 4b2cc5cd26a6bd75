"""Size of the examples that Hypothesis shrinks: ``python -m benchmarks.shrinking [SEEDS]``.

Three bugs are planted, each of which needs three bindings that go together; the least that shows it
is looked for from several seeds. Printed is how many bindings are left in all functions of the
module.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping

from hypothesis import HealthCheck, Phase, find, settings

from rlx.generate import modules
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import bindings

Bound = Mapping[ast.Expr, ast.Expr | ast.MatchCast]
"""The values that the variables of a function are bound to."""

FEATURES = {"symbolic", "match_cast", "tuples", "loose", "dataflow"}


def cast_between_calls(bound: Bound) -> bool:
    """A call uses a cast of what a call gave."""
    for value in bound.values():
        for arg in value.args if isinstance(value, ast.Call) else ():
            cast = bound.get(arg)
            if isinstance(cast, ast.MatchCast) and isinstance(bound.get(cast.value), ast.Call):
                return True
    return False


def two_results(bound: Bound) -> bool:
    """A call uses what two other calls gave."""
    for value in bound.values():
        args = value.args if isinstance(value, ast.Call) else ()
        if len({arg for arg in args if isinstance(bound.get(arg), ast.Call)}) >= 2:
            return True
    return False


def three_calls(bound: Bound) -> bool:
    """A chain of three calls."""
    depth: dict[ast.Expr, int] = {}
    for var, value in bound.items():
        if isinstance(value, ast.Call):
            depth[var] = 1 + max((depth.get(arg, 0) for arg in value.args), default=0)
    return max(depth.values(), default=0) >= 3


PLANTED: tuple[Callable[[Bound], bool], ...] = (cast_between_calls, two_results, three_calls)


def shrunk(planted: Callable[[Bound], bool], seed: int) -> int:
    """The bindings of the smallest module found in which a planted bug shows."""
    found = find(
        modules(features=FEATURES),
        lambda module: any(planted(bound) for bound in map(_bound, module.functions.values())),
        settings=settings(
            max_examples=3000,
            deadline=None,
            database=None,
            phases=list(Phase),
            suppress_health_check=list(HealthCheck),
        ),
        random=random.Random(seed),
    )
    return sum(len(list(bindings(f))) for f in found.relax_functions.values())


def _bound(function: object) -> Bound:
    found: dict[ast.Expr, ast.Expr | ast.MatchCast] = {}
    if isinstance(function, ast.Function):
        for binding in bindings(function):
            match binding:
                case ast.VarBinding(var=var, value=value):
                    found[var] = value
                case ast.MatchCast(var=ast.Var() as var):
                    found[var] = binding
    return found


def main() -> None:
    """Print how small each gets."""
    seeds = int(sys.argv[1]) if sys.argv[1:] else 10
    for planted in PLANTED:
        sizes = [shrunk(planted, seed) for seed in range(seeds)]
        small = sum(size <= 4 for size in sizes)
        print(f"{planted.__name__}: {small} of {seeds} seeds end with at most 4 bindings: {sizes}")


if __name__ == "__main__":
    main()
