"""Substitution of variables and buffers in tensor expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.grammar.nodes.prim_operators import BY_INTRINSIC
from rlx.te import intrinsics
from rlx.te.linear import against_number, simplified
from rlx.te.scalar import Scalar, binary, bitwise, cast, divide, logical, negation
from rlx.te.tensor import Read

Load = Callable[[Read, tuple[Scalar, ...]], Scalar]


class Rebuild:
    """Rebuilds expressions: replaces variables and loads, and converts operands to a common type
    again.

    Parameters
    ----------
    variables
        The replacements of variables; other variables are kept.
    load
        Makes the replacement of a read from its new indices.
    index
        The type that indices are converted to; None to keep their types.
    canonical
        Whether to use TVM's canonical form of sums and comparisons, with the smaller operand first.
    """

    def __init__(
        self,
        variables: Mapping[tir.Var, Scalar],
        load: Load,
        index: DataType | None = None,
        canonical: bool = True,
    ) -> None:
        self.variables, self.load, self.index = variables, load, index
        self.canonical = canonical

    def __call__(self, root: tir.PrimExpr) -> Scalar:
        """The expression, with these in it."""
        return tir.fold(root, self._node)

    def _node(self, node: tir.PrimExpr, operands: list[Scalar]) -> Scalar:
        match node:
            case tir.Var():
                found = self.variables.get(node)
                return Scalar(node, node.dtype) if found is None else found
            case Read():
                return self.load(node, tuple(map(self.as_index, operands)))
            case tir.And() | tir.Or():
                return logical(type(node), *operands)
            case tir.Not():
                return negation(*operands)
            case tir.Div():
                return divide(*operands)
            case tir.Binary():
                return self._binary(type(node), operands)
            case tir.Cast(dtype=dtype):
                return cast(dtype, *operands)
            case tir.Select():
                return intrinsics.select(*operands)
            case tir.Call(op="if_then_else"):
                return intrinsics.if_then_else(*operands)
            case tir.Call(op=op) if op in BY_INTRINSIC and op != "pow":
                return bitwise(op, *operands)
            case tir.Call(op=op, dtype=dtype, attrs=attrs):
                call = tir.Call(op, tuple(o.node for o in operands), dtype, attrs)
                return Scalar(call, BOOL if op in intrinsics.TESTS else dtype or operands[0].dtype)
        return Scalar(node, tir.type_of(node))

    def _binary(self, kind: type[tir.Binary], operands: list[Scalar]) -> Scalar:
        if not self.canonical:
            return binary(kind, *operands)
        turned = _TURNED.get(kind)
        if turned is not None:
            kind, operands = turned, [*reversed(operands)]
        return _closed(simplified(binary(kind, *operands)))

    def as_index(self, given: Scalar) -> Scalar:
        """An index, converted to the index type."""
        if self.index is None or given.dtype is self.index or given.dtype.bits > self.index.bits:
            return given
        return cast(self.index, given)


_TURNED: dict[type[tir.Binary], type[tir.Binary]] = {tir.GT: tir.LT, tir.GE: tir.LE}


def _closed(given: Scalar) -> Scalar:
    """A comparison of indices: one variable against a number, and ``i < n + 1`` as ``i <= n``."""
    node = given.node
    if not isinstance(node, tir.LT | tir.LE) or any(
        isinstance(part, tir.BufferLoad | tir.FloatImm) for part in tir.postorder(node)
    ):
        return given
    match against_number(node):
        case (atom, number, True):
            return Scalar(type(node)(atom, number), given.dtype)
        case (atom, number, False):
            return Scalar(type(node)(number, atom), given.dtype)
    match node:
        case tir.LT(a=a, b=tir.Add(a=b, b=tir.IntImm(value=1))):
            return Scalar(tir.LE(a, b), given.dtype)
    return given
