"""Constant folding of shapes."""

from __future__ import annotations

from rlx.grammar import ast, tir
from rlx.grammar.ast import Expr, IRModule, TensorStructInfo
from rlx.grammar.node import replace
from rlx.grammar.tir import PrimExpr
from rlx.solver.order.substitute import dimensions
from rlx.transform.passes.numbers import folded, in_new_shape
from rlx.transform.patterns.arguments import operands
from rlx.transform.visitors.mutator import ExprMutator


class _Fold(ExprMutator):
    """Asks the builder for the shape of what `R.shape_of` is given."""

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        if isinstance(made, ast.Call) and made.op_name == "relax.shape_of":
            info = self.builder.struct_info(operands(made)[0])
            known = dimensions(info) if isinstance(info, TensorStructInfo) else None
            if known is not None and all(self.is_bound(dim) for dim in known):
                return ast.ShapeExpr(known)
        if isinstance(made, ast.Call) and made.op_name == "relax.reshape" and len(call.args) > 1:
            shape = in_new_shape(call.args[1], made.args[1])
            if shape is not made.args[1]:
                return replace(made, args=(made.args[0], shape, *made.args[2:]))
        return made

    def visit_prim_expr(self, value: PrimExpr) -> PrimExpr:
        return folded(value)

    def is_bound(self, dim: PrimExpr) -> bool:
        """Whether a text can say a dimension here: it is a number, or a variable in scope."""
        in_scope = dim in self.builder.shape_vars.values()
        return isinstance(dim, tir.IntImm) or in_scope


def fold_shapes(module: IRModule) -> IRModule:
    """Replace known shapes in a module by literals."""
    return _Fold()(module)
