"""Compilation of a Relax module to an executable: the passes, and the code behind them."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.check import IllFormedError, check_alone
from rlx.grammar.nodes.ast import IRModule
from rlx.transform.lowering.calls import CallTIRRewrite
from rlx.transform.lowering.local_functions import LambdaLift
from rlx.transform.lowering.memory import StaticPlanBlockMemory, VMMemoryLower
from rlx.transform.lowering.passes import ModulePass, Sequential
from rlx.transform.lowering.shapes import VMShapeLower
from rlx.transform.lowering.structure import (
    AttachGlobalSymbol,
    Normalize,
    RemovePurityChecking,
    ToNonDataflow,
)
from rlx.vm.code_generation import generate
from rlx.vm.executable import Executable

STAGES: tuple[type[ModulePass], ...] = (
    Normalize,
    LambdaLift,
    ToNonDataflow,
    RemovePurityChecking,
    CallTIRRewrite,
    StaticPlanBlockMemory,
    VMMemoryLower,
    VMShapeLower,
    AttachGlobalSymbol,
)
"""The passes that lower a module to an executable, in order. The module after each pass can be
inspected.
"""


def pipeline() -> Sequential:
    """The passes on the way to an executable."""
    return Sequential([stage() for stage in STAGES])


def compiled(
    module: IRModule, passes: Sequence[ModulePass] | None, legalize: bool, reuse: bool
) -> Executable:
    """As :func:`rlx.vm.build`, which has the parameters; nothing is kept."""
    report = check_alone(module)
    if not report.ok:
        raise IllFormedError(report)
    ready = _legalized(module) if legalize else module
    lowered = (pipeline() if passes is None else Sequential(passes))(ready)
    return generate(lowered, source=module, reuse=reuse)


def _legalized(module: IRModule) -> IRModule:
    from rlx.transform.legalization import legalize

    return legalize(module)
