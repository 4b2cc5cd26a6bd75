"""Executables of modules: compiled, or as an earlier process compiled them.

What only compilation needs is imported by it, so that a build that finds its result starts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import IRModule
from rlx.semantics.native.kept import kept
from rlx.vm.executable import Executable
from rlx.vm.linking import know, known

if TYPE_CHECKING:
    from rlx.transform.lowering.passes import ModulePass


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
    if passes is not None:
        from rlx.vm.compilation import compiled

        return compiled(module, passes, legalize, reuse)
    kind = f"executable {'legalized' if legalize else 'plain'} {reuse}"
    made, functions = kept(
        kind,
        module,
        lambda: _with_kernels(module, legalize, reuse),
        parts=lambda found: found[1].values(),
    )
    for (name, text), func in functions.items():
        know(name, text, func)
    return made


def _with_kernels(
    module: IRModule, legalize: bool, reuse: bool
) -> tuple[Executable, dict[tuple[str, str], tir.PrimFunc]]:
    """An executable, and the PrimFuncs that its texts were printed from."""
    from rlx.vm.compilation import compiled

    made = compiled(module, None, legalize, reuse)
    found = {(name, text): known(name, text) for name, text in made.kernels.items()}
    return made, {key: func for key, func in found.items() if func is not None}
