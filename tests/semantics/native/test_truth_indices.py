"""Truth values as indices, through casts, selections and local memory: what is loaded and where it is stored is what the evaluator says.

GCC 12 gathers other elements where it sees that an offset is 0 or 1, in loops that it vectorises.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np

from tests.semantics.native.sanitised.batch import SHIPPED, Case, run
from tests.semantics.native.sanitised.compare import difference, wanted
from tests.semantics.tir.programs import of_body

INDICES = (
    "T.Cast('int64', at[i])",
    "T.Cast('int32', at[i]) + 1",
    "T.Cast('int64', T.Cast('uint8', at[i])) * T.int64(2)",
    "T.Cast('int64', at[i] + T.int8(127)) - T.int64(127)",
    "T.if_then_else(at[i], 1, 0)",
    "T.Select(at[i], 2, 1)",
    "T.Cast('int64', at[i] or i % 3 == 0)",
    "T.Cast('int32', few[i] < T.int8(1))",
    "T.Cast('int64', few[i] & T.int8(1))",
    "T.min(T.Cast('int32', few[i]), 1)",
)
USES = (
    "z[i] = x[{}]",
    "k: T.let = {}\nz[i] = x[k]",
    "z[i] = x[{}] + x[i]",
    "t = T.alloc_buffer((1,), 'int32')\nt[0] = T.Cast('int32', {})\nz[i] = x[t[0]]",
    "z[{}] = x[i]",
)
TYPES = ("int8", "float16", "int16", "float32", "int64", "float64")
SIZES = (5, 9, 40)


def case(index: str, use: str, kind: str, size: int) -> Case:
    parameters = f'at: T.Buffer(({size},), "bool"), few: T.Buffer(({size},), "int8"), x: T.Buffer(({size},), "{kind}"), z: T.Buffer(({size},), "{kind}")'
    lines = use.format(index).replace("\n", "\n    ")
    rng = np.random.default_rng(size)
    args = [
        rng.random(size) < 0.6,
        rng.integers(0, 3, size).astype(np.int8),
        np.arange(size).astype(kind),
        np.zeros(size, kind),
    ]
    return Case(
        of_body(parameters, f"for i in range({size}):\n    {lines}"), args, f"{index} {use}"
    )


def test_truth_values_as_indices(tmp_path: Path) -> None:
    every = [*itertools.product(INDICES, USES)]
    rng = random.Random(0)
    cases = [case(*pair, rng.choice(TYPES), rng.choice(SIZES)) for pair in every]
    expected = [wanted(each) for each in cases]
    found = run(cases, tmp_path / "b", [16] * len(cases), SHIPPED, ())
    wrong = [
        f"{each.label}: {said}"
        for each, answer, ending in zip(cases, found, expected, strict=True)
        if (said := difference(each, answer, ending)) is not None
    ]
    assert not wrong, "\n".join(wrong)
    # What is kept in a variable of its own has wrapped: that is not within x.
    assert sum(ending.ending == "returned" for ending in expected) == len(cases) - 2
