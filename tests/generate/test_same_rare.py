"""Programs of many seeds stay what they are: choices that are rare meet in some of them.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/generate/test_same_rare.py` writes the digests anew.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from rlx.generate.campaign.programs import program
from rlx.generate.casts import examine
from rlx.generate.casts.annotations import AnnotationNames, annotation
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.elements import RandomElements
from rlx.generate.inputs import value
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import random_module
from rlx.generate.programs.plan import FEATURES, Options
from rlx.generate.strategies import prim_func_of
from rlx.grammar import tir
from rlx.grammar.parser import ParseError, parse_struct_info
from rlx.grammar.printer import print_module
from rlx.solver.evaluate import UndefinedError
from tests.generate.test_same_picked import answers, pool
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "rare.txt"
PARTS = 6
NAMED = ("nn.relu", "add", "call_tir", "make_closure", "split", "reshape")


def modules(rng: random.Random) -> Iterator[str]:
    """Modules of all sizes, with some of the features, and of some operators."""
    for _ in range(50):
        features = frozenset(each for each in sorted(FEATURES) if rng.random() < 0.8)
        operators = NAMED if rng.random() < 0.1 else ()
        yield print_module(random_module(rng, Options(rng.randrange(2, 24), features, operators)))


def campaigns(rng: random.Random) -> Iterator[str]:
    for _ in range(8):
        for oracle in ("check", "run", "derive"):
            for against in ("", "tvm"):
                yield program(rng.randrange(1 << 30), oracle, against)[0]


def near_misses(rng: random.Random) -> Iterator[str]:
    for code in rng.sample(CODES, 70):
        yield print_module(near_miss(code, rng))


def casts(rng: random.Random) -> Iterator[str]:
    for _ in range(400):
        yield of_casts(rng)


def prim_funcs(rng: random.Random) -> Iterator[str]:
    for _ in range(150):
        given = rng.randbytes(rng.choice((10, 40, 400)))
        yield str(prim_func_of(given, rare=rng.random() < 0.5))


def inputs(rng: random.Random) -> Iterator[str]:
    """Values for annotations, with odd numbers and without."""
    for seed in range(60):
        scope: dict[str, tir.Var] = {}
        with suppress(ParseError):
            info = parse_struct_info(annotation(rng, AnnotationNames()), scope)
            sizes = {var: rng.randrange(5) for var in scope.values()}
            elements = RandomElements(np.random.default_rng(seed))
            with suppress(ValueError, UndefinedError), np.errstate(over="ignore"):
                yield f"{info} {value(info, sizes, elements, rng.random() < 0.5)!r}"


def verdicts(rng: random.Random) -> Iterator[str]:
    """What is found of the casts of programs."""
    for _ in range(5):
        yield str(examine(of_casts(rng), rng, 2))


def campaign_parts(rng: random.Random) -> Iterator[str]:
    """What oracles, the reducer, and the table of known findings say."""
    for _ in range(40):
        text = pool(rng)
        if json.loads(text)[0] in ("oracle", "reduced", "finding", "numpy", "says", "campaign"):
            said = answers(text)
            if "AssertionError" not in said:  # of the peer, with addresses of values
                yield f"{text}\n{said}"


MAKERS = (modules, campaigns, near_misses, casts, prim_funcs, inputs, verdicts, campaign_parts)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", MAKERS)
def test_many_programs(make: Callable[[random.Random], Iterator[str]], part: int) -> None:
    name = f"{make.__name__} {part}"
    assert_digest(SNAPSHOT, name, "\n".join(make(random.Random(name))))
