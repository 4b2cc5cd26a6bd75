"""Speed, validity and variety of the generated programs.

``python benchmarks/generate.py [rate] [examples] [check] [tvm] [operators] [near] [--count N]``
prints the figures asked for (all of them without a name). Rates are modules in a second of
processor time, on one core.
"""

from __future__ import annotations

import argparse
import random
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable

from rlx.checker.check import check_module, check_text
from rlx.checker.normal_form import normal_form
from rlx.generate.campaign.peer import Peer
from rlx.generate.campaign.programs import AGAINST
from rlx.generate.near import CODES, near_miss
from rlx.generate.near.modules import FORMS
from rlx.generate.programs import random_module
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import print_module
from rlx.operators.registry import families

TVM_IS_WRONG = {
    r"IRModule frame not find": "TVM's parser does not look up a device inside of a local function",
    r"Var \w+ is not defined": (
        "TVM forgets shape variables of a cast in the signature of a local function"
    ),
    r"Expected `Array<ir.Type>`": (
        "TVM's parser takes no R.Any among the types of invoke_pure_closure"
    ),
    r"Cannot redefine a non-PrimType": (
        "TVM takes a shape variable of one function for that of another's signature with the same"
        " name"
    ),
}
"""Errors of TVM about correct programs, with their causes."""


def rate(count: int) -> None:
    """Modules of ten steps, made from random numbers."""
    for seed in range(3000):  # templates are derived at their first use
        random_module(random.Random(seed))
    started, bindings = time.process_time(), 0
    for seed in range(count):
        module = random_module(random.Random(seed))
        bindings += sum(map(_bindings, module.functions.values()))
    passed = time.process_time() - started
    print(f"rate: {count / passed:.0f} modules/s of {bindings / count:.1f} bindings on average")


def _bindings(function: object) -> int:
    if not isinstance(function, ast.Function):
        return 0
    return sum(
        len(block.bindings)
        for expr in expressions(function)
        if isinstance(expr, ast.SeqExpr)
        for block in expr.blocks
    )


def examples(count: int) -> None:
    """Examples inside of Hypothesis."""
    from hypothesis import HealthCheck, given, settings

    from rlx.generate import modules

    made: list[object] = []

    @settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(modules())
    def run(module: ast.IRModule) -> None:
        made.append(module)

    started = time.process_time()
    run()
    print(f"examples: {len(made) / (time.process_time() - started):.0f}/s inside of Hypothesis")


def check(count: int) -> None:
    """Modules in which the checker finds nothing."""
    found: Counter[str] = Counter()
    for seed in range(count):
        report = check_text(print_module(random_module(random.Random(seed))))
        found.update(f"seed {seed}: {d.code} {d.message}" for d in report.diagnostics[:1])
    print(f"check: {count - len(found)} of {count} modules pass", *found, sep="\n  ")


def tvm(count: int) -> None:
    """Modules that TVM reads and finds well-formed."""
    warnings.filterwarnings("ignore")
    peer = Peer()
    known: Counter[str] = Counter()
    other: list[str] = []
    for seed in range(count):
        text = print_module(random_module(random.Random(seed), AGAINST["tvm"]), "0.27")
        try:
            peer.relax.analysis.well_formed(peer.read(text))
        except Exception as error:  # noqa: BLE001 - whatever TVM raises
            words = str(error)
            reason = next(
                (why for what, why in TVM_IS_WRONG.items() if re.search(what, words)), None
            )
            if reason is None:
                other.append(f"seed {seed}: {words.strip()[-300:]}")
            else:
                known[reason] += 1
    right = count - len(other) - sum(known.values())
    print(f"tvm: {right} of {count} modules are well-formed", *other, sep="\n  ")
    for reason, times in known.items():
        print(f"  {times} times: {reason}")


def operators(count: int) -> None:
    """Operators that occur."""
    used: Counter[str] = Counter()
    for seed in range(count):
        for function in random_module(random.Random(seed)).relax_functions.values():
            used.update(e.op_name for e in expressions(function) if isinstance(e, ast.Op))
    declared = [f"relax.{name}" for names in families().values() for name in names]
    missing = [name for name in declared if not used[name]]
    rarest = min(declared, key=lambda name: used[name])
    reached = len(declared) - len(missing)
    print(f"operators: {reached} of {len(declared)} in {count} programs; ", end="")
    print(
        f"missing: {', '.join(missing)}"
        if missing
        else f"the rarest, {rarest}, {used[rarest]} times"
    )


def near(count: int) -> None:
    """Near misses that the checker names with the right code; alone, where nothing else is
    reported.
    """
    each = max(1, count // len(CODES))
    named = alone = 0
    for code in CODES:
        hits = 0
        for seed in range(each):
            module = near_miss(code, random.Random(seed))
            found = (
                normal_form(module)
                if code in FORMS
                else list(check_module(module, Source("near miss", "")).diagnostics)
            )
            codes = {d.code for d in found}
            hits += code in codes
            alone += codes == {code}
        named += hits
        if hits < each:
            print(f"  {code}: {hits} of {each}")
    total = each * len(CODES)
    print(
        f"near: {named} of {total} near misses named ({named / total:.1%}), {alone} with nothing"
        " else said"
    )


FIGURES: dict[str, tuple[Callable[[int], None], int]] = {
    "rate": (rate, 3000),
    "examples": (examples, 1000),
    "check": (check, 10_000),
    "tvm": (tvm, 10_000),
    "operators": (operators, 20_000),
    "near": (near, 3000),
}


def main() -> None:
    """Print the figures asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", choices=[*FIGURES, []])
    parser.add_argument("--count", type=int)
    given = parser.parse_args()
    for name in given.figures or FIGURES:
        figure, count = FIGURES[name]
        figure(given.count or count)


if __name__ == "__main__":
    main()
