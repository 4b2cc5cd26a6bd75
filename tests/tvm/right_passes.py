"""A law about `rlx bisect` and `rlx.tvm.Instrument`: a pass that is right is never accused.

`python -m tests.tvm.right_passes 50 SEED` takes the examples, programs whose parameters are weights, and 50 generated programs through TVM's passes, each pass
alone and in pipelines. An accusation is right if TVM's own check refuses what the pass made, or a finding that is no difference by choice describes it.
`test_right_passes.py` does the same with a few programs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax import transform

import rlx
from rlx.generate.campaign.finding import Finding, family
from rlx.generate.campaign.finding_file import FindingFile, read_entries
from rlx.generate.campaign.known_causes import explanation
from rlx.generate.campaign.oracles.meaning import how, ruling
from rlx.generate.campaign.programs import AGAINST
from rlx.generate.programs import random_module
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.tvm import Problem

ROOT = Path(__file__).parents[2]
FINDINGS = ROOT / "findings"
Make = Callable[[Any], Any]

ALONE = (
    *("AdjustMatmulOrder", "AllocateWorkspace", "AttachAttrLayoutFreeBuffers"),
    *("AttachGlobalSymbol", "BundleModelParams", "CanonicalizeBindings"),
    *("CombineParallelMatmul", "ComputePrimValue", "ConvertToDataflow"),
    *("DataflowUseInplaceCalls", "DeadCodeElimination", "DecomposeOpsForInference"),
    *("DecomposeOpsForTraining", "EliminateCommonSubexpr", "ExpandMatmulOfSum"),
    *("ExpandTupleArguments", "FastMathTransform", "FoldBatchnormToConv2D", "FoldConstant"),
    *("FuseTransposeMatmul", "InlinePrivateFunctions", "LambdaLift", "LazyGetInput"),
    *("LazySetOutput", "LazyTransformParams", "LegalizeOps", "LiftTransformParams", "Normalize"),
    *("NormalizeGlobalVar", "OptimizeLayoutTransform", "RealizeVDevice", "RemovePurityChecking"),
    *("RemoveRedundantReshape", "RemoveUnusedOutputs", "RemoveUnusedParameters"),
    *("ReorderPermuteDimsAfterConcat", "ReorderTakeAfterMatmul", "RewriteDataflowReshape"),
    *("ToMixedPrecision", "ToNonDataflow", "TopologicalSort"),
)
TOGETHER = (
    ("LegalizeOps", "AnnotateTIROpPattern", "FoldConstant", "FuseOps", "FuseTIR"),
    (
        *("LegalizeOps", "RewriteDataflowReshape", "ToNonDataflow", "RemovePurityChecking"),
        *("CallTIRRewrite", "StaticPlanBlockMemory", "LowerAllocTensor", "KillAfterLastUse"),
        "LowerRuntimeBuiltin",
    ),
    ("LiftTransformParams", "LegalizeOps", "BundleModelParams"),
)
WEIGHTS = """
@I.ir_module
class Module:
    @R.function
    def main({params}) -> R.Tensor((4,), "float32"):
        R.func_attr({{"num_input": 1}})
        with R.dataflow():
            w1 = R.add(w, {other})
            y = R.multiply(x, w1)
            z = R.subtract(y, {last})
            R.output(z)
        return z
"""


def weights() -> Iterator[tuple[str, str]]:
    """Programs whose parameters from the second on are weights."""
    for names in (("x", "w"), ("x", "w", "v"), ("x", "v", "w"), ("x", "w", "v", "u")):
        params = ", ".join(f'{name}: R.Tensor((4,), "float32")' for name in names)
        for other in {"w", names[-1]}:
            text = WEIGHTS.format(params=params, other=other, last=names[1])
            yield f"weights {names} {other}", text


def examples() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "examples").glob("*.rlx")):
        yield path.name, rlx.show(rlx.load(path))


def generated(count: int, seed: int) -> Iterator[tuple[str, str]]:
    for at in range(seed * 1_000_000, seed * 1_000_000 + count):
        options = replace(AGAINST["tvm"], size=4)
        yield f"seed {at}", print_module(random_module(random.Random(at), options))


def bind_last(module: Any) -> Any:
    """Give the last parameter of `main` its value."""
    last = module["main"].params[-1]
    value = np.full([int(size) for size in last.ty.shape], 0.5, str(last.ty.dtype))
    return transform.BindParams("main", {str(last.name): value})(module)


def pipelines() -> Iterator[tuple[str, Make]]:
    for names in (*((name,) for name in ALONE), *TOGETHER):
        made = tvm.transform.Sequential([getattr(transform, name)() for name in names])
        yield " ".join(names), made
    yield "BindParams", bind_last
    yield "BindSymbolicVars", transform.BindSymbolicVars({"n": 3})
    for name in ("zero", "default", "default_build"):
        yield name, relax.get_pipeline(name)


@tvm.ir.instrument.pass_instrument
class _Kept:
    """Keeps what passes make, by its text."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def run_after_pass(self, module: Any, info: Any) -> None:
        self.made[module.script(show_meta=True)] = module


def accusations(text: str, make: Make) -> list[tuple[Problem, Any]]:
    """An instrument's answer about each pass, with the module that the pass made."""
    module = tvm.script.from_source(text, check_well_formed=False)
    if not isinstance(module, tvm.IRModule):
        module = tvm.IRModule({"main": module})
    kept: Any = _Kept()
    instrument: Any = rlx.tvm.Instrument(run=True, stop=False, known=FINDINGS)
    try:
        with (
            tvm.target.Target("llvm"),
            tvm.transform.PassContext(opt_level=3, instruments=[kept, instrument]),
        ):
            make(module)
    except Exception:  # noqa: BLE001, S110 - a pass that raises an error accuses itself
        pass
    return [(problem, kept.made[problem.after]) for problem in instrument.problems]


def is_right(problem: Problem, made: Any, table: Sequence[FindingFile]) -> bool:
    """Whether TVM's own check, or a finding, says the same of the pass."""
    if problem.kind == "illegal":
        try:
            if not relax.analysis.check_well_formed(made):
                return True
        except Exception:  # noqa: BLE001 - how TVM refuses
            return True
    code = problem.report.errors[0].code if problem.report.errors else ""
    if any(entry.rule == code for entry in table):
        return True
    said = problem.message
    rule, cause = (code, code) if code else (ruling(said), how(said))
    traits = {entry.trait for entry in table}
    return any(
        explanation(
            Finding(
                "wrong-code",
                "passes",
                problem.pass_name,
                cause,
                said,
                rule,
                problem.before,
                0,
                trait,
            ),
            [e for e in table if family(e.stage) == family(problem.pass_name)],
        )
        for trait in traits
    )


def wrong(programs: Iterator[tuple[str, str]], shares: int = 1) -> Iterator[str]:
    """Accusations that nobody else confirms; of so many programs in a row, each takes its share of the pipelines."""
    table = [entry for entry in read_entries(FINDINGS) if entry.kind != "by-choice"]
    for number, (name, text) in enumerate(programs):
        for title, make in islice(pipelines(), number % shares, None, shares):
            for problem, made in accusations(text, make):
                if not is_right(problem, made, table):
                    yield f"{name}, {title}: {problem.kind}: {problem}"


def main(argv: Sequence[str]) -> int:
    """Print what is wrong; 1 if anything is."""
    count, seed = int(argv[0]), int(argv[1]) if len(argv) > 1 else 0
    failed = 0
    for programs in (weights(), examples(), generated(count, seed)):
        for said in wrong(programs):
            print(said, flush=True)
            failed += 1
    print(f"{failed} passes that are right were accused")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
