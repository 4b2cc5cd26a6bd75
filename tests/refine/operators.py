"""``python -m tests.refine.operators [--tvm] [NAME…]``: operators against the loops that legalisation makes of them.

For each operator that has a definition: legal calls of it, each compared with its PrimFunc for all sizes. ``--tvm`` takes the
PrimFuncs of TVM's LegalizeOps instead of ours.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator

import rlx
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import replace
from rlx.refine.answer import Refinement
from rlx.transform.legalization import legalize
from tests.transform.legalization import law


def tvms(module: ast.IRModule) -> ast.IRModule:
    """What TVM's LegalizeOps makes of a module.

    Raises
    ------
    ValueError
        If TVM refuses it.
    """
    import tvm

    try:
        given = tvm.script.from_source(str(module), check_well_formed=False)
        made = tvm.relax.transform.LegalizeOps()(given).script(show_meta=True)
    except Exception as error:
        raise ValueError(f"TVM: {type(error).__name__}") from error
    return rlx.parse(made)


def answers(name: str, calls: int, tvm: bool) -> Iterator[tuple[ast.IRModule, Refinement]]:
    """What is answered for calls of an operator."""
    for template in law.templates(name, calls, random.Random(0)):
        module = law.case(name, template).module
        try:
            made = tvms(module) if tvm else legalize(module)
        except ValueError:
            continue
        if any(isinstance(f, tir.PrimFunc) for f in made.functions.values()):
            found = rlx.refines(module, made, floats="real")
            if not found.proved:  # TVM reduces over nothing in another way
                (entry,) = (f for f in module.functions.values() if isinstance(f, ast.Function))
                some = [f"{var.name} >= 1" for var in entry.shape_vars]
                again = rlx.refines(module, made, floats="real", assume=some) if some else found
                if again.proved:
                    found = replace(found, status="proved", level=f"{again.level}, sizes >= 1")
            yield made, found


def main() -> None:
    """Print a line for each operator that is not proved for all its calls, and how many there are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=law.DEFINED)
    parser.add_argument("--tvm", action="store_true")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--show", action="store_true", help="print the PrimFuncs that differ")
    options = parser.parse_args()
    operators: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for name in options.names:
        begun = time.process_time()
        try:
            found = list(answers(name, options.calls, options.tvm))
        except Exception as error:  # noqa: BLE001 - a fault of one operator is a line of the list
            operators["error"] += 1
            print(f"{name:28} {type(error).__name__}: {error}"[:300], flush=True)
            continue
        kinds = Counter(answer.level or answer.status for _, answer in found)
        pairs.update(kinds)
        open_ = [(made, answer) for made, answer in found if not answer.proved]
        operators["none" if not found else "not proved" if open_ else "proved"] += 1
        spent = time.process_time() - begun
        if open_:
            reasons = dict.fromkeys(str(answer).splitlines()[0] for _, answer in open_)
            print(f"{name:28} {dict(kinds)} {spent:.1f} s", flush=True)
            for reason in reasons:
                print(f"    {reason}"[:420], flush=True)
            for made, _ in open_ if options.show else ():
                print(made)
    print(f"operators: {dict(operators)}; calls: {dict(pairs)}")


if __name__ == "__main__":
    main()
