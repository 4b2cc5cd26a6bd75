"""Canonical sums of integers: positive terms first, the constant last, coefficients after their
factors.
"""

from __future__ import annotations

from functools import reduce

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.equal import structural_equal
from rlx.te.scalar import Scalar

_MOST = 16
"""Longer sums are not changed."""

Term = tuple[tir.PrimExpr, int]


def simplified(given: Scalar) -> Scalar:
    """An expression, in canonical form if it is a sum of integers."""
    if not given.dtype.is_integer or not isinstance(given.node, tir.Add | tir.Sub | tir.Mul):
        return given
    found = _terms(given.node)
    if found is None:
        return given
    terms, constant = found
    limit = 1 << (given.dtype.bits - 1)
    if any(not -limit <= k < limit for k in (constant, *(k for _, k in terms))):
        return given
    return _sum([t for t in terms if t[1]], constant, given)


def against_number(node: tir.Binary) -> tuple[tir.PrimExpr, tir.IntImm, bool] | None:
    """The only term of a comparison, the number that it is compared with, and whether the term is
    on the left.
    """
    kind = tir.type_of(node.a)
    if kind.code != "int" or (isinstance(node.a, tir.IntImm) and isinstance(node.b, tir.IntImm)):
        return None
    found = _terms(tir.Sub(node.a, node.b))
    if found is None:
        return None
    terms, constant = found
    match [term for term in terms if term[1]]:
        case [(atom, (1 | -1) as sign)]:
            return atom, tir.IntImm(-sign * constant, kind), sign > 0
    return None


def _terms(root: tir.PrimExpr) -> tuple[list[Term], int] | None:
    """What a sum is made of, with its factors, and its constant; None for one that is too long."""
    terms: list[Term] = []
    constant = 0
    pending = [(root, 1)]
    while pending:
        node, factor = pending.pop()
        match node:
            case tir.Add(a=a, b=b):
                pending += [(b, factor), (a, factor)]
            case tir.Sub(a=a, b=b):
                pending += [(b, -factor), (a, factor)]
            case tir.Mul(a=a, b=tir.IntImm(value=k)) | tir.Mul(a=tir.IntImm(value=k), b=a):
                pending.append((a, factor * k))
            case tir.IntImm(value=k):
                constant += factor * k
            case _:
                _add(terms, node, factor)
        if len(terms) > _MOST or len(pending) > 2 * _MOST:
            return None
    return terms, constant


def _add(terms: list[Term], node: tir.PrimExpr, factor: int) -> None:
    for at, (other, k) in enumerate(terms):
        if structural_equal(other, node):
            terms[at] = (other, k + factor)
            return
    terms.append((node, factor))


def _sum(terms: list[Term], constant: int, given: Scalar) -> Scalar:
    kind = given.dtype
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
