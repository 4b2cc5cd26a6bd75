"""TVM as the peer of a campaign: everything that is asked of it, in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PASSES = [
    "CanonicalizeBindings",
    "ConvertToDataflow",
    "DeadCodeElimination",
    "EliminateCommonSubexpr",
    "ExpandTupleArguments",
    "FoldConstant",
    "InlinePrivateFunctions",
    "LambdaLift",
    "Normalize",
    "RemoveUnusedOutputs",
    "RemoveUnusedParameters",
    "ReorderPermuteDimsAfterConcat",
    "ReorderTakeAfterMatmul",
    "CombineParallelMatmul",
    "AdjustMatmulOrder",
    "ExpandMatmulOfSum",
    "ComputePrimValue",
    "UpdateParamMutation",
    "DecomposeOpsForInference",
    "DecomposeOpsForTraining",
    "TopologicalSort",
    "SplitCallTIRByPattern",
    "ToNonDataflow",
    "LegalizeOps",
    "RewriteDataflowReshape",
    "RemovePurityChecking",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
    "LiftTransformParams",
    "NormalizeGlobalVar",
    "BundleModelParams",
    "AnnotateTIROpPattern",
    "FuseOps",
    "FuseTIR",
    "SimplifyExpr",
    "FastMathTransform",
]
"""Passes of TVM that keep the meaning of a program, those that this version has and that need no arguments."""

BEFORE: dict[str, Sequence[str]] = {
    "AnnotateTIROpPattern": ("LegalizeOps",),
    "FuseOps": ("LegalizeOps", "AnnotateTIROpPattern"),
    "FuseTIR": ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"),
    "RewriteDataflowReshape": ("LegalizeOps",),
    "CallTIRRewrite": ("LegalizeOps", "ToNonDataflow", "RemovePurityChecking"),
    "StaticPlanBlockMemory": (
        "LegalizeOps",
        "ToNonDataflow",
        "RemovePurityChecking",
        "CallTIRRewrite",
    ),
    "RemovePurityChecking": ("ToNonDataflow",),
}
"""What must be done before a pass; these are passes of their own, so what they break is not laid to it."""


class Peer:
    """TVM, imported where it is asked for."""

    def __init__(self) -> None:
        import tvm
        from tvm import relax

        self.tvm: Any = tvm
        self.relax: Any = relax

    def read(self, text: str) -> Any:
        """The module of a text; raises whatever TVM raises."""
        return self.tvm.script.from_source(text, check_well_formed=False)

    def well_formed(self, module: Any) -> bool:
        """What TVM says of a module."""
        return bool(self.relax.analysis.check_well_formed(module))

    def print(self, module: Any) -> str:
        """The module as TVM writes it."""
        return str(module.script(show_meta=True))

    def equal(self, one: Any, other: Any) -> bool:
        """Structural equality."""
        return bool(self.tvm.ir.structural_equal(one, other, map_free_vars=True))

    def passes(self) -> list[tuple[str, Callable[[Any], Any]]]:
        """The passes that this version has."""
        found = []
        for name in PASSES:
            make = getattr(self.relax.transform, name, None)
            if make is None:
                continue
            try:
                found.append((name, make()))
            except TypeError:
                continue
        return found

    def compiled(self, module: Any) -> Any:
        """The module's virtual machine on the processor."""
        executable = self.relax.build(module, target="llvm")
        return self.relax.VirtualMachine(executable, self.tvm.cpu())
