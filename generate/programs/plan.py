"""The plan of a program: its functions, and a record for each of their steps."""

from __future__ import annotations

import random
from collections.abc import Sequence

from rlx.generate.programs.choices import SIZE
from rlx.grammar.nodes.node import Record

FEATURES = frozenset(
    {
        *("symbolic", "match_cast", "tuples", "closures", "higher_order", "recursion", "mutual"),
        *(
            "if",
            "dataflow",
            "impure",
            "call_tir",
            "inplace",
            "packed",
            "loose",
            "nested",
            "runtime",
            "scalars",
            "rare",
            "devices",
        ),
    }
)
"""All that a program may contain besides calls of operators."""


NEEDS = {"higher_order": "symbolic", "recursion": "if", "mutual": "if"}
"""Features that another one is a part of."""


class Options(Record):
    """Options of generated programs.

    Attributes
    ----------
    size
        About how many bindings a module has.
    features
        Which of :data:`FEATURES` may occur.
    operators
        Names of operators (``"nn.relu"``) to use; all that are declared if empty.
    """

    size: int = 10
    features: frozenset[str] = FEATURES
    operators: tuple[str, ...] = ()


DEFAULT = Options()


class FunctionPlan(Record):
    """A function: a record for its head and one for each step."""

    head: bytes
    steps: Sequence[bytes]


class ModulePlan(Record):
    """A module: the functions that it defines, the one that is entered last."""

    functions: Sequence[FunctionPlan]


def random_plan(rng: random.Random, options: Options = DEFAULT) -> ModulePlan:
    """A plan from a source of random numbers."""
    left = options.size
    functions = []
    for _ in range(rng.randrange(3) if left > 3 else 0):
        steps = rng.randrange(1, 1 + left // 3)
        left -= steps
        functions.append(_function(rng, steps))
    functions.append(_function(rng, left))
    return ModulePlan(functions)


def _function(rng: random.Random, steps: int) -> FunctionPlan:
    data = rng.randbytes(SIZE * (steps + 1))
    records = [data[k : k + SIZE] for k in range(0, len(data), SIZE)]
    return FunctionPlan(records[0], records[1:])
