"""Compilation of a Relax module to an executable."""

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


def build(
    module: IRModule,
    *,
    passes: Sequence[ModulePass] | None = None,
    legalize: bool = False,
    reuse: bool = True,
) -> Executable:
    """Compile a module for the virtual machine.

    Parameters
    ----------
    module
        A module without errors.
    passes
        The passes that lower it; None for :func:`pipeline`. A lowered module takes ``()``.
    legalize
        Whether operators become PrimFuncs first. They then run faster, but sums of floats may be
        reordered.
    reuse
        Whether to reuse a register after the last read of its content.

    Raises
    ------
    IllFormedError
        If the checker finds errors; its ``report`` has them.
    PassError
        If a pass rejects the module, or the lowered module has something without an instruction.
    TypeError
        If `module` is not a module.
    """
    if not isinstance(module, IRModule):
        raise TypeError(f"expected a module, found {type(module).__name__}: rlx.load reads one")
    report = check_alone(module)
    if not report.ok:
        raise IllFormedError(report)
    ready = _legalized(module) if legalize else module
    lowered = (pipeline() if passes is None else Sequential(passes))(ready)
    return generate(lowered, source=module, reuse=reuse)


def _legalized(module: IRModule) -> IRModule:
    from rlx.transform.legalization import legalize

    return legalize(module)
