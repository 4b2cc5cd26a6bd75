"""A seed gives the same program as ever: what a campaign found can be made again from its seed.

Some programs are kept whole, of the others a hash. `RLX_UPDATE_SNAPSHOTS=1 pytest tests/generate/test_same_seed.py`
writes them anew; the seeds of earlier findings mean other programs then.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rlx.generate.campaign.programs import program
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import random_module
from rlx.generate.strategies import prim_func_of
from rlx.grammar.printer import print_module
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
        yield code, print_module(near_miss(code, random.Random(code)))


def casts() -> Iterator[tuple[str, str]]:
    for seed in range(30):
        yield f"casts {seed}", of_casts(random.Random(seed))


def prim_funcs() -> Iterator[tuple[str, str]]:
    for seed in range(60):
        given = random.Random(seed).randbytes(400)
        yield f"PrimFunc {seed}", str(prim_func_of(given, rare=seed % 2 == 1))


@pytest.mark.parametrize("make", [modules, campaigns, near_misses, casts, prim_funcs])
def test_a_seed_gives_the_same_program(make: Callable[[], Iterator[tuple[str, str]]]) -> None:
    entries = [
        (name, text if at < WHOLE else hashlib.sha256(text.encode()).hexdigest())
        for at, (name, text) in enumerate(make())
    ]
    assert_entries(SNAPSHOTS / f"{make.__name__}.txt", entries)
