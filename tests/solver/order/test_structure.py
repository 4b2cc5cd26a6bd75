"""Judgements depend on the structure of annotations, not on which of them are the same Python objects."""

from __future__ import annotations

from itertools import product

from hypothesis import given

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import FuncStructInfo, ObjectStructInfo, ShapeExpr, StructInfo, Var
from rlx.solver.order import bind, compatibility, glb, lub, meet_is_empty, subtype
from rlx.solver.prover import Prover
from tests.solver.order.build import func, mul, obj, prover, shape, tensor, tup, var
from tests.solver.order.strategies import EXAMPLES, copied, functions, struct_infos
from tests.solver.order.universe import CORE, HELD, M, N


def nested() -> list[StructInfo]:
    """Functions of functions, and with parts that divide."""
    a, b = var("a"), var("b")
    inner = func((tensor((N,)),), tensor((N,)))
    generic = func((tensor((a,)),), tensor((a,)), a)
    divided = tensor((tir.FloorDiv(mul(N, M), M),))
    return [
        func((inner,), tensor((N,))),
        func((inner,), inner),
        func((inner,), inner, pure=False),
        func((func((tensor(ndim=1),), tensor((N,))),), tensor((N,))),
        func((func((obj(),), obj()),), obj()),
        func((generic,), generic),
        func((tup(inner, generic),), tup(inner)),
        func((tensor((b,)), func((tensor((b,)),), tensor((b,)))), tensor((b,)), b),
        func((divided,), divided),
        func((func((divided,), obj()),), tensor((N,))),
        tensor(HELD, ndim=2),
    ]


INFOS: tuple[StructInfo, ...] = (
    *nested(),
    *(info for info in CORE if isinstance(info, FuncStructInfo | ObjectStructInfo)),
)


def same(a: StructInfo | None, b: StructInfo | None, p: Prover) -> bool:
    if a is None or b is None:
        return a is b
    return subtype(a, b, p).proved and subtype(b, a, p).proved


def judgements(a: StructInfo, b: StructInfo, p: Prover) -> tuple[object, ...]:
    """The judgements on two annotations, apart from their bounds."""
    return subtype(a, b, p).status, compatibility(a, b, p).kind, meet_is_empty(a, b, p)


def check(a: StructInfo, b: StructInfo, p: Prover) -> None:
    """Every judgement is the same for copies."""
    for x, y in ((copied(a), copied(b)), (a, copied(b)), (copied(a), b)):
        assert judgements(a, b, p) == judgements(x, y, p), (a, b)
        assert same(lub(a, b, p), lub(x, y, p), p), (a, b)
        assert same(glb(a, b, p), glb(x, y, p), p), (a, b)


def test_copies_of_functions() -> None:
    p = prover()
    for number, (a, b) in enumerate(product(INFOS, repeat=2)):
        if number % 4 == 0 or a is b:
            check(a, b, p)


def test_an_annotation_and_itself() -> None:
    """The shortcuts for one object say what is said of a copy."""
    p = prover()
    for info in INFOS:
        again = copied(info)
        assert judgements(info, info, p) == judgements(info, again, p), info
        assert same(lub(info, info, p), lub(info, again, p), p), info
        assert same(glb(info, info, p), glb(info, again, p), p), info


@given(functions() | struct_infos(), functions() | struct_infos())
@EXAMPLES
def test_copies_of_what_is_generated(a: StructInfo, b: StructInfo) -> None:
    check(a, b, prover())


def test_shapes_that_bind_a_variable() -> None:
    """Two arguments of equal shape are no conflict, whether or not they share it."""
    held = Var("s", shape(ndim=1))
    params = (tensor(held, ndim=1), tensor(held, ndim=1))
    for dims in (ShapeExpr((N,)), ShapeExpr((mul(1, N),))):
        args = (tensor((N,)), tensor(dims, ndim=1))
        assert bind(params, args, (held,), prover()).conflicts == ()
    (conflict,) = bind(params, (tensor((N,)), tensor((M,))), (held,), prover()).conflicts
    assert conflict.relation is not None and conflict.relation.kind == "sometimes"
    (conflict,) = bind(params, (tensor((N,)), tensor((N, M))), (held,), prover()).conflicts
    assert conflict.impossible
