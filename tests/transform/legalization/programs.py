"""Generated programs, legalised, and with calls by destination: they are legal, and end as they did before.

python -m tests.transform.legalization.programs 1000
"""

from __future__ import annotations

import random
from collections import Counter

from rlx.checker.check import check_module
from rlx.generate.programs import Options, random_module
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.semantics.machine import load
from rlx.semantics.outcome import OutOfFuel
from rlx.transform import (
    CallTIRRewrite,
    RemovePurityChecking,
    Sequential,
    ToNonDataflow,
    legalized,
)
from tests.long_run import long_run
from tests.transform.legalization.law import disagreement
from tests.transform.test_runs import arguments, copied
from tests.transform.test_truth import Unmakeable

ITERATIONS = {"native": 10_000, "steps": 10_000}
"""Of each run of a PrimFunc; a run that needs more says nothing."""
LOWER = Sequential([ToNonDataflow(), RemovePurityChecking(), CallTIRRewrite()])
FEATURES = frozenset({"symbolic", "tuples", "if", "dataflow", "match_cast", "closures", "call_tir"})


def check(seed: int, tally: Counter[str]) -> str:
    """The problem with the legalised program of a seed; empty if there is none."""
    choose = random.Random(seed)
    module = random_module(choose, Options(size=8, features=FEATURES))
    found = legalized(module)
    tally["calls left"] += len(found.left)
    tally["PrimFuncs"] += len(found.module.functions) - len(module.functions)
    lowered = LOWER(found.module)
    for made in (found.module, lowered):
        report = check_module(made, Source(""))
        if not report.ok:
            return f"{report.errors[0]}\n{module}\n{made}"
    entry = module["main"]
    assert isinstance(entry, ast.Function)
    programs = [
        load(each, backend="steps", iterations=ITERATIONS)
        for each in (module, found.module, lowered)
    ]
    for _ in range(2):
        try:
            values = arguments(entry, choose)
        except Unmakeable:
            continue
        first, *others = [
            each.run("main", [copied(v) for v in values], fuel=20_000) for each in programs
        ]
        tally["runs"] += 1
        for other in others:
            if isinstance(other, OutOfFuel):
                tally["out of fuel"] += 1
                continue
            wrong = disagreement(first, other)
            if wrong is not None:
                return f"{wrong[:600]}\n{module}\n{values}"
    return ""


if __name__ == "__main__":
    long_run(check)
