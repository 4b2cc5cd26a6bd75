"""``python -m tests.tvm.same_passes FILE… | COUNT SEED``: our passes beside TVM's of the same name.

Each module of files, or each generated program, goes through both. The results are equal (structurally, as TVM compares), proved to mean the same by
`rlx.refines`, or different; of different ones the first lines that differ are shown.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from typing import Any

import tvm
from tvm.relax import transform
from tvm_ffi import structural_equal

import rlx
from rlx.generate.campaign.programs import AGAINST
from rlx.generate.programs import random_module
from rlx.grammar.nodes.ast import IRModule
from rlx.transform import (
    AttachGlobalSymbol,
    CallTIRRewrite,
    CanonicalizeBindings,
    ComputePrimValue,
    ConvertToDataflow,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    ExpandTupleArguments,
    FoldConstant,
    InlinePrivateFunctions,
    LambdaLift,
    Normalize,
    RemovePurityChecking,
    RemoveUnusedOutputs,
    RemoveUnusedParameters,
    ToNonDataflow,
    TopologicalSort,
)
from tests.transform.passes import modules

Pass = Callable[[Any], Any]
PASSES: dict[str, Pass] = {
    "AttachGlobalSymbol": AttachGlobalSymbol(),
    "CallTIRRewrite": CallTIRRewrite(),
    "CanonicalizeBindings": CanonicalizeBindings(),
    "ComputePrimValue": ComputePrimValue(),
    "ConvertToDataflow": ConvertToDataflow(),
    "DeadCodeElimination": DeadCodeElimination(may_fail=True),
    "EliminateCommonSubexpr": EliminateCommonSubexpr(),
    "ExpandTupleArguments": ExpandTupleArguments(),
    "FoldConstant": FoldConstant(),
    "InlinePrivateFunctions": InlinePrivateFunctions(),
    "LambdaLift": LambdaLift(),
    "Normalize": Normalize(),
    "RemovePurityChecking": RemovePurityChecking(),
    "RemoveUnusedOutputs": RemoveUnusedOutputs(),
    "RemoveUnusedParameters": RemoveUnusedParameters(),
    "ToNonDataflow": ToNonDataflow(),
    "TopologicalSort": TopologicalSort(),
}


def in_tvm(module: IRModule) -> Any:
    """A module, read by TVM."""
    return tvm.script.from_source(rlx.show(module, "0.27"), check_well_formed=False)


def shown(module: Any) -> str:
    """TVM's text of one of its modules."""
    return str(module.script(show_meta=True))


def judged(name: str, module: IRModule) -> tuple[str, str]:
    """The comparison of the results of a pass, and the place where they differ."""
    try:
        given = in_tvm(module)
        theirs = getattr(transform, name)()(given)
    except Exception as error:  # noqa: BLE001 - TVM raises of every kind
        return "TVM refuses", str(error).strip().splitlines()[-1][:150]
    try:
        made = PASSES[name](module)
        ours = in_tvm(made)
    except Exception as error:  # noqa: BLE001 - whatever is raised is a finding
        return "rlx refuses", f"{type(error).__name__}: {error}"
    if structural_equal(ours, theirs, map_free_vars=True):
        same = structural_equal(ours, given, map_free_vars=True)
        return ("equal, unchanged" if same else "equal"), ""
    lines = list(
        unified_diff(shown(ours).splitlines(), shown(theirs).splitlines(), "rlx", "tvm", n=0)
    )
    diff = "\n".join(line for line in lines[2:16])
    report = rlx.check(shown(theirs))
    if not report.ok:
        return "TVM's is illegal", f"{report.errors[0]}"
    try:
        answer = rlx.refines(made, report.modules[0])
    except Exception as error:  # noqa: BLE001 - other interfaces
        return "different", f"{diff}\n{type(error).__name__}: {error}"
    return ("proved" if answer.status == "proved" else f"different ({answer.status})"), diff


def generated(count: int, seed: int) -> Iterator[tuple[str, IRModule]]:
    """Generated programs that TVM reads."""
    for number in range(seed, seed + count):
        yield f"program {number}", random_module(random.Random(number), AGAINST["tvm"])


def main(args: Sequence[str]) -> None:
    """Print the differences, and how often each pass made what TVM's makes."""
    names = [each for each in args if each in PASSES] or list(PASSES)
    rest = [each for each in args if each not in PASSES]
    given = generated(int(rest[0]), int(rest[1])) if rest[0].isdigit() else modules(rest)
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for place, module in given:
        for name in names:
            kind, where = judged(name, module)
            counts[name][kind] += 1
            if kind.startswith(("different", "rlx", "proved", "TVM's")):
                print(f"-- {name}, {place}: {kind}\n{where}", flush=True)
    for name, found in counts.items():
        print(f"{name:24} {dict(found)}")


if __name__ == "__main__":
    main(sys.argv[1:])
