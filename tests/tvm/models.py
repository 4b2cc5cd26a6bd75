"""Modules as users of TVM have them: whole networks, and the stages that TVM takes them through.

Sizes are small and structure is not: every network has the operators, the symbolic dimensions and the
nesting of its big relatives, and is exported in a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import tvm
from tvm import relax

from .networks.convnet import convnet
from .networks.decoder import decoder
from .networks.diffusion import diffusion
from .networks.encoder_decoder import encoder_decoder
from .networks.experts import experts
from .networks.layers import Module

MODELS: dict[str, Callable[[], Module]] = {
    "decoder4": lambda: decoder(4),
    "convnet": convnet,
    "diffusion": diffusion,
    "encoder_decoder": encoder_decoder,
    "experts": experts,
}


def legalized(module: Module) -> Module:
    """Every operator as a call of a PrimFunc."""
    return relax.transform.LegalizeOps()(module)


def fused(module: Module) -> Module:
    """After FuseOps and FuseTIR (with what they need before them)."""
    return relax.get_pipeline("zero")(module)


def lowered(module: Module) -> Module:
    """After the default pipeline: memory planned, storage explicit, shapes computed on a heap."""
    with tvm.target.Target("llvm"):
        return relax.get_pipeline("default_build")(module)


STAGES: dict[str, Callable[[Module], Module]] = {
    "imported": lambda module: module,
    "legalized": legalized,
    "fused": fused,
    "lowered": lowered,
}


def stages(model: str) -> Iterator[tuple[str, Module]]:
    """Yield the stages of a model, built once."""
    module = MODELS[model]()
    for name, transform in STAGES.items():
        yield name, transform(module)
