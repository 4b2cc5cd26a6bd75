"""Constant folding of shapes."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule, TensorStructInfo
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order.substitute import dimensions
from rlx.transform.arguments import operands
from rlx.transform.passes.numbers import folded, in_new_shape
from rlx.transform.visitors.mutator import ExprMutator


class _Fold(ExprMutator):
    """Asks the builder for the shape of what `R.shape_of` is given."""

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        match made:
            case ast.Call(op_name="relax.shape_of"):
                (tensor,) = operands(made)
                info = self.builder.struct_info(tensor)
                known = dimensions(info) if isinstance(info, TensorStructInfo) else None
                if known is not None and all(self.is_bound(dim) for dim in known):
                    return ast.ShapeExpr(known)
            case ast.Call(op_name="relax.reshape", args=(whole, wanted, *rest)):
                _, given, *_ = call.args
                shape = in_new_shape(given, wanted)
                if shape is not wanted:
                    return replace(made, args=(whole, shape, *rest))
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
