"""The C that is made of a function stays what it is: other tests say that it is right, this one that nothing moves.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/native/test_same_code.py` writes it anew.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from rlx.generate.strategies import prim_func_of
from rlx.grammar import tir
from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.native.program import generate
from rlx.transform.legalization import definitions, legalized
from tests.semantics.native.random_programs import Maker
from tests.semantics.native.sanitised.nests import Nest
from tests.snapshots import assert_digest
from tests.transform.legalization.law import case
from tests.transform.legalization.test_same_functions import calls

SNAPSHOT = Path(__file__).parent / "snapshots" / "code.txt"


PARTS = 10


def nest(seed: int) -> tir.PrimFunc:
    return Nest(seed).function()


def program(seed: int) -> tir.PrimFunc:
    return Maker(seed).function()


def generated(seed: int) -> tir.PrimFunc:
    return prim_func_of(random.Random(seed).randbytes(400), rare=seed % 3 == 0)


def code(func: tir.PrimFunc, bounds: bool, disjoint: bool, vector: int | None) -> str:
    try:
        made = generate(func, bounds=bounds, disjoint=disjoint, vector=vector)
    except UnsupportedStop as reason:
        return f"{reason.code} {reason.message}"
    sites = "\n".join(f"{site.code} {site.message}" for site in made.sites)
    head = made.text.partition("\n")[0]
    return f"{head}\n{made.kernel}\n{sites}\n{made.allocates} {made.returns} {sorted(made.written)}"


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(("make", "count"), [(nest, 150), (program, 50), (generated, 90)])
def test_the_code_is_as_it_was(make: Callable[[int], tir.PrimFunc], count: int, part: int) -> None:
    made: list[str] = []
    for seed in range(part, count, PARTS):
        func = make(seed)
        made.append(code(func, True, True, 32))
        made.append(code(func, seed % 2 == 0, False, (16, 64, 6)[seed % 3]))
    assert_digest(SNAPSHOT, f"{make.__name__} {part}", "\n\n".join(made))


@pytest.mark.parametrize("name", definitions())
def test_the_code_of_legalised_calls_is_as_it_was(name: str) -> None:
    made: list[str] = []
    for template in islice(calls(name), 2):
        try:
            module = legalized(case(name, template).module).module
        except ValueError:
            continue
        for func in module.functions.values():
            if isinstance(func, tir.PrimFunc):
                made += [code(func, bounds, True, 32) for bounds in (True, False)]
    assert_digest(SNAPSHOT, name, "\n\n".join(made))
