"""Short forms of the dimensions that a rule derives.

The length of a slice mentions the sliced length twice, so the length of a slice of a slice of …
would double with each step. What equals something shorter for all sizes in the context becomes
that: ``T.min(5, n + 7) - T.min(0, n + 7)`` is ``5``.
"""

from __future__ import annotations

from rlx.grammar.nodes.ast import ShapeExpr, ShapeStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.node import changed, same
from rlx.grammar.nodes.scalars import larger_than
from rlx.grammar.nodes.struct_infos import numbers, rebuilt
from rlx.grammar.nodes.tir import Add, Binary, IntImm, Mul, PrimExpr, Sub, Var
from rlx.operators.context import OperatorContext

_SHORT = frozenset([Var, IntImm])
_PLAIN = 4
"""The number of operations in a sum or product of variables that is left as it is."""
MOST = 1_000
"""The number of distinct operations and operands up to which a dimension of a derived result is
kept.
"""


def shortened(info: StructInfo, ctx: OperatorContext) -> StructInfo:
    """The struct info with every dimension in its normal form under the facts, where that is
    shorter.
    """
    if type(info) is TensorStructInfo:
        return _shortened(info, ctx)
    return rebuilt(info, lambda part: _shortened(part, ctx))


def bounded(info: StructInfo) -> StructInfo:
    """The struct info without the shapes that have a dimension of more than :data:`MOST` nodes.

    Where each function calls the one before twice, the dimensions of a derived result double with
    each function (D15).
    """
    return rebuilt(info, _bounded)


def _bounded(info: StructInfo) -> StructInfo:
    if not any(larger_than(MOST, value) for value in numbers(info)):
        return info
    if type(info) is TensorStructInfo:
        return changed(info, shape=None)
    if type(info) is ShapeStructInfo:
        return changed(info, values=None)
    return changed(info, value=None)


def _shortened(info: StructInfo, ctx: OperatorContext) -> StructInfo:
    if type(info) is TensorStructInfo:
        shape = info.shape
        if type(shape) is not ShapeExpr or not _any_long(shape.values):
            return info
        return changed(info, shape=changed(shape, values=_dims(shape.values, ctx)))
    if type(info) is ShapeStructInfo:
        if info.values is None or not _any_long(info.values):
            return info
        return changed(info, values=_dims(info.values, ctx))
    return info


def _dims(values: tuple[PrimExpr, ...], ctx: OperatorContext) -> tuple[PrimExpr, ...]:
    return same(values, [ctx.prover.shortened(v) if _is_long(v) else v for v in values])


def _any_long(values: tuple[PrimExpr, ...]) -> bool:
    return not _SHORT.issuperset(map(type, values)) and any(map(_is_long, values))


def _is_long(dim: PrimExpr) -> bool:
    """Whether a dimension is more than a short sum or product of variables and numbers."""
    stack, count = [dim], 0
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is Add or kind is Sub or kind is Mul:
            assert isinstance(node, Binary)
            count += 1
            if count > _PLAIN:
                return True
            stack += (node.a, node.b)
        elif kind not in _SHORT:
            return True
    return False
