"""Substitution of variables and buffers in tensor expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.grammar.nodes.prim_operators import BY_INTRINSIC
from rlx.solver.poly import Polynomial
from rlx.te import intrinsics
from rlx.te.scalar import Scalar, binary, bitwise, cast, divide, logical, negation
from rlx.te.tensor import Read

# Canonical sums of integers: positive terms first, the constant last, coefficients after their
# factors.


_MOST = 16
_VISITS = 128
"""The most terms of a sum that is changed, and the most nodes of it, shared ones repeated."""

Term = tuple[tir.PrimExpr, int]


def simplified(given: Scalar) -> Scalar:
    """An expression, in canonical form if it is a sum of integers."""
    if not given.dtype.is_integer or not isinstance(given.node, tir.Add | tir.Sub | tir.Mul):
        return given
    found = _polynomial(given.node)
    limit = 1 << (given.dtype.bits - 1)
    if found is None or any(not -limit <= k < limit for k in found.terms.values()):
        return given
    return _sum(found, given.dtype)


def against_number(node: tir.Binary) -> tuple[tir.PrimExpr, tir.IntImm, bool] | None:
    """The only term of a comparison, the number that it is compared with, and whether the term is
    on the left.
    """
    kind = tir.type_of(node.a)
    if kind.code != "int" or (isinstance(node.a, tir.IntImm) and isinstance(node.b, tir.IntImm)):
        return None
    found = _polynomial(tir.Sub(node.a, node.b))
    if found is None or len(_terms(found)) != 1:
        return None
    [(part, sign)] = _terms(found)
    if abs(sign) != 1:
        return None
    return part, tir.IntImm(-sign * found.terms.get((), 0), kind), sign > 0


def _polynomial(root: tir.PrimExpr) -> Polynomial | None:
    """A sum as a polynomial over its parts; None for one that is too long."""
    terms: dict[tuple[tir.PrimExpr, ...], int] = {}
    pending = [(root, 1)]
    # A shared part of a sum is visited several times: the visits are limited, not only the terms.
    for _ in range(_VISITS):
        node, factor = pending.pop()
        match node:
            case tir.Add(a=a, b=b):
                pending += [(b, factor), (a, factor)]
            case tir.Sub(a=a, b=b):
                pending += [(b, -factor), (a, factor)]
            case tir.Mul(a=a, b=tir.IntImm(value=k)) | tir.Mul(a=tir.IntImm(value=k), b=a):
                pending.append((a, factor * k))
            case tir.IntImm(value=k):
                terms[()] = terms.get((), 0) + factor * k
            case _:
                part = (tir.interned(node),)
                terms[part] = terms.get(part, 0) + factor
        if not pending:
            return Polynomial(terms) if len(terms) <= _MOST + (() in terms) else None
    return None


def _terms(found: Polynomial) -> list[Term]:
    """The parts of a sum with their factors, without the constant."""
    return [(mono[0], factor) for mono, factor in found.terms.items() if mono]


def _sum(found: Polynomial, kind: DataType) -> Scalar:
    terms, constant = _terms(found), found.terms.get((), 0)
    added = [_times(node, factor, kind) for node, factor in terms if factor > 0]
    taken = [_times(node, -factor, kind) for node, factor in terms if factor < 0]
    total: tir.PrimExpr
    if added:
        total = reduce(tir.Add, added)
    elif constant or not taken:
        total, constant = tir.IntImm(constant, kind), 0
    else:
        (node, factor), *_ = terms
        total = tir.Mul(node, tir.IntImm(factor, kind))
        _, *taken = taken
    total = reduce(tir.Sub, taken, total)
    if constant:
        operation = tir.Add if constant > 0 else tir.Sub
        total = operation(total, tir.IntImm(abs(constant), kind))
    return Scalar(total, kind)


def _times(node: tir.PrimExpr, factor: int, kind: DataType) -> tir.PrimExpr:
    return node if factor == 1 else tir.Mul(node, tir.IntImm(factor, kind))


Load = Callable[[Read, tuple[Scalar, ...]], Scalar]


def reads(root: tir.PrimExpr) -> Iterator[Read]:
    """The distinct reads of tensor elements in an expression."""
    return (node for node in tir.postorder(root) if isinstance(node, Read))


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
        if self.index is None or given.dtype == self.index or given.dtype.bits > self.index.bits:
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
