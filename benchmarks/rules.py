"""Which rules of the specification random programs reach: ``python -m benchmarks.rules [COUNT]``.

Every program is checked, normalised, and run on both backends with inputs of a random size; every
fourth is a near miss, which is checked only. The struct infos of a program are compared with each
other, and its dynamic checks sorted. Printed are the rules that no program reached, and the rarest
of the others; the exit status is 1 if there is one of the former.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from itertools import pairwise

from rlx.checker.check import check_module, check_text
from rlx.checker.normal_form import normal_form
from rlx.checker.normalize import normalize
from rlx.generate.campaign.oracles.meaning import arguments
from rlx.generate.campaign.peer import PACKED
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import random_module
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.print.printer import print_module
from rlx.semantics.machine import load
from rlx.solver import Prover
from rlx.solver.order import (
    bind,
    compatibility,
    disjoint,
    free_shape_vars,
    glb,
    lub,
    subtype,
    to_type,
)
from rlx.spec.coverage import RuleCounts
from rlx.spec.reader import rules
from rlx.spec.registry import observing
from rlx.transform.dynamic_checks import analyse

FUEL = (100_000, 3)
"""Nearly every run has enough; one in a hundred has not."""


def right(seed: int) -> None:
    """A program that is right, before everything."""
    rng = random.Random(seed)
    module = random_module(rng)
    report = check_text(print_module(module))
    assert not report.diagnostics, f"seed {seed}: {report.diagnostics[0]}"
    normalize(module)
    analyse(module)
    infos = list(dict.fromkeys(report.info.values()))
    rng.shuffle(infos)
    infos.sort(key=lambda info: type(info).__name__)
    for one, other in pairwise(infos[:: 1 + len(infos) // 12]):
        compare(one, other)
    for name, function in module.functions.items():
        if isinstance(function, ast.Function) and "global_symbol" in function.attrs:
            given = arguments(function, rng.choice((2, 1, 0, 3)), seed)
            if given is not None:
                backend = "native" if seed % 50 == 0 else "steps"
                program = load(module, packed=PACKED, backend=backend, output=lambda _: None)
                program.run(name.name_hint, given, fuel=FUEL[seed % 100 == 0])


def compare(one: ast.StructInfo, other: ast.StructInfo) -> None:
    """Everything that is asked of two struct infos."""
    prover = Prover()
    for operation in (subtype, compatibility, lub, glb, disjoint):
        operation(one, other, prover)
    bind([one], [other], free_shape_vars(one), prover)
    to_type(one)


def near(seed: int) -> None:
    """A program in which one rule is broken."""
    rng = random.Random(seed)
    module = near_miss(rng.choice(CODES), rng)
    check_module(module, Source("near miss", ""))
    normal_form(module)


def main() -> int:
    """Print what was reached."""
    count = int(sys.argv[1]) if sys.argv[1:] else 20_000
    programs: Counter[str] = Counter()
    for seed in range(count):
        counts = RuleCounts()
        with observing(counts):
            (near if seed % 4 == 3 else right)(seed)
        programs.update(counts.applied.keys())
    missing = [name for name in rules() if not programs[name]]
    print(f"rules: {len(rules()) - len(missing)} of {len(rules())} reached by {count} programs")
    print("missing:", ", ".join(missing) or "none")
    rare = sorted((n for n in rules() if programs[n]), key=lambda n: programs[n])[:10]
    print("rarest:", ", ".join(f"{name} {programs[name]}" for name in rare))
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
