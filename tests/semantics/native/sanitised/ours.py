"""The PrimFuncs that our own legalisation makes of random calls; every other call is one that sorts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count

from rlx.generate.calls.template import Template
from rlx.grammar.nodes import tir
from rlx.transform.legalization import legalized
from tests.transform.legalization.law import DEFINED, case, retyped, templates

from .batch import Case
from .sources import cases, chosen_sizes

SORTS = ("sort", "argsort", "topk", "median")


def ours(seed: int) -> Iterator[Case]:
    """The results of `rlx.transform.legalize` for random calls over letters, with sizes around the edges of vectors."""
    every = sorted(DEFINED)
    for number in count(seed << 32):
        rng = random.Random(number)
        name = rng.choice(SORTS if number % 2 else every)
        found = templates(name, 1, rng)
        if not found:
            continue
        for template in retyped(rng.choice(found), rng, 1):
            for func in _functions(name, template):
                label = f"ours {number} {name}"
                yield from cases(func, chosen_sizes(func, rng), rng, label)


def _functions(name: str, template: Template) -> Iterator[tir.PrimFunc]:
    try:
        module = legalized(case(name, template).module).module
    except ValueError:  # no such call for these types
        return
    yield from module.prim_funcs.values()
