"""LAW: a seed gives the same program in each run and in each process, so a campaign's finding can be made again."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
import pytest

from rlx.generate.campaign.programs import program
from rlx.generate.elements import Elements
from rlx.generate.inputs import value
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import random_module
from rlx.generate.strategies import prim_func_of
from rlx.grammar.print.printer import print_module
from rlx.solver.evaluate import UndefinedError
from tests.generate.casts.programs import program as of_casts


def modules(seeds: range) -> Iterator[str]:
    for seed in seeds:
        yield print_module(random_module(random.Random(seed)))


def campaigns(seeds: range) -> Iterator[str]:
    for seed in seeds:
        for oracle in ("check", "run", "passes"):
            yield program(seed, oracle, "tvm")[0]


def near_misses(seeds: range) -> Iterator[str]:
    for seed in seeds:
        code = CODES[seed * 7 % len(CODES)]
        yield print_module(near_miss(code, random.Random(seed)))


def casts(seeds: range) -> Iterator[str]:
    for seed in seeds:
        yield of_casts(random.Random(seed))


def prim_funcs(seeds: range) -> Iterator[str]:
    for seed in seeds:
        yield str(prim_func_of(random.Random(seed).randbytes(400), rare=seed % 2 == 1))


def inputs(seeds: range) -> Iterator[str]:
    """Inputs of functions, with numbers of all kinds and without."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for function in random_module(random.Random(seed)).relax_functions.values():
            sizes = {var: int(rng.integers(0, 5)) for var in function.shape_vars}
            for param in function.params:
                # Some parameters have no input; what is too large for a type is infinite.
                with suppress(ValueError, UndefinedError), np.errstate(over="ignore"):
                    info, elements = param.struct_info_annotation, Elements(rng.bytes)
                    yield repr(value(info, sizes, elements, seed % 2 == 1))


MAKERS = (modules, campaigns, near_misses, casts, prim_funcs, inputs)


def everything(seeds: range) -> str:
    return "\n\n".join(text for make in MAKERS for text in make(seeds))


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_gives_the_same_program_again(make: Callable[[range], Iterator[str]]) -> None:
    seeds = range(12)
    first = list(make(seeds))
    assert list(make(seeds)) == first
    assert len(set(first)) > len(first) // 2  # and another seed mostly gives another program


def test_a_seed_gives_the_same_program_in_another_process() -> None:
    """Sets are in another order there."""
    command = [sys.executable, "-m", "tests.generate.test_seeds"]
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == everything(range(4))


if __name__ == "__main__":
    sys.stdout.write(everything(range(4)))
