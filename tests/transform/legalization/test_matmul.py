"""Matrix products of stacks of every rank, and of sizes that are 1 on one side, are those of NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rlx
from rlx.semantics.outcome import Returned
from rlx.transform import legalized
from tests.transform.legalization.law import run

RANKS = (1, 2, 3, 6)
STACK = {"whole": (2, 1, 3, 2), "ones": (1, 1, 1, 1), "mixed": (2, 3, 1, 2)}


def shape(rank: int, stack: tuple[int, ...], own: tuple[int, ...]) -> tuple[int, ...]:
    """A shape of a rank: the stack's last dimensions, and those of the matrix or vector."""
    lead = rank - len(own)
    return (*stack[len(stack) - lead :], *own)


@pytest.mark.parametrize("stacks", [*product(STACK, STACK)], ids="-".join)
def test_the_product_is_that_of_numpy(stacks: tuple[str, str]) -> None:
    for left, right in product(RANKS, RANKS):
        a = shape(left, STACK[stacks[0]], (2, 3) if left > 1 else (3,))
        b = shape(right, STACK[stacks[1]], (3, 4) if right > 1 else (3,))
        x, y = (np.arange(np.prod(s), dtype=np.int64).reshape(s) - 5 for s in (a, b))
        try:
            wanted = x @ y
        except ValueError:
            continue
        module = rlx.parse(
            "@R.function\n"
            f'def main(x: R.Tensor({a}, "int64"), y: R.Tensor({b}, "int64")):\n'
            "    z = R.matmul(x, y)\n"
            "    return z\n"
        )
        made = legalized(module)
        assert not made.left
        found = run(made.module, [x, y], "steps")
        assert isinstance(found, Returned)
        np.testing.assert_array_equal(found.value.data, wanted)  # type: ignore[attr-defined]
