"""Laws of the order, over all pairs and triples of a generated set."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import pytest

from rlx.grammar.nodes.ast import FuncStructInfo, StructInfo, TupleStructInfo
from rlx.solver.order import (
    compatibility,
    erase,
    free_shape_vars,
    free_vars,
    glb,
    lub,
    meet_is_empty,
    subtype,
    to_type,
)
from rlx.solver.prover import Prover
from tests.solver.order.build import prover
from tests.solver.order.strategies import copied
from tests.solver.order.universe import CORE, HELD, UNIVERSE, M, N

ALL = range(len(UNIVERSE))


@pytest.fixture(scope="module", name="p")
def _prover() -> Prover:
    return prover()


@cache
def above() -> list[int]:
    """For each annotation of the universe the set of those above it, as bits."""
    p = prover()
    return [
        sum(1 << j for j in ALL if subtype(UNIVERSE[i], UNIVERSE[j], p).status == "proved")
        for i in ALL
    ]


def below(a: StructInfo, b: StructInfo, p: Prover) -> bool:
    """Whether ``a <: b`` is proved."""
    return subtype(a, b, p).status == "proved"


def same(a: StructInfo, b: StructInfo, p: Prover) -> bool:
    """Whether two annotations are equal up to proved equality."""
    return below(a, b, p) and below(b, a, p)


@pytest.mark.parametrize("info", UNIVERSE, ids=range(len(UNIVERSE)))
def test_reflexive(info: StructInfo, p: Prover) -> None:
    """S <: S, also where the two are different nodes."""
    assert subtype(info, info, p).status == "proved"
    assert subtype(info, copied(info), p).status == "proved"
    assert compatibility(info, copied(info), p).kind == "compatible"


def test_transitive() -> None:
    """S <: T and T <: U give S <: U, for all triples."""
    up = above()
    for i in ALL:
        for j in ALL:
            if up[i] >> j & 1:
                assert up[j] & ~up[i] == 0, (UNIVERSE[i], UNIVERSE[j])


def test_antisymmetric() -> None:
    """S <: T and T <: S only if nothing tells them apart."""
    up = above()
    for i, j in combinations(ALL, 2):
        if up[i] >> j & 1 and up[j] >> i & 1:
            assert up[i] == up[j]
            assert all((up[k] >> i & 1) == (up[k] >> j & 1) for k in ALL)


def test_nothing_is_above_object_and_the_order_is_not_trivial() -> None:
    up = above()
    top = next(i for i in ALL if type(UNIVERSE[i]).__name__ == "ObjectStructInfo")
    assert up[top] == 1 << top
    assert all(up[i] >> top & 1 for i in ALL)
    assert len({up[i] for i in ALL}) > len(UNIVERSE) * 3 // 4


def test_compatible_exactly_where_subtype(p: Prover) -> None:
    """Proved subtypes are compatible, and only they are."""
    up = above()
    for i in ALL:
        for j in ALL:
            found = compatibility(UNIVERSE[i], UNIVERSE[j], p)
            assert (found.kind == "compatible") == bool(up[i] >> j & 1), (UNIVERSE[i], UNIVERSE[j])
            assert (found.reason is None) == (found.kind == "compatible")


def test_compatible_types_are_subtypes(p: Prover) -> None:
    """Ledger 24: the traditional types of compatible annotations are subtypes."""
    up = above()
    for i in ALL:
        for j in ALL:
            if up[i] >> j & 1:
                assert below(to_type(UNIVERSE[i]), to_type(UNIVERSE[j]), p)


def test_types_have_no_variables(p: Prover) -> None:
    for info in UNIVERSE:
        kind = to_type(info)
        assert not free_shape_vars(kind) and not free_vars(kind)
        assert to_type(kind) is kind or same(to_type(kind), kind, p)


def test_refuted_and_unknown_come_with_the_premise(p: Prover) -> None:
    for a in UNIVERSE:
        for b in UNIVERSE:
            verdict = subtype(a, b, p)
            if verdict.status != "proved":
                assert getattr(verdict, "mismatch").code.startswith("SUB-")  # noqa: B009


def test_lub_is_the_least_upper_bound(p: Prover) -> None:
    """For all pairs an upper bound; below every other upper bound of the universe.

    Generic functions have no least one in general (ledger 5): theirs is minimal.
    """
    up = above()
    for i in ALL:
        for j in range(i, len(UNIVERSE)):
            a, b = UNIVERSE[i], UNIVERSE[j]
            join = lub(a, b, p)
            assert below(a, join, p) and below(b, join, p), (a, b, join)
            for k in ALL:
                if up[i] & up[j] & 1 << k and not below(join, UNIVERSE[k], p):
                    assert generic(a) or generic(b), (a, b, join, UNIVERSE[k])
                    assert not below(UNIVERSE[k], join, p), (a, b, join, UNIVERSE[k])


def generic(info: StructInfo) -> bool:
    """Whether this is a function type that binds variables."""
    return isinstance(info, FuncStructInfo) and bool(info.binders)


def test_lub_is_idempotent(p: Prover) -> None:
    for info in UNIVERSE:
        assert lub(info, info, p) is info
        assert same(lub(info, copied(info), p), info, p)


def test_lub_is_commutative(p: Prover) -> None:
    for a, b in combinations(UNIVERSE, 2):
        assert same(lub(a, b, p), lub(b, a, p), p), (a, b)


def test_lub_is_associative(p: Prover) -> None:
    """For all triples of the core; of generic functions both ways give a common upper bound."""
    joins = {(i, j): lub(CORE[i], CORE[j], p) for i in _CORE for j in _CORE}
    for i in _CORE:
        for j in _CORE:
            for k in _CORE:
                left, right = lub(joins[i, j], CORE[k], p), lub(CORE[i], joins[j, k], p)
                if left is right or same(left, right, p):
                    continue
                three = (CORE[i], CORE[j], CORE[k])
                assert any(map(generic, three)), three
                assert all(below(x, up, p) for x in three for up in (left, right)), three


_CORE = range(len(CORE))


def test_lub_of_comparable_is_the_upper(p: Prover) -> None:
    up = above()
    for i in ALL:
        for j in ALL:
            if up[i] >> j & 1:
                assert same(lub(UNIVERSE[i], UNIVERSE[j], p), UNIVERSE[j], p)


def test_glb_is_the_greatest_lower_bound(p: Prover) -> None:
    """If it exists, it is below both and above every other lower bound of the universe."""
    up = above()
    existing = 0
    for i in ALL:
        for j in range(i, len(UNIVERSE)):
            a, b = UNIVERSE[i], UNIVERSE[j]
            meet = glb(a, b, p)
            lower = [k for k in ALL if up[k] >> i & 1 and up[k] >> j & 1]
            if meet is None:
                assert not lower or _functions(a, b), (a, b, UNIVERSE[lower[0]])
                continue
            existing += 1
            assert below(meet, a, p) and below(meet, b, p), (a, b, meet)
            assert all(below(UNIVERSE[k], meet, p) for k in lower), (a, b, meet)
    assert existing > 2 * len(UNIVERSE)


def _functions(a: StructInfo, b: StructInfo) -> bool:
    """Whether the bound may be missing although lower bounds exist: generic functions in both."""
    return all(
        isinstance(x, FuncStructInfo)
        or (isinstance(x, TupleStructInfo) and any(isinstance(f, FuncStructInfo) for f in x.fields))
        for x in (a, b)
    )


def test_glb_is_commutative_and_idempotent(p: Prover) -> None:
    for a, b in combinations(UNIVERSE, 2):
        x, y = glb(a, b, p), glb(b, a, p)
        assert (x is None) == (y is None), (a, b)
        assert x is None or y is None or same(x, y, p), (a, b)
    for info in UNIVERSE:
        meet = glb(info, copied(info), p)
        assert meet is not None and same(meet, info, p)


def test_absorption(p: Prover) -> None:
    """The bound of S with the bound of S and T is S, from both sides."""
    for a in CORE:
        for b in CORE:
            meet = glb(a, b, p)
            assert meet is None or same(lub(a, meet, p), a, p), (a, b)
            again = glb(a, lub(a, b, p), p)
            assert again is not None and same(again, a, p), (a, b)


def test_meets_that_exist_are_not_empty(p: Prover) -> None:
    for a in UNIVERSE:
        for b in UNIVERSE:
            if glb(a, b, p) is not None:
                assert not meet_is_empty(a, b, p), (a, b)


def test_emptiness_is_symmetric_and_means_incompatible(p: Prover) -> None:
    for a, b in combinations(UNIVERSE, 2):
        empty = meet_is_empty(a, b, p)
        assert empty == meet_is_empty(b, a, p), (a, b)
        if empty:
            assert compatibility(a, b, p).kind != "compatible", (a, b)


SCOPES = [((), ()), ((), (N,)), ((), (M,)), ((HELD,), ()), ((HELD,), (N, M))]


@pytest.mark.parametrize(("variables", "shape_variables"), SCOPES, ids=range(len(SCOPES)))
def test_erasure_widens_and_closes(
    variables: tuple[object, ...], shape_variables: tuple[object, ...], p: Prover
) -> None:
    """The result is above, mentions only names in scope, and does not change the second time."""
    for info in UNIVERSE:
        left = erase(info, variables, shape_variables)  # type: ignore[arg-type]
        assert below(info, left, p), (info, left)
        assert set(free_shape_vars(left)) <= set(shape_variables)
        assert set(free_vars(left)) <= set(variables)
        assert erase(left, variables, shape_variables) is left  # type: ignore[arg-type]
        if set(free_shape_vars(info)) <= set(shape_variables):
            assert set(free_vars(info)) - set(variables) or left is info


def test_erasure_is_monotone(p: Prover) -> None:
    """S <: T is kept by erasure of flat annotations."""
    up = above()
    flat = [i for i in ALL if not _functions(UNIVERSE[i], UNIVERSE[i])]
    for i in flat:
        for j in flat:
            if up[i] >> j & 1:
                assert below(erase(UNIVERSE[i], (), (N,)), erase(UNIVERSE[j], (), (N,)), p)
