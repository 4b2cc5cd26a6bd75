"""Constant folding of shapes."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule, TensorStructInfo
from rlx.grammar.nodes.dtype import INT64, fits
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.overloaded import scalar
from rlx.grammar.nodes.prim_operators import BY_NODE
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.dim_arithmetic import literal
from rlx.solver.order.substitute import dimensions
from rlx.transform.arguments import operands
from rlx.transform.visitors.mutator import ExprMutator

# ---------------------------------------------------------------- literal numbers


def _is_read(dim: PrimExpr) -> bool:
    """Whether a dimension that stands in a new shape means something else than its length."""
    found = literal(dim)
    return found is not None and found <= 0


def in_new_shape(given: Expr, made: Expr) -> Expr:
    """A folded shape, unless folding would create a literal 0 or -1, which would mean a copied or
    inferred dimension.
    """
    if not isinstance(made, ast.ShapeExpr) or given is made:
        return made
    if not isinstance(given, ast.ShapeExpr):
        return given if any(_is_read(dim) for dim in made.values) else made
    pairs = zip(given.values, made.values, strict=True)
    values = [a if _is_read(b) and literal(a) is None else b for a, b in pairs]
    return replace(made, values=tuple(values))


def folded(value: PrimExpr) -> PrimExpr:
    """A scalar with arithmetic on numbers folded."""
    return tir.fold(value, _folded)


def _folded(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
    if not isinstance(node, tir.Binary) or isinstance(node, tir.Comparison):
        return node
    a, b = operands
    symbol = BY_NODE[type(node)].symbol
    if isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm) and symbol in "+-*//%":
        return _number(symbol, a, b, node)
    return tir.with_operands(node, operands, node.span)


def _number(symbol: str, a: tir.IntImm, b: tir.IntImm, node: tir.Binary) -> PrimExpr:
    """The number, if it fits into 64 bits; an overflow or a division by zero fails at run time."""
    if not symbol or (symbol in ("//", "%", "/") and (b.value == 0 or symbol == "/")):
        return type(node)(a, b, node.span)
    found = scalar(symbol, a, b)
    if isinstance(found, tir.IntImm) and fits(found.value, INT64):
        return found
    return type(node)(a, b, node.span)


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
