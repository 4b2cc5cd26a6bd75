"""Judgements against the model of values: what they claim holds of every value."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import FuncStructInfo, StructInfo, TupleStructInfo
from rlx.solver.order import (
    compatibility,
    erase,
    free_shape_vars,
    glb,
    instantiate,
    lub,
    meet_is_empty,
    subtype,
)
from tests.solver.order.build import prover
from tests.solver.order.model import ARGUMENTS, VALUES, Value, assignments, member
from tests.solver.order.strategies import EXAMPLES, flat, functions, struct_infos, wider
from tests.solver.order.universe import UNIVERSE, M, N

POINTS = tuple(assignments((N, M), {}, (0, 1, 2, 3)))
POSITIVE = sum(
    1 << (i * len(VALUES) + k)
    for i, point in enumerate(POINTS)
    if min(point.values()) > 0
    for k in range(len(VALUES))
)
P = prover()


def members(info: StructInfo) -> int:
    """The values that belong to ``info``, for each assignment, as bits."""
    return sum(
        1 << (i * len(VALUES) + k)
        for i, point in enumerate(POINTS)
        for k, value in enumerate(VALUES)
        if member(value, info, point)
    )


@cache
def table() -> list[int]:
    """The members of each annotation of the universe."""
    return [members(info) for info in UNIVERSE]


def test_the_model_tells_annotations_apart() -> None:
    """Nearly every annotation has a member, and few have the same ones."""
    assert sum(1 for bits in table() if not bits) <= 3
    assert len(set(table())) > len(UNIVERSE) * 2 // 3


def test_subtypes_hold_of_every_value() -> None:
    """A member of S is one of T wherever S <: T is proved, for all pairs."""
    proved = 0
    for a, left in zip(UNIVERSE, table(), strict=True):
        for b, right in zip(UNIVERSE, table(), strict=True):
            if subtype(a, b, P).status == "proved":
                proved += a is not b
                assert left & ~right == 0, (a, b)
    assert proved > 500


def test_refuted_subtypes_have_a_witness() -> None:
    """Some member of S is none of T wherever S <: T is refuted, for flat annotations."""
    for a, left in zip(UNIVERSE, table(), strict=True):
        for b, right in zip(UNIVERSE, table(), strict=True):
            if subtype(a, b, P).status == "refuted" and left and not _function(a):
                assert left & ~right, (a, b)


def _function(info: StructInfo) -> bool:
    match info:
        case FuncStructInfo():
            return True
        case TupleStructInfo(fields=fields):
            return any(map(_function, fields))
    return False


def test_bounds_hold_of_every_value() -> None:
    for i, a in enumerate(UNIVERSE):
        for j in range(i % 5, i + 1, 5):  # a fifth of the pairs
            b = UNIVERSE[j]
            upper, lower = lub(a, b, P), glb(a, b, P)
            assert (table()[i] | table()[j]) & ~_bits(upper) == 0, (a, b, upper)
            if lower is not None:
                assert _bits(lower) & ~(table()[i] & table()[j]) == 0, (a, b, lower)


_known: dict[str, int] = {}


def _bits(info: StructInfo) -> int:
    """The members of an annotation; the same text is the same annotation here."""
    text = repr(info)
    if text not in _known:
        _known[text] = members(info)
    return _known[text]


def test_empty_meets_have_no_value() -> None:
    for a, left in zip(UNIVERSE, table(), strict=True):
        for b, right in zip(UNIVERSE, table(), strict=True):
            if meet_is_empty(a, b, P):
                assert left & right & POSITIVE == 0, (a, b)


def test_full_meets_have_a_value() -> None:
    """Emptiness misses nothing among flat annotations."""
    for a, left in zip(UNIVERSE, table(), strict=True):
        for b, right in zip(UNIVERSE, table(), strict=True):
            if not (_function(a) or _function(b)) and left & right & POSITIVE == 0:
                assert meet_is_empty(a, b, P) or not (left & POSITIVE and right & POSITIVE), (a, b)


def test_incompatible_annotations_share_no_value() -> None:
    for a, left in zip(UNIVERSE, table(), strict=True):
        for b, right in zip(UNIVERSE, table(), strict=True):
            found = compatibility(a, b, P)
            if found.kind == "incompatible" and not (_function(a) or _function(b)):
                assert left & right & POSITIVE == 0, (a, b)


def test_erasure_loses_no_value() -> None:
    for info, bits in zip(UNIVERSE, table(), strict=True):
        for scope in ((), (N,), (M,)):
            left = erase(info, (), scope)
            if left is not info:
                assert bits & ~_bits(left) == 0, (info, left)


def test_what_a_call_returns_belongs_to_the_instance() -> None:
    """Arguments that are proved to fit are accepted, and the result is in the result."""
    calls = 0
    for func, bits in zip(UNIVERSE, table(), strict=True):
        if isinstance(func, FuncStructInfo) and func.params and len(func.params) == 1 and bits:
            for arg in UNIVERSE:
                instance = instantiate(func, (arg,), P)
                if subtype(arg, instance.params[0], P).status == "proved":
                    calls += _call(bits, arg, instance.ret, instance.unbound)
    assert calls > 1000


def _call(bits: int, arg: StructInfo, ret: StructInfo, unbound: tuple[tir.Var, ...]) -> int:
    calls = 0
    for i, point in enumerate(POINTS):
        allowed = [a for a in ARGUMENTS if member(a, arg, point)]
        for k, closure in enumerate(VALUES):
            if bits >> (i * len(VALUES) + k) & 1:
                for value in allowed:
                    result = _behaviour(closure, value)
                    calls += 1
                    assert result is not None, (closure, value)
                    numbers = assignments(unbound, point)
                    assert any(member(result, ret, n) for n in numbers), (closure, value, ret)
    return calls


def _behaviour(closure: Value, arg: Value) -> Value | None:
    result: Value | None = closure.behaviour(arg)  # type: ignore[attr-defined]
    return result


@given(struct_infos(), struct_infos())
@EXAMPLES
def test_generated_pairs(a: StructInfo, b: StructInfo) -> None:
    """The claims about one pair, over annotations that nobody chose."""
    p = prover()
    left, right = members(a), members(b)
    if subtype(a, b, p).status == "proved":
        assert left & ~right == 0
        assert compatibility(a, b, p).kind == "compatible"
    upper, lower = lub(a, b, p), glb(a, b, p)
    assert subtype(a, upper, p).status == "proved" and subtype(b, upper, p).status == "proved"
    assert (left | right) & ~members(upper) == 0
    if lower is not None:
        assert members(lower) & ~(left & right) == 0
    if meet_is_empty(a, b, p):
        assert left & right & POSITIVE == 0


@given(st.data())
@EXAMPLES
def test_generated_chains(data: st.DataObject) -> None:
    """Leaving out what is said goes up, and upwards of upwards is up."""
    p = prover()
    low = data.draw(struct_infos())
    middle = data.draw(wider(low))
    high = data.draw(wider(middle))
    for a, b in ((low, middle), (middle, high), (low, high)):
        assert subtype(a, b, p).status == "proved"
        assert compatibility(a, b, p).kind == "compatible"
        assert subtype(lub(a, b, p), b, p).status == "proved"
    assert members(low) & ~members(high) == 0


@given(functions() | flat(), st.sampled_from([(), (N,), (N, M)]))
@EXAMPLES
def test_generated_erasure(info: StructInfo, scope: tuple[tir.Var, ...]) -> None:
    left = erase(info, (), scope)
    assert set(free_shape_vars(left)) <= set(scope)
    assert subtype(info, left, prover()).status == "proved"
    assert members(info) & ~members(left) == 0
