"""PrimFuncs that are compared by themselves: as functions of the same names that call them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.unused_names import Names
from rlx.semantics.machine.entries import caller_of, with_caller
from rlx.semantics.native.write_analysis import UnknownWritesError, written_parameters


def with_callers(
    before: ast.IRModule, after: ast.IRModule, names: Sequence[str]
) -> tuple[ast.IRModule, ast.IRModule]:
    """Both modules, with a function in place of each PrimFunc of a name that can be called by itself. It
    returns what the PrimFuncs leave in the buffers that one of them writes.
    """
    for name in names:
        kernels = [f for m in (before, after) if isinstance(f := m[name], tir.PrimFunc)]
        written = set[int]()
        with suppress(UnknownWritesError):
            written.update(*map(written_parameters, kernels))
        taken = {gv.name_hint for m in (before, after) for gv in m.functions}
        inner = Names(taken).new(f"{name}_loops")
        hidden = [ast.GlobalVar(inner) for _ in kernels]
        callers = [
            # all numbers first: a size of one PrimFunc may be none of the other
            caller_of(gv, f, sorted(written), [p for p in f.params if p not in f.buffer_map])
            for gv, f in zip(hidden, kernels, strict=True)
        ]
        same = all(kinds(kernel) == kinds(kernels[0]) for kernel in kernels)
        match hidden, callers:
            case (gv, other_gv), (ast.Function() as one, ast.Function() as other) if same:
                before, _ = with_caller(before, name, gv, one)
                after, _ = with_caller(after, name, other_gv, other)
    return before, after


def kinds(kernel: tir.PrimFunc) -> list[DataType | None]:
    """What a caller hands over for each parameter: a number of a type, or None, a buffer."""
    return [None if param in kernel.buffer_map else param.dtype for param in kernel.params]
