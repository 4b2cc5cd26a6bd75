"""Canonical sums of integers: positive terms first, the constant last, coefficients after their
factors.
"""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.equal import structural_equal
from rlx.transform.te.scalar import Scalar, const

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
    terms, constant = [t for t in found[0] if t[1]], found[1]
    if len(terms) != 1 or abs(terms[0][1]) != 1:
        return None
    ((atom, sign),) = terms
    return atom, tir.IntImm(-sign * constant, kind), sign > 0


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
    ordered = [t for t in terms if t[1] > 0] + [t for t in terms if t[1] < 0]
    if not ordered:
        return const(constant, kind)
    total: tir.PrimExpr | None = None
    for node, factor in ordered:
        size = abs(factor)
        term = node if size == 1 else tir.Mul(node, tir.IntImm(size, kind))
        if total is None and factor > 0:
            total = term
        elif total is None and constant == 0:
            total = tir.Mul(node, tir.IntImm(factor, kind))
        elif total is None:
            total, constant = tir.Sub(tir.IntImm(constant, kind), term), 0
        else:
            total = tir.Add(total, term) if factor > 0 else tir.Sub(total, term)
    assert total is not None
    if constant > 0:
        total = tir.Add(total, tir.IntImm(constant, kind))
    elif constant < 0:
        total = tir.Sub(total, tir.IntImm(-constant, kind))
    return Scalar(total, kind)
