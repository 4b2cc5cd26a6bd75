"""Modules after single passes of TVM: what each leaves behind has its own look."""

from __future__ import annotations

from collections.abc import Callable

import tvm
from tvm import relax
from tvm.relax import transform
from tvm.s_tir.dlight import ApplyDefaultSchedule, gpu

from . import constructs, models
from .networks.layers import Module

Pass = Callable[[Module], Module]


def _pipeline(*names: str) -> Pass:
    """Passes without arguments, one after the other."""
    return tvm.transform.Sequential([getattr(transform, name)() for name in names])  # type: ignore[no-any-return]


def _scheduled(module: Module) -> Module:
    """Fused and scheduled by TVM's rules for a GPU: thread bindings, shared memory, predicates."""
    rules = [gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback()]
    limits = {"max_threads_per_block": 1024, "max_shared_memory_per_block": 49152}
    with tvm.target.Target({"kind": "cuda", "arch": "sm_80", "thread_warp_size": 32, **limits}):
        return ApplyDefaultSchedule(*rules)(relax.get_pipeline("zero")(module))


_MEMORY = (
    "LegalizeOps",
    "RewriteDataflowReshape",
    "ToNonDataflow",
    "RemovePurityChecking",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
)

PASSES: dict[str, tuple[str, Pass]] = {
    "mixed precision": ("convnet", _pipeline("ToMixedPrecision")),
    "mixed precision with attention": ("diffusion", _pipeline("ToMixedPrecision")),
    "another layout": ("convnet", transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})),
    "batch norm decomposed": ("convnet", _pipeline("DecomposeOpsForInference")),
    "batch norm decomposed for training": ("convnet", _pipeline("DecomposeOpsForTraining")),
    "batch norm folded": ("convnet", _pipeline("FoldBatchnormToConv2D")),
    "parameters transformed apart": ("encoder_decoder", _pipeline("LiftTransformParams")),
    "parameters in one tuple": ("encoder_decoder", _pipeline("BundleModelParams")),
    "calls in place": ("encoder_decoder", _pipeline("DataflowUseInplaceCalls")),
    "calls in place of PrimFuncs": ("experts", _pipeline("LegalizeOps", "DataflowUseInplaceCalls")),
    "parallel matmuls combined": ("encoder_decoder", _pipeline("CombineParallelMatmul")),
    "matmuls fused with transposes": ("encoder_decoder", _pipeline("FuseTransposeMatmul")),
    "dimensions given": ("encoder_decoder", transform.BindSymbolicVars({"b": 2})),
    "operators grouped": (
        "diffusion",
        _pipeline("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"),
    ),
    "no dataflow": ("encoder_decoder", _pipeline("ToNonDataflow")),
    "destinations passed": ("encoder_decoder", _pipeline(*_MEMORY[:-1])),
    "memory planned": ("experts", _pipeline(*_MEMORY)),
    "memory planned for a GPU": (
        "convnet",
        _pipeline(*_MEMORY, "RewriteCUDAGraph", "LowerAllocTensor"),
    ),
    "scheduled for a GPU": ("decoder4", _scheduled),
    "a convnet scheduled for a GPU": ("convnet", _scheduled),
    "sorting scheduled for a GPU": ("experts", _scheduled),
    "devices resolved": ("devices", _pipeline("RealizeVDevice")),
    "dataflow found": ("long_function", _pipeline("ConvertToDataflow")),
    "recursion lowered": ("recursion", models.lowered),
    "casts lowered": ("match_cast", models.lowered),
    "packed calls lowered": ("packed", models.lowered),
}


def apply(name: str) -> Module:
    """The module after that pass."""
    source, run = PASSES[name]
    model = models.MODELS.get(source)
    return run(model() if model else constructs.build(source))
