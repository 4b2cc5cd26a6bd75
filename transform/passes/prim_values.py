"""Scalars of shape variables, computed by PrimFuncs."""

from __future__ import annotations

from rlx.checker.derive.module import prim_func
from rlx.checker.prim_funcs.check import prim_funcs
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.visitors.mutator import ExprMutator


class ComputePrimValue(ModulePass):
    """Scalars that are computed from shape variables, as in ``R.prim_value(n * n)``, become calls
    of PrimFuncs. Numbers and single variables stay, and what may have an effect or surely fails.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with calls in place of scalars."""
        return _Computed()(module)


class _Computed(ExprMutator):
    def visit_prim_value(self, value: ast.PrimValue) -> Expr:
        scalar = value.value
        if isinstance(scalar, tir.Var | tir.IntImm | tir.FloatImm):
            return value
        params = tuple(dict.fromkeys(tir.free_vars(scalar)))
        function = tir.PrimFunc(
            params,
            tir.Evaluate(tir.Call("ret", (scalar,))),
            tir.type_of(scalar),
            {},
            {"private": True, "s_tir": True, "tirx.is_host_func": True},
        )
        if not prim_func(function).purity or prim_funcs(IRModule({ast.GlobalVar(""): function})):
            return value  # a pure function could not call it, or it divides by a literal 0
        gv = self.builder.add_func(function, "compute_symbolic_expr")
        return ast.Call(gv, tuple(map(ast.PrimValue, params)))
