"""Canonical sums of integers: positive terms first, the constant last.

The coefficient stands after the other factors of a term.
"""

from __future__ import annotations

from functools import reduce

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.solver.poly import Polynomial
from rlx.te.scalar import Scalar

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
