"""A seed gives the same program as ever: what a campaign found can be made again from its seed.

Some programs are kept whole, of the others a hash. `RLX_UPDATE_SNAPSHOTS=1 pytest tests/generate/test_same_seed.py`
writes them anew; the seeds of earlier findings mean other programs then.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from rlx.generate.campaign.programs import program
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.elements import RandomElements
from rlx.generate.inputs import value
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import random_module
from rlx.generate.strategies import prim_func_of
from rlx.grammar import ast
from rlx.grammar.printer import print_module
from rlx.solver.evaluate import UndefinedError
from tests.snapshots import assert_entries

SNAPSHOTS = Path(__file__).parent / "snapshots"
WHOLE = 3
"""So many programs of a kind are kept whole."""


def modules() -> Iterator[tuple[str, str]]:
    for seed in range(40):
        yield f"module {seed}", print_module(random_module(random.Random(seed)))


def campaigns() -> Iterator[tuple[str, str]]:
    for seed in range(16):
        for oracle in ("check", "run", "passes"):
            yield f"{oracle} {seed}", program(seed, oracle, "tvm")[0]


def near_misses() -> Iterator[tuple[str, str]]:
    for code in CODES:
        for name in (code, f"{code}, again", f"{code}, once more"):
            yield name, print_module(near_miss(code, random.Random(name)))


def casts() -> Iterator[tuple[str, str]]:
    for seed in range(30):
        yield f"casts {seed}", of_casts(random.Random(seed))


def prim_funcs() -> Iterator[tuple[str, str]]:
    for seed in range(60):
        given = random.Random(seed).randbytes(400)
        yield f"PrimFunc {seed}", str(prim_func_of(given, rare=seed % 2 == 1))


def inputs() -> Iterator[tuple[str, str]]:
    """What functions are given, with numbers of all kinds and without."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        for name, function in random_module(random.Random(seed)).functions.items():
            if isinstance(function, ast.Function):
                sizes = {var: int(rng.integers(0, 5)) for var in function.shape_vars}
                for param in function.params:
                    # No input stands for some; and what is too large for a type is infinite.
                    with suppress(ValueError, UndefinedError), np.errstate(over="ignore"):
                        made = value(
                            param.struct_info_annotation, sizes, RandomElements(rng), seed % 2 == 1
                        )
                        yield f"input {seed} {name.name_hint} {param.name_hint}", repr(made)


@pytest.mark.parametrize("make", [modules, campaigns, near_misses, casts, prim_funcs, inputs])
def test_a_seed_gives_the_same_program(make: Callable[[], Iterator[tuple[str, str]]]) -> None:
    entries = [
        (name, text if at < WHOLE else hashlib.sha256(text.encode()).hexdigest())
        for at, (name, text) in enumerate(make())
    ]
    assert_entries(SNAPSHOTS / f"{make.__name__}.txt", entries)
