"""``python -m tests.refine.conditions [NAME…]``: a run fails wherever a condition on shapes does not hold.

`rlx.refines` takes what an operator of BEFORE requires of sizes as known in AFTER. Here legal calls get a size of its own for each
dimension, so that little is known of them, and are run with sizes at which a condition does not hold: none may return a value.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator

import rlx
from rlx.checker.check import check_text
from rlx.grammar.nodes import ast, tir
from rlx.refine.definitions import Definitions
from rlx.refine.execute import Execution, SharedPrimFuncs
from rlx.refine.lowered import Unreadable
from rlx.semantics.outcome import Returned
from rlx.semantics.run.inputs import inputs
from rlx.solver.evaluate import UndefinedError, evaluate
from tests.transform.legalization import law

SIZES = (0, 1, 2, 3, 4)
RUNS = 8


def apart(text: str) -> str:
    """A program in which each dimension of a parameter that is a name is another size."""
    count = 0

    def renamed(found: re.Match[str]) -> str:
        nonlocal count
        dims = []
        for dim in filter(None, map(str.strip, found[1].split(","))):
            count += 1
            dims.append(f'"z{count}"' if dim.strip('"').isidentifier() else dim)
        return f"R.Tensor(({', '.join(dims)},),"

    lines = []
    for line in text.splitlines():
        if "def main(" in line:
            line = re.sub(r"R\.Tensor\(\(([^)]*)\),", renamed, re.sub("->.*:$", ":", line))
        lines.append(line)
    return "\n".join(line for line in lines if "TypeVar" not in line) + "\n"


def conditions(module: ast.IRModule, function: ast.Function) -> list[tir.PrimExpr]:
    """The conditions on sizes that the calls of a function require."""
    definitions = Definitions()
    run = Execution(module, definitions, SharedPrimFuncs())
    values = [
        definitions.value_of(p.struct_info_annotation, ("parameter", k))
        for k, p in enumerate(function.params)
        if p.struct_info_annotation is not None
    ]
    try:
        run.entry("main", values)
    except Unreadable:
        return []
    return [each.condition for each in run.checks if each.condition is not None]


def wrong(name: str) -> Iterator[str]:
    """Runs of an operator that return a value although a condition does not hold."""
    for template in law.templates(name, 2, random.Random(0)):
        report = check_text(apart(str(law.case(name, template).module)))
        if not report.ok:
            continue
        (module,) = report.modules
        function = module["main"]
        assert isinstance(function, ast.Function)
        required = conditions(module, function)
        rng = random.Random(1)
        for seed in range(RUNS if required else 0):
            sizes = {var: rng.choice(SIZES) for var in function.shape_vars}
            try:
                failing = [c for c in required if not evaluate(c, sizes)]
                made = inputs(function, {v.name: str(n) for v, n in sizes.items()}, seed)
            except (UndefinedError, ValueError):
                continue
            if failing and isinstance(rlx.run(module, None, made.values), Returned):
                named = {var.name: size for var, size in sizes.items()}
                yield f"{name}: returns with {named}, although {failing[0]} does not hold"


def main(names: list[str]) -> int:
    """Print the runs that should have failed."""
    found = [words for name in names or law.DEFINED for words in wrong(name)]
    print(
        "\n".join(
            [*dict.fromkeys(found), f"{len(names or law.DEFINED)} operators, {len(found)} wrong"]
        )
    )
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
