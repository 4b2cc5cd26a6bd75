"""PrimFuncs that are compared by themselves: as functions of the same names that call them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rlx.grammar.nodes import ast, tir
from rlx.semantics.run.kernels import UnknownWrites, caller, put_caller, unused, written_parameters


def with_callers(
    before: ast.IRModule, after: ast.IRModule, names: Sequence[str]
) -> tuple[ast.IRModule, ast.IRModule]:
    """Both modules, with a function in place of each PrimFunc of a name that has buffers, and sizes of
    them, as parameters. It returns what the PrimFuncs leave in the buffers that one of them writes.
    """
    for name in names:
        kernels = [f for m in (before, after) if isinstance(f := m[name], tir.PrimFunc)]
        written = set[int]()
        with suppress(UnknownWrites):
            written.update(*map(written_parameters, kernels))
        taken = {gv.name_hint for m in (before, after) for gv in m.functions}
        inner = unused(f"{name}_loops", taken)
        hidden = [ast.GlobalVar(inner) for _ in kernels]
        callers = [caller(*each, sorted(written)) for each in zip(hidden, kernels, strict=True)]
        match hidden, callers:
            case (gv, other_gv), (ast.Function() as one, ast.Function() as other):
                before = put_caller(before, name, gv, one)
                after = put_caller(after, name, other_gv, other)
    return before, after
