"""``python -m tests.refine.operators [NAME…]``: operators against the loops that legalisation makes of them.

For each operator that has a definition: random legal calls of it, which are compared with their PrimFuncs, for all sizes.
"""

from __future__ import annotations

import random
import sys
from collections import Counter

import rlx
from rlx.checker.check import check_alone
from rlx.generate.programs import random_module
from rlx.generate.programs.plan import Options
from rlx.operators import lookup
from rlx.operators.registry import every_name
from rlx.refine.answer import Refinement
from rlx.transform.legalization import legalize

CALLS = 4
FEATURES = frozenset({"symbolic"})


def defined() -> list[str]:
    """The operators with a definition."""
    return [
        name
        for name in every_name()
        if (found := lookup(f"relax.{name}")) is not None and found.definition is not None
    ]


def answers(name: str, calls: int = CALLS) -> list[Refinement]:
    """What is answered for random calls of an operator."""
    found = []
    for seed in range(calls * 4):
        module = random_module(random.Random(seed), Options(1, FEATURES, (name,)))
        if not check_alone(module).ok:
            continue
        made = legalize(module)
        if not any(type(f).__name__ == "PrimFunc" for f in made.functions.values()):
            continue
        found.append(rlx.refines(module, made, floats="real"))
        if len(found) == calls:
            break
    return found


def main(names: list[str]) -> None:
    """Print a line for each operator, and how many are proved for all of their calls."""
    total: Counter[str] = Counter()
    for name in names or defined():
        try:
            found = answers(name)
        except Exception as error:  # noqa: BLE001 - a fault of one operator is a line of the list
            total["error"] += 1
            print(f"{name:34} {type(error).__name__}: {error}"[:200], flush=True)
            continue
        kinds = Counter(each.level or each.status for each in found)
        words = next((each.reason for each in found if not each.proved), "")
        whole = "none" if not found else "proved" if all(f.proved for f in found) else "not proved"
        total[whole] += 1
        if whole != "proved":
            print(f"{name:34} {dict(kinds)} {words}"[:300], flush=True)
    print(dict(total))


if __name__ == "__main__":
    main(sys.argv[1:])
