"""Other struct infos for parameters."""

from __future__ import annotations

from collections.abc import Callable

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule, StructInfo
from rlx.grammar.nodes.node import changed, replace, same
from rlx.grammar.nodes.python_places import callable_of, spelt
from rlx.solver.order import free_shape_vars
from rlx.transform.builder.frame import head_of
from rlx.transform.builder.values import struct_info
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.visitors.mutator import ExprMutator

Change = Callable[[ast.Var], StructInfo | str | None]


class UpdateParamType(ModulePass):
    """Parameters get other struct infos. What follows from them, up to the result, is derived again;
    a program that does not fit them raises :class:`rlx.BuildError`.

    Parameters
    ----------
    change
        Called with each parameter of each Relax function; returns its new struct info, or None.
    """

    @spelt
    def __init__(self, change: Change) -> None:
        self._change = callable_of(change, "a parameter", 1)

    def apply(self, module: IRModule) -> IRModule:
        """The module with the changed parameters."""
        return _Updated(self._change)(module)


class _Updated(ExprMutator):
    strengthens = True

    def __init__(self, change: Change) -> None:
        self._change = change

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        scope = {var.name: var for var in function.shape_vars}
        params = []
        for param in function.params:
            found = self._change(param)
            if found is not None:
                info = struct_info(found, scope)
                scope |= {var.name: var for var in free_shape_vars(info)}
                made = ast.Var(param.name_hint, info, shape_var=param.shape_var)
                self.replace_var(param, made)
                param = made
            params.append(param)
        head = changed(function, params=same(function.params, params))
        if head is not function:
            alone = head_of(params, {}, True, self.place).shape_vars
            known = {*alone, *(param.shape_var for param in params)}
            kept = (var for var in function.shape_vars if var in known)
            head = replace(head, shape_vars=tuple(dict.fromkeys((*kept, *alone))))
        super().visit_global_function(gv, head)
