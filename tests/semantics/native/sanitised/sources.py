"""Sources of kernels; each one is endless."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count

from rlx.generate.strategies import prim_func_of
from rlx.grammar.nodes import tir
from rlx.semantics.faults import UnsupportedStop
from tests.semantics.native.random_programs import Maker

from .batch import Case
from .compare import is_loose
from .nests import Nest
from .sizes import arguments, extent


def nests(seed: int) -> Iterator[Case]:
    """Reductions, guards, movements."""
    for number in count(seed << 32):
        nest = Nest(number)
        func = nest.function()
        yield from cases(func, nest.sizes, nest.rng, f"nests {number}")


def programs(seed: int) -> Iterator[Case]:
    """The random programs of the test of agreement, with extents around the edges of vectors."""
    for number in count(seed << 32):
        maker = Maker(number)
        near = [extent(maker.random) for _ in range(2)]
        maker.extents = [*maker.sizes, *map(tir.IntImm, (1, 3, *near))]
        func = maker.function()
        sizes = {size: maker.pick([0, 1, 2, 5, 33]) for size in maker.sizes}
        yield from cases(func, sizes, maker.random, f"programs {number}")


def generated(seed: int) -> Iterator[Case]:
    """The PrimFuncs of random modules."""
    for number in count(seed << 32):
        rng = random.Random(number)
        func = prim_func_of(rng.randbytes(400), rare=rng.random() < 0.1)
        yield from cases(func, chosen_sizes(func, rng), rng, f"generated {number}")


def chosen_sizes(func: tir.PrimFunc, rng: random.Random) -> dict[tir.Var, int]:
    """A size for each variable that is a dimension."""
    dims = [d for b in func.buffer_map.values() for d in b.shape if isinstance(d, tir.Var)]
    return {dim: extent(rng) for dim in dict.fromkeys(dims)}


def cases(
    func: tir.PrimFunc, sizes: dict[tir.Var, int], rng: random.Random, label: str
) -> Iterator[Case]:
    """The function with random arguments, if there are some."""
    try:
        yield Case(func, arguments(func, sizes, rng, rng.random() < 0.3, is_loose(func)), label)
    except (ValueError, UnsupportedStop):
        return
