"""Values that can be computed for all inputs without failure."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo, TensorStructInfo
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.visit import evaluated
from rlx.solver.order.substitute import dimensions
from rlx.transform.patterns.arguments import operands

ELEMENTWISE = frozenset(
    f"relax.{name}"
    for name in [
        "abs",
        "ceil",
        "cos",
        "cosh",
        "erf",
        "exp",
        "floor",
        "isfinite",
        "isinf",
        "isnan",
        "negative",
        "round",
        "rsqrt",
        "sigmoid",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "tan",
        "tanh",
        "trunc",
        "nn.relu",
        "nn.gelu",
        "nn.gelu_tanh",
        "nn.silu",
        "nn.leakyrelu",
        "logical_not",
        "zeros_like",
        "ones_like",
    ]
)
"""Unary operators on floats that are defined for every element."""
PAIRWISE = frozenset(
    f"relax.{name}"
    for name in [
        "add",
        "subtract",
        "multiply",
        "maximum",
        "minimum",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
    ]
)
"""Binary operators on floats that are defined for every pair of elements."""
_GIVES_OUT = ("relax.call_tir", "relax.call_dps", "relax.vm.", "relax.builtin.", "relax.memory.")
_LEAVES = (ast.Constant, ast.StringImm, ast.DataTypeImm, ast.GlobalVar, ast.Function)


def cannot_fail(value: Expr, info: Mapping[Node, StructInfo], written: bool = True) -> bool:
    """Whether computing a value has no effect and never ends a run.

    True only for simple values: leaves, tuples and their fields, and operators on floats with
    known, matching shapes.

    Parameters
    ----------
    info
        The struct info of each expression.
    written
        Whether every value can be read, as decided by :func:`all_written`: all elements of tensors
        are written, and nothing is freed.
    """
    match value:
        case ast.Var():
            return written
        case ast.Call():
            return written and _call(value, info)
        case ast.Tuple(fields=fields):
            return all(cannot_fail(field, info, written) for field in fields)
        case ast.TupleGetItem(tuple_value=inner):
            return written and isinstance(info.get(inner), ast.TupleStructInfo)
        case ast.ShapeExpr(values=dims):
            return all(isinstance(dim, tir.Var | tir.IntImm) for dim in dims)
    return isinstance(value, _LEAVES)


def all_written(module: IRModule) -> bool:
    """Whether no call allocates an unwritten tensor or frees memory."""
    calls = evaluated(module, ast.Call)
    return not any("alloc_" in c.op_name or c.op_name.startswith(_GIVES_OUT) for c in calls)


def _call(call: ast.Call, info: Mapping[Node, StructInfo]) -> bool:
    if call.op_name in ELEMENTWISE | PAIRWISE:
        first, *rest = (_floats(info.get(arg)) for arg in operands(call))
        return first is not None and all(s is not None and _same(s, first) for s in rest)
    return call.op_name == "relax.shape_of"


def _floats(info: StructInfo | None) -> tuple[tir.PrimExpr, ...] | None:
    """The dimensions of a tensor of floats that every operator computes with."""
    if isinstance(info, TensorStructInfo) and info.dtype.is_float and info.dtype.bits >= 32:
        return dimensions(info)
    return None


def _same(a: tuple[tir.PrimExpr, ...], b: tuple[tir.PrimExpr, ...]) -> bool:
    return len(a) == len(b) and all(map(_equal, a, b))


def _equal(a: tir.PrimExpr, b: tir.PrimExpr) -> bool:
    literal = isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm) and a.value == b.value
    return a is b or literal
